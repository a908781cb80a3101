"""Numbers: dtypes, promotion, conversion, comparison, integers that do not fit."""
