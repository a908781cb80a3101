"""Records the names of PyTorch's functions: `python -m tests.parity.record_names`."""

import importlib
import inspect
import json
from pathlib import Path

from tests.write_facades import FACADES


RECORD = Path(__file__).parents[2] / "docs" / "ext" / "pytorch_functions.json"


def functions() -> dict[str, list[str]]:
    """The public functions of each of PyTorch's namespaces that functx has."""
    return {space: _of_module(".".join(filter(None, ("torch", space)))) for space in FACADES}


def _of_module(name: str) -> list[str]:
    names = vars(importlib.import_module(name))
    return sorted(
        name
        for name, value in names.items()
        if not name.startswith("_")
        and callable(value)
        and not inspect.isclass(value)
        and not (getattr(value, "__module__", None) or "").startswith("typing")
    )


if __name__ == "__main__":
    RECORD.write_text(json.dumps(functions(), indent=1) + "\n")
