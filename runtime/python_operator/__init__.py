"""Operators whose handlers are a class in Python: what it is given, and how Spark runs it.

``State``, ``Timers`` and their parts are what a class sees, for its annotations. Rows, keys and
structs are PySpark's ``Row``. All of this but ``frame`` and ``loading`` runs in Spark's workers,
to which it is sent with the class: machines of a cluster need not have it.

- ``frame``: from what a script says of an operator to the frame that it gives.
- ``loading``: the class, and what it must have; it and its modules travel to the workers.
- ``plan``: what the workers must know.
- ``processor``: what Spark calls. ``turn``: the turn of a key, its rows and timers in their order.
- ``handlers``: calls of the class. ``state``: what a class sees of its key; ``entries``: maps, sets
  and lists.
- ``record``: values, timers and when a key is woken; ``waiting``: rows that wait.
- ``values``: values on their way between Spark and a class, and their order; ``sameness``: when two
  are the same.
- ``instants``: points in time as Spark has them and as a class has them.
- ``counts``: how many rows there were, for the ledger: `accounting` has them on the driver.
"""

from .entries import ListCell, MapCell, SetCell
from .state import State, Timer, Timers

__all__ = ["ListCell", "MapCell", "SetCell", "State", "Timer", "Timers"]
