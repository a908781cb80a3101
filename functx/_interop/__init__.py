"""Programs of other libraries as functions of functx, and the other way round."""
