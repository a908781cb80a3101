"""Writes the reference into `docs/generated/` before Sphinx reads the pages."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import objects
from autocast_lists import autocast_page
from catalog import catalog_page, operator_pages
from checks import checks_table
from departures import departures_page
from exhaustive import exhaustive_page
from names import names_page
from public import public_names
from public_models import counts_table, models_table
from sphinx.addnodes import desc_signature
from sphinx.application import Sphinx
from sphinx.domains.python import PyClasslike, PyFunction, PyVariable
from sphinx.errors import ExtensionError
from written_pages import write_pages

from functx._core import OPERATORS, REGISTRY
from functx._names import MOVED
from functx.testing import differences, opinfo, samples, tail, tolerances


_DATA = {
    "functx.backends.cuda": "Products of matrices on GPUs: `matmul` has PyTorch's attributes.",
    "functx.backends.cudnn": "Convolutions: PyTorch's attributes, and `flags`, a region.",
    "functx.testing.op_db": "All entries of the database: a list of `OpInfo`.",
    "functx.testing.CHECKS": "The checks by name; see the table below.",
    "functx.testing.PROPERTIES": "What `assert_properties` asserts, by name.",
    "functx.testing.ALL_DTYPES": "The names of the dtypes that operators are checked in.",
    "functx.testing.PROFILES": "The profiles, from the quickest to the whole.",
    "functx.testing.checks.IN_DOUBLE": "The checks that need double precision, by name.",
    "functx.testing.mutants.KINDS": "The kinds of mistakes by name, with group and reason.",
    "functx.testing.mutants.GROUPS": "The groups of kinds.",
    "functx.testing.Profile": "How much is looked at: one of `PROFILES`.",
}
_INTRODUCTIONS = {
    "transforms": (
        "# Transforms\n\nFunctions in, functions out. Signatures and semantics are those of "
        "`torch.func`; [](../../concepts/transforms.md) explains them.\n"
    ),
    "rules_and_modes": (
        "# Rules, checkpoints, grad modes\n\nWhat says how derivatives are computed, and is called "
        "as often as transforms are. See [](../../concepts/custom_functions.md), "
        "[](../../concepts/checkpointing.md) and [](../../concepts/grad_modes.md).\n"
    ),
    "checkpointing": (
        "# functx.checkpointing\n\nBeside `functx.checkpoint`. See "
        "[](../../concepts/checkpointing.md).\n"
    ),
    "amp": "# functx.amp\n\nSee [](../../concepts/mixed_precision.md).\n",
    "aot": (
        "# functx.aot\n\nSee [](../../concepts/graphs.md) and "
        "[](../../concepts/ahead_of_time.md); of in-place code, "
        "[](../../how-to/in_place_code.md).\n"
    ),
    "memory": "# functx.memory\n\nSee [](../../concepts/memory.md).\n",
    "residuals": "# functx.residuals\n\nSee [](../../concepts/residuals.md).\n",
    "sparse": "# functx.sparse\n\nSee [](../../how-to/sparse_arrays.md).\n",
    "interop": (
        "# functx.interop\n\nSee [](../../how-to/bring_your_pytorch_model.md) and "
        "[](../../how-to/call_functx_from_pytorch.md). It needs `pip install 'functx[torch]'`.\n"
    ),
    "curvature": "# functx.curvature\n\nSee [](../../concepts/curvature.md).\n",
    "sparsity": "# functx.sparsity\n\nSee [](../../concepts/sparsity.md).\n",
    "nested": "# functx.nested\n\nSee [](../../concepts/nested.md).\n",
    "taps": "# functx.taps\n\nSee [](../../concepts/taps.md).\n",
    "implicit": "# functx.implicit\n\nSee [](../../concepts/implicit_differentiation.md).\n",
    "autograd": (
        "# functx.autograd\n\nWhat PyTorch has under `torch.autograd`, under the same names. See "
        "[](../../concepts/autograd.md). `Function`, `no_grad` and others are those of `functx`.\n"
    ),
    "backends": "# functx.backends\n\nSee [](../../concepts/precision.md).\n",
    "random": "# functx.random\n\nSee [](../../concepts/randomness.md).\n",
    "debug": (
        "# functx.debug\n\nSee [](../../concepts/anomalies.md) and [](../../concepts/errors.md).\n"
    ),
    "profiler": "# functx.profiler\n\nSee [](../../how-to/profile_a_program.md).\n",
    "linalg": "# functx.linalg\n\nBeside its operators: [](../operators/linalg.md).\n",
    "testing": "# functx.testing\n\nSee [](../../how-to/check_your_function.md).\n",
    "strategies": (
        "# functx.testing.strategies\n\nSee [](../../how-to/property_tests.md). "
        "They need `pip install 'functx[test]'`.\n"
    ),
    "mutants": "# functx.testing.mutants\n\nSee [](../../concepts/planted_mistakes.md).\n",
    "settings": (
        "# Dtypes and settings\n\nDtypes under PyTorch's names. `dtype=` takes these and "
        "whatever JAX and NumPy take. See [](../../concepts/x64.md).\n"
    ),
}
# The page of transforms is read from the top, so it begins with what most people come for.
_TRANSFORMS = {
    "Gradients": ["grad", "value_and_grad", "grad_and_value"],
    "Batches and ensembles": ["vmap", "stack_trees", "unstack_tree"],
    "Products with Jacobians": ["vjp", "jvp", "linearize"],
    "Jacobians and Hessians": ["jacrev", "jacfwd", "hessian", "hvp", "vhp"],
    "Compilation": ["jit"],
    "Models": ["functional_call"],
}


def pages() -> dict[str, str]:
    """All generated pages by path."""
    parts = {name: [text] for name, text in _INTRODUCTIONS.items()}
    transforms: dict[str, str] = {}
    for name, value in public_names().items():
        if (text := _described(name, value)) is not None:
            page = _page(name, value)
            if page == "transforms":
                transforms[name.removeprefix("functx.")] = text
            else:
                parts[page].append(text)
    parts["transforms"] += _in_groups(transforms)
    parts["testing"].append(checks_table())
    out = {f"api/{name}.md": "\n".join(texts) for name, texts in parts.items()}
    out |= {f"operators/{family}.md": text for family, text in operator_pages().items()}
    tables = {"catalog.md": catalog_page(), "departures.md": departures_page()}
    tables |= {"moved.md": _moved(), "autocast.md": autocast_page()}
    tables |= {"exhaustive.md": exhaustive_page(), "names.md": names_page(), "fields.md": _fields()}
    tables |= {"public_models.md": models_table(), "public_models_counts.md": counts_table()}
    return out | tables


def _in_groups(transforms: dict[str, str]) -> list[str]:
    """The entries of transforms under the headings of their groups."""
    grouped = {name for names in _TRANSFORMS.values() for name in names}
    if grouped != transforms.keys():
        raise ExtensionError(f"transforms, or groups of them: {grouped ^ transforms.keys()}")
    out = []
    for heading, names in _TRANSFORMS.items():
        out += [f"## {heading}\n", *(transforms[name] for name in names)]
    return out


def _moved() -> str:
    """Old places of names and the new ones, for a page to include."""
    rows = [
        f"| `{facade}.{old}` | `{home}` |"
        for facade, names in MOVED.items()
        for old, home in names.items()
    ]
    return "\n".join(["| old | new |", "|---|---|", *rows, ""])


def _fields() -> str:
    """The fields of an entry and of its parts, for a page to include."""
    of_entries = {module.__name__ for module in (opinfo, samples, tail, tolerances, differences)}
    here = [x for x in vars(opinfo).values() if getattr(x, "__module__", "") in of_entries]
    parts = sorted(filter(dataclasses.is_dataclass, here), key=lambda cls: cls is not opinfo.OpInfo)
    texts = [
        f"### `{cls.__name__}`\n\n{objects.body(cls.__doc__)}\n\n{objects.fields_table(cls)}"
        for cls in parts
    ]
    return "\n".join(texts)


def _page(name: str, value: Any) -> str:
    for facade in reversed(name.split(".")[1:-1]):
        if facade in _INTRODUCTIONS:
            return facade
    _, folder, *rest = f"{getattr(value, '__module__', '')}..".split(".", 2)
    if folder == "_core" and rest[0].startswith("randomness."):
        return "random"
    if folder != "_transforms":
        return "settings"
    return "rules_and_modes" if "." in rest[0].rstrip(".") else "transforms"


def _described(name: str, value: Any) -> str | None:
    """MyST for one name; None for operators, which have pages of their own, and unknowns."""
    dotted = name.removeprefix("functx.")
    if dotted in REGISTRY or any(value is op for op in OPERATORS.values()):
        return None
    if name in _DATA:
        return objects.data(name, _DATA[name])
    dtype = _dtype(value)
    if dtype is not None:
        return objects.data(name, f"The dtype `{dtype}`.")
    if inspect.isclass(value):
        return objects.class_(name, value)
    return objects.function([name], value) if inspect.isroutine(value) else None


def _dtype(value: Any) -> str | None:
    dtype = getattr(value, "dtype", None)
    return dtype.name if isinstance(dtype, np.dtype) else None


def write(app: Sphinx) -> None:
    """Writes what changed, and removes what is gone."""
    root = Path(app.srcdir) / "generated"
    wanted = {name: text.encode() for name, text in pages().items()}
    others = {root / "tutorials.md"}  # which `tutorials` writes
    write_pages(root, wanted, {*root.rglob("*.md")} - others)


class SeveralNames(PyFunction):
    """`py:function` with several signatures in one line."""

    def get_signatures(self) -> list[str]:
        """The signatures, one for each name."""
        return self.arguments[0].split(objects.BETWEEN_NAMES)

    def add_target_and_index(
        self, name_cls: tuple[str, str], sig: str, signode: desc_signature
    ) -> None:
        """The index lists a function by its last name."""
        super().add_target_and_index(name_cls, sig, signode)
        entry = _in_index(f"{name_cls[0]}()")
        self.indexnode["entries"][-1] = ("single", entry, signode["ids"][0], "", None)

    def _toc_entry_name(self, sig_node: desc_signature) -> str:
        """One entry in the page's contents for all names."""
        is_first = sig_node.parent.index(sig_node) == 0
        return super()._toc_entry_name(sig_node) if is_first else ""


class Data(PyVariable):
    """`py:data`, in the index by its last name."""

    def get_index_text(self, modname: str, name_cls: tuple[str, str]) -> str:
        """The entry."""
        return _in_index(name_cls[0])


class Class(PyClasslike):
    """`py:class`, in the index by its last name."""

    def get_index_text(self, modname: str, name_cls: tuple[str, str]) -> str:
        """The entry."""
        return _in_index(name_cls[0])


def _in_index(name: str) -> str:
    """`functx.linalg.inv()` as `inv() (functx.linalg)`, which is found by its first letter."""
    module, _, last = name.rpartition(".")
    return f"{last} ({module})"


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry."""
    for kind, directive in {"function": SeveralNames, "data": Data, "class": Class}.items():
        app.add_directive_to_domain("py", kind, directive, override=True)
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
