"""MLIR's contexts for several lowerings each, while tests run.

JAX makes one for each program that it lowers, and loads all dialects into it: an eighth of the time
of a small program, and half of the memory that a compiled one keeps. Nothing of one lowering is
seen by another.
"""

import sys
import threading

from jax.interpreters import mlir


USES = 200  # a context keeps the constants and locations of all that was lowered in it


def share_contexts():
    """Lowers with a context that the thread has used before, if this JAX makes them here."""
    make = getattr(mlir, "make_ir_context", None)
    if make is None:
        return
    own = threading.local()

    def shared():
        if getattr(own, "left", 0) == 0:
            own.context, own.left = make(), USES
        own.left -= 1
        return own.context

    sys.modules[make.__module__].make_ir_context = shared
