"""A tour of functx on handwritten digits; `functx tour` and the notebook run these functions."""
