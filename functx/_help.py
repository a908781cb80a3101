"""Shows `functx --help` and `functx --version` before JAX and the operators are imported.

Python runs `functx/__init__.py` before any other file of the package, also for `python -m functx`.
That takes a second, and help needs nothing of it. So `functx/__init__.py` imports this file first.
In all other programs, and for all other commands, it does nothing.
"""

from __future__ import annotations

import importlib
import sys


def _words() -> list[str] | None:
    """The words after the name of the command, or None where another program runs."""
    program, *words = getattr(sys, "argv", None) or [""]
    if program == "-m":  # Python is looking for the module that it was told to run
        named = sys.orig_argv[: len(sys.orig_argv) - len(words)][-1:]
        return words if named in (["functx"], ["-mfunctx"]) else None
    name = program.replace("\\", "/").rpartition("/")[2]
    return words if name in ("functx", "functx.exe") else None


def _asks_for_help(words: list[str]) -> bool:
    """Whether the command line answers without running a command."""
    return words in ([], ["--help"], ["--version"]) or (len(words) == 2 and words[1] == "--help")


_typed = _words()
if _typed is not None and _asks_for_help(_typed):
    importlib.import_module("functx.cli").main()  # it exits
