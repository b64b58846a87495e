"""Its own module finds what lies beside it."""

from timers_in_python import Gaps, Timers_

__all__ = ["Gaps", "Timers_"]
