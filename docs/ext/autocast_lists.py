"""What autocast does to each operator, by the list for GPUs and by that for CPUs."""

from __future__ import annotations

from functx._amp.rewriting import FOLLOWING, LOWERED, RAISED
from functx._core import Autocast, OpSpec, REGISTRY


_HEADINGS = {
    Autocast.LOWER: "Cast to the lower dtype",
    Autocast.FLOAT32: "Cast to float32",
    Autocast.WIDEST: "Cast to the widest among the arguments",
    Autocast.BANNED: "Refused",
}
_DEVICES = {"On GPUs and TPUs": "autocast", "On CPUs": "autocast_cpu"}


def autocast_page() -> str:
    """The lists, from the declarations."""
    parts = [
        "# Operators under autocast\n",
        "What a region of [autocast](../concepts/mixed_precision.md) casts the arguments of each "
        "operator to, from the declarations. Operators that stand in no list compute in the dtypes "
        "that they are given. float64, integers and complex numbers are never cast.\n",
    ]
    for title, field in _DEVICES.items():
        parts.append(f"## {title}\n")
        for policy, heading in _HEADINGS.items():
            if names := [s.name for s in _sorted() if getattr(s, field) is policy]:
                parts.append(f"### {heading}{'' if field == 'autocast' else ' on CPUs'}\n")
                parts.append(", ".join(f"`{name}`" for name in names) + ".\n")
    parts += [
        "## Plain `jax.numpy` in a function that is transformed\n",
        "By JAX's primitives, on all devices. Primitives that stand in no list compute in the "
        "dtypes in which they were recorded.\n",
        f"- Cast to the lower dtype: {_listed(LOWERED)}.",
        f"- Cast to float32: {_listed(RAISED)}.",
        f"- In the widest dtype that comes: {_listed(FOLLOWING)}.\n",
    ]
    return "\n".join(parts)


def _sorted() -> list[OpSpec]:
    return [REGISTRY[name] for name in sorted(REGISTRY)]


def _listed(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
