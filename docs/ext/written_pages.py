"""Pages that are made: only what changed is written, so that Sphinx reads no other again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def write_pages(folder: Path, wanted: Mapping[str, bytes], made: Iterable[Path]) -> None:
    """Writes the `wanted` files, by their names in `folder`; those of `made` that are not go."""
    for old in made:
        if str(old.relative_to(folder)) not in wanted:
            old.unlink()
    for name, content in wanted.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
