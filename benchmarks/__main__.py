"""`python -m benchmarks [NAME ...] [--markdown] [--seconds S]`: all benchmarks, or those named."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import subprocess
import sys

from . import __path__ as here


SHARED = {
    "__main__",
    "larger",
    "models_by_hand",
    "public_models",
    "tables",
    "transform_programs",
}


def names() -> list[str]:
    """The benchmarks that there are."""
    return [module.name for module in pkgutil.iter_modules(here) if module.name not in SHARED]


def report(name: str, *, markdown: bool, seconds: float) -> str:
    """A benchmark's tables; of one that prints by itself, what it prints."""
    module = importlib.import_module(f"benchmarks.{name}")
    if hasattr(module, "tables"):
        made = module.tables(seconds)
        return "\n\n".join(t.as_markdown() if markdown else t.as_text() for t in made)
    command = [sys.executable, "-m", f"benchmarks.{name}"]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE)
    printed = done.stdout + (f"exit status {done.returncode}\n" if done.returncode else "")
    title = name.replace("_", " ").capitalize()
    return f"### {title}\n\n```\n{printed}```" if markdown else f"{title}\n{printed}"


def main() -> None:
    """Prints one benchmark after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names()))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.5, help="spent on each figure")
    options = parser.parse_args()
    unknown = set(options.names) - set(names())
    if unknown:
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; there are {names()}")
    for name in options.names or names():
        print(report(name, markdown=options.markdown, seconds=options.seconds), end="\n\n")


if __name__ == "__main__":
    main()
