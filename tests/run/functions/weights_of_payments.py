"""What the functions of the case import from beside them."""

MOST = 100.0
