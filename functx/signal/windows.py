"""torch.signal.windows' names."""

from functx._names import equip as _equip


# Operators, written by `python -m functx.cli.facades`.
# isort: split
# End of operators.

_equip(__name__)
