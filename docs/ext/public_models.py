"""What comparing public PyTorch models found: recorded from journals, and made tables of.

`python docs/ext/public_models.py JOURNAL...` records the last outcome of each check of each model
of the list; the journals are those of `python -m tests.interop.zoo`.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any


ROOT = Path(__file__).parents[2]
RECORD = ROOT / "docs" / "public_models.tsv"
LIST = ROOT / "tests" / "interop" / "zoo" / "models.txt"
CHECKS = {
    "values": "values and gradients",
    "graphs": "graphs, and files for any batch",
    "training": "training mode",
    "samples": "gradients of each sample",
    "hessian": "products with the Hessian",
    "torchax": "torchax: values and gradients",
}
OUTCOMES = ("agrees", "in float32", "differs", "refused", "time", "memory", "not run")
_WIDE = " in double"
# Notes that are shown, and how.
_SHOWN = {
    "casts": "`{}`",
    "reason": "`{}`",
    "one batch": "one batch: `{}`",
    "budget": "budget of {}",
}
# Of models that do not agree, why, where the notes of the record do not say it.
REASONS = {
    "hf:canine": "in double PyTorch's own result is NaN: 0 of float32 times the least double",
    "hf:ibert": "in training it looks for NaN among values, which no export knows",
    "tv:mobilenet_v2": "at its bounds torchax's `relu6` has a slope of 0.5, PyTorch's of 0; with 0"
    " torchax's gradients agree to 4e-16",
    "tv:swin_v2_t": "its keys of padding are 0, where torchax's `normalize` has a slope of NaN, and"
    " PyTorch's a second derivative of NaN",
}


@dataclasses.dataclass(frozen=True)
class Row:
    """An outcome as the record has it."""

    model: str
    check: str
    outcome: str
    errors: str = ""  # `name=number`, separated by semicolons
    notes: str = ""  # likewise

    @property
    def numbers(self) -> dict[str, float]:
        """The errors by their names."""
        return {name: float(x) for name, x in _pairs(self.errors)}

    @property
    def words(self) -> dict[str, str]:
        """The notes by their names."""
        return dict(_pairs(self.notes))


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for each in filter(None, text.split("; ")):
        name, _, value = each.partition("=")
        yield name, value


def listed() -> list[str]:
    """The models of the list."""
    return LIST.read_text().split()


def recorded(path: Path = RECORD) -> dict[tuple[str, str], Row]:
    """What was recorded, by model and check."""
    with path.open(newline="") as file:
        rows = [Row(**row) for row in csv.DictReader(file, delimiter="\t")]
    return {(row.model, row.check): row for row in rows}


def rows_in(journals: Iterable[Path]) -> dict[tuple[str, str], Row]:
    """The last outcome of each check of each model."""
    found = {}
    for path in journals:
        for line in path.read_text().splitlines()[1:]:
            row = _row(json.loads(line))
            found[row.model, row.check] = row
    return found


def _row(outcome: dict[str, Any]) -> Row:
    joined = lambda pairs: "; ".join(f"{name}={x}" for name, x in pairs if x != "")
    one_line = lambda x: " ".join(str(x).replace(";", ",").split())
    errors = joined((name, f"{x:.1e}") for name, x in outcome["errors"].items())
    notes = joined((name, one_line(x)) for name, x in outcome["notes"].items())
    said = "refused" if outcome["outcome"] == "failed" else outcome["outcome"]
    return Row(outcome["model"], outcome["check"], said, errors, notes)


def record(journals: Iterable[Path], path: Path = RECORD) -> None:
    """Writes what the journals say of the list's models, in its order."""
    known = recorded(path) if path.exists() else {}
    known |= rows_in(journals)
    with path.open("w", newline="") as file:
        names = [field.name for field in dataclasses.fields(Row)]
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for key in ((model, check) for check in CHECKS for model in listed()):
            if key in known:
                writer.writerow(dataclasses.asdict(known[key]))


def counts_table() -> str:
    """How many models of each check came out how, as MyST text."""
    found = recorded()
    of = {check: Counter(_outcome(found.get((m, check))) for m in listed()) for check in CHECKS}
    met = [said for said in OUTCOMES if any(count[said] for count in of.values())]
    lines = [f"| of {len(listed())} models | {' | '.join(met)} |", "|---|" + "--:|" * len(met)]
    for check, words in CHECKS.items():
        lines.append(f"| {words} | {' | '.join(str(of[check][said]) for said in met)} |")
    return "\n".join([*lines, ""])


def _outcome(row: Row | None) -> str:
    return "not run" if row is None else row.outcome


def models_table() -> str:
    """A row for each model, as MyST text."""
    found = recorded()
    lines = [
        "| model | parameters | values | gradients | graphs | training | each sample | Hessian |"
        " torchax | remarks |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for model in listed():
        rows = {check: found.get((model, check)) for check in CHECKS}
        of_values = rows["values"]
        many = int(of_values.words.get("parameters", 0)) if of_values else 0
        cells = [f"`{model}`", f"{many:,}" if many else ""]
        cells += [_cell(of_values, "values"), _cell(of_values, "gradients")]
        cells += [_cell(rows[check]) for check in CHECKS if check != "values"]
        lines.append(f"| {' | '.join([*cells, _remarks(model, rows.values())])} |")
    return "\n".join([*lines, ""])


def _cell(row: Row | None, name: str = "") -> str:
    """The greatest of a row's errors, or of one kind of them; of what has none, the outcome."""
    if row is None or not row.errors:
        return _outcome(row)
    wide = [x for key, x in row.numbers.items() if key.endswith(_WIDE) and key.startswith(name)]
    own = [x for key, x in row.numbers.items() if not key.endswith(_WIDE) and key.startswith(name)]
    return f"{_greatest(own):.0e}" + (f" ({_greatest(wide):.0e})" if wide else "")


def _greatest(errors: Iterable[float]) -> float:
    """The greatest number, or NaN if there is one among them."""
    return max(errors, key=lambda x: (math.isnan(x), x))


def _remarks(model: str, rows: Iterable[Row | None]) -> str:
    """The reason that is known, and what the notes say, each once."""
    said = []
    for row in rows:
        if row is not None:
            whose = "torchax: " if row.check == "torchax" else ""
            said += [
                whose + _SHOWN[name].format(text.replace("|", " "))
                for name, text in row.words.items()
                if name in _SHOWN
            ]
    return "; ".join([*filter(None, [REASONS.get(model)]), *dict.fromkeys(said)])


if __name__ == "__main__":
    record(map(Path, sys.argv[1:]))
