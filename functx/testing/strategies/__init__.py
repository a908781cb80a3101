"""Hypothesis strategies: shapes, arrays, and calls of operators. Needs `functx[test]`."""

from .calls import calls as calls
from .shapes import arrays as arrays, broadcastable as broadcastable, shapes as shapes
