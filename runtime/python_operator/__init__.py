"""Operators whose handlers are a Python class: what it gets, and how Spark runs it.

``State``, ``Timers`` and their parts are the interface of a class, for its annotations. Rows, keys
and structs are PySpark's ``Row``. All of this except ``frame`` and ``loading`` runs in Spark's
workers, to which it is sent with the class: machines of a cluster need not have it.

- ``frame``: the output frame of an operator in a script.
- ``loading``: the class and its required methods; it and its modules are sent to the workers.
- ``plan``: what the workers need to know.
- ``processor``: called by Spark. ``turn``: the turn of a key, its rows and timers in order.
- ``handlers``: calls of the class. ``state``: the state of the current key; ``entries``: maps, sets
  and lists.
- ``record``: values, timers and when a key is woken; ``waiting``: waiting rows.
- ``values``: values converted between Spark and a class, and their order; ``sameness``: when two
  are the same.
- ``instants``: points in time in the forms of Spark and of a class.
- ``counts``: row counts for the ledger, which `accounting` reads on the driver.
"""

from .entries import ListCell, MapCell, SetCell
from .state import State, Timer, Timers

__all__ = ["ListCell", "MapCell", "SetCell", "State", "Timer", "Timers"]
