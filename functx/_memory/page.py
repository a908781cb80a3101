"""A report as a page that needs no other file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from .report import MemoryReport


def write_page(report: MemoryReport, path: Path) -> Path:
    """Writes the page."""
    raise NotImplementedError
