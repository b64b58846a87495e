"""The data classes of the compiler's side, which cost little to define."""

from ..contracts.records import dataclass as dataclass
