"""Runs made by hand: results that no check gave, in every status."""

import numpy as np

import functx
from functx.cli.report import as_data
from functx.cli.runner import Plan, Result
from functx.testing import call, OpInfo, Tolerance


def samples(make):
    yield call(make(2, 3))


SIN = OpInfo(functx.sin, samples, reference=np.sin)
SUM = OpInfo(
    functx.sum,
    samples,
    reference=np.sum,
    tolerances=(Tolerance("terms may cancel", floor=4, elementwise=True),),
)
VARIANT = OpInfo(functx.linalg.norm, samples, reference=np.linalg.norm, variant="inf")
ENTRIES = (SIN, SUM, VARIANT)

SAID = 'AssertionError: sin(f32[2,3]): 0.5 at [0, 1], expected </script> & "0.25"'
FAIL = {
    "sample": "sin(f32[2,3], dim=-1)",
    "error": SAID,
    "traceback": "Traceback\n  \x1b[31mline \udc80",
}
GAP = {"error": "NotImplementedError: no", "reason": "LAPACK has none of them"}
STALE = {"error": "this passes, but is declared a gap: no more", "reason": "no more"}
EXTRAS = {"pass": {}, "fail": FAIL, "gap": GAP, "unexpected pass": STALE}

CELLS = {
    ("sin", "float32", "reference"): "pass",
    ("sin", "float32", "jit"): "fail",
    ("sin", "float32", "vmap"): "pass",
    ("sin", "float64", "reference"): "pass",
    ("sin", "float64", "jit"): "pass",
    ("sum", "float32", "reference"): "pass",
    ("sum", "float32", "vmap_vjp"): "pass",
    ("sum", "float32", "pullback_at_zero"): "pass",
    ("linalg.norm-inf", "float64", "reference"): "unexpected pass",
    ("linalg.norm-inf", "float64", "gradient"): "gap",
}


def results(cells=CELLS):
    """A result for each cell; those of an entry in one dtype took equally long."""
    return [
        Result(*cell, status, 0.01 * len(cell[0]), 3, 8.0, **EXTRAS[status])
        for cell, status in cells.items()
    ]


def run(cells=CELLS, *, planned=None, seconds=12.5, **settings):
    """What `functx check --json` would write of them."""
    found = results(cells)
    planned = len(found) if planned is None else planned
    return as_data(Plan(ENTRIES, **settings), found, planned=planned, seconds=seconds)
