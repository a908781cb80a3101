"""Which cells the operator tests run: all of an entry that has changed, an eighth of any other.

`proved.tsv` holds a digest of the sources of each entry whose cells in the quick profile all
passed. An entry with another digest, or without one, runs whole, so that a mistake in an operator
meets every cell. Of any other entry an eighth of the cells runs. The digest of all sources that are
not operators or entries decides which: a change beneath the operators meets another eighth, and
one tree always gives the same answer. Where all of functx is what it was when these tests passed
(`slow_tests`), a quarter of the entries has its turn. The option `--whole` runs all cells.

    functx check --jobs 2 --journal quick.jsonl && python tests/proved.py quick.jsonl

runs the cells of what has changed since the journal was written, and records what passes. The rows
of entries of which the journal has no cell are kept.

The full profile takes hours. `proved_in_full.tsv` says of which entries all its cells passed, with
which sources, and with which sources beneath the operators:

    functx check "$(python tests/proved.py --left 40)" --profile full --jobs 2 --journal full.jsonl
    python tests/proved.py --profile full full.jsonl

runs the next forty entries that it does not hold with their present sources, and records them.
"""

import argparse
import dataclasses
import functools as ft
import hashlib
import re
import sys
from collections import defaultdict
from pathlib import Path

import jax

import functx
from functx.cli.long_runs.journal import recorded
from functx.cli.runner import Plan
from functx.testing import op_db
from functx.testing.checks.forward import sample_dtype
from functx.testing.checks.source_digests import source_digest


SOURCES = Path(functx.__file__).parent
FOLLOWED = "_ops/", "testing/opdb/"  # by the digests of entries
PARTS = 8
DIGESTS = {"digest": source_digest, "beneath": lambda info: tree_digest()[:16]}


@dataclasses.dataclass
class Record:
    """A table of the entries of which all cells of a profile passed, and digests of that time."""

    path: Path
    profile: str
    columns: tuple[str, ...]  # the names of the digests

    @ft.cached_property
    def rows(self):
        """The digests by entry."""
        lines = self.path.read_text().splitlines()[1:]
        return {name: digests for name, *digests in (line.split("\t") for line in lines)}

    def proves(self, info):
        """Whether the source that an entry rests on is the one that passed."""
        return self.rows.get(info.id, [""])[0] == source_digest(info)

    def left(self):
        """The entries that did not pass with their present sources."""
        return [info.id for info in op_db if not self.proves(info)]

    def update(self, journals):
        """Writes down the entries of which all cells stand in these journals and none fails.

        Rows of other entries that have cells there are dropped, and those without any are kept.
        """
        met, proved = _passed(journals, self.profile)
        kept = {name: row for name, row in self.rows.items() if name not in met}
        self.rows = kept | {i.id: [DIGESTS[name](i) for name in self.columns] for i in proved}
        rows = [("entry", *self.columns)]
        rows += [(info.id, *self.rows[info.id]) for info in op_db if info.id in self.rows]
        self.path.write_text("".join("\t".join(row) + "\n" for row in rows))
        print(f"{len(proved)} entries recorded, {len(self.left())} of {len(op_db)} left")


QUICK = Record(Path(__file__).with_name("proved.tsv"), "quick", ("digest",))
FULL = Record(Path(__file__).with_name("proved_in_full.tsv"), "full", ("digest", "beneath"))


@ft.cache
def tree_digest():
    """A digest of all sources of functx but those of operators and entries."""
    return digest_of_files(SOURCES, "*.py", lambda name: not name.startswith(FOLLOWED)).hex()


def digest_of_files(folder, pattern, wanted=lambda name: True):
    """A digest of the names and contents of a folder's files, of those that are wanted."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob(pattern)):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and wanted(name):
            digest.update(name.encode() + path.read_bytes())
    return digest.digest()


def part_of(*names, tree=None, parts=PARTS):
    """Which part of what has these names has its turn in a tree: a number below `parts`."""
    text = "\n".join([tree or tree_digest(), *names])
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % parts


def has_its_turn(info, tree=None):
    """Whether any cell of a proved entry runs where nothing has changed: in a quarter of trees."""
    return part_of(info.id, tree=tree, parts=4) == 0


def dtypes_to_run(info, dtypes, tree=None):
    """Of a proved entry's dtypes, those in which most checks apply, and an eighth of the others."""
    return [d for d in dtypes if _is_main(info, d) or part_of(info.id, d, tree=tree) == 0]


def checks_to_run(info, dtype, names, tree=None):
    """Of a proved entry's checks, an eighth in a dtype in which most apply, all in any other."""
    if not _is_main(info, dtype):
        return names
    return names[part_of(info.id, dtype, tree=tree) :: PARTS] or names


def _is_main(info, dtype):
    return dtype in (sample_dtype(info), "float64")


def _passed(journals, profile):
    """The entries that have cells in these journals, and those of which all cells pass there."""
    plan = Plan(tuple(op_db), profile=profile)
    found = {result.cell: result for path in journals for result in recorded(path, plan)}
    cells = defaultdict(list)
    for cell in plan.cells():
        cells[cell[0]].append(cell)
    passing = lambda cell: cell in found and not found[cell].failing
    proved = [i for i in op_db if cells[i.id] and all(map(passing, cells[i.id]))]
    return {cell[0] for cell in found}, proved


def main():
    """Records what journals show, or prints what is left of the full profile."""
    parser = argparse.ArgumentParser(prog="python tests/proved.py")
    parser.add_argument("journals", nargs="*", type=Path, metavar="JOURNAL")
    parser.add_argument("--profile", choices=("quick", "full"), default="quick")
    parser.add_argument("--left", type=int, metavar="N", help="a pattern of N entries to run next")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)  # as `functx check` does: half of the cells need it
    record = {"quick": QUICK, "full": FULL}[options.profile]
    if options.left is None:
        record.update(options.journals)
    elif chosen := FULL.left()[: options.left]:
        print(f"^({'|'.join(map(re.escape, chosen))})$")
    else:
        sys.exit("all entries passed the full profile with their present sources")


if __name__ == "__main__":
    main()
