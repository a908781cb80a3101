"""Hypothesis strategies: shapes, arrays, and calls of operators. Needs `functx[test]`."""

try:
    from .calls import calls as calls
    from .shapes import arrays as arrays, broadcastable as broadcastable, shapes as shapes
except ModuleNotFoundError as missing:
    if missing.name != "hypothesis":
        raise
    words = "functx.testing.strategies needs hypothesis; pip install 'functx[test]'"
    raise ModuleNotFoundError(words, name="hypothesis") from None
