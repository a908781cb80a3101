"""What a facade shows: its public names, and no others."""

from __future__ import annotations

import sys


def equip(facade: str) -> None:
    """Makes the public names that the module has by now its `dir()` and its star import."""
    names = vars(sys.modules[facade])
    public = sorted(name for name in names if not name.startswith("_"))
    names["__all__"], names["__dir__"] = public, lambda: list(public)
