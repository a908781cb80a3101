"""`import functx` has no side effects."""

import json
import subprocess
import sys

import pytest


PROBE = """
import json, sys
import jax
before, loaded = dict(jax.config.values), set(sys.modules)
import functx
after = dict(jax.config.values)
seen = {
    "changed": [name for name in before if before[name] != after[name]],
    "modules": sorted({name.partition(".")[0] for name in sys.modules}),
    "testing": "functx.testing" in sys.modules,
    "of_jax": sorted(name for name in set(sys.modules) - loaded if name.startswith("jax")),
}
functx.sin(functx.ones(2))
heavy = "matplotlib", "optax", "scipy.stats", "torch", "triton", "jax._src.pallas"
print(json.dumps(seen | {"heavy": [name for name in heavy if name in sys.modules]}))
"""


@pytest.fixture(scope="module")
def seen():
    """What one process saw after `import functx`, and then after its first operator."""
    out = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def test_import_changes_nothing_and_needs_no_extra(seen):
    assert seen["changed"] == []
    assert not {"scipy", "torch", "pytest", "typer", "rich", "matplotlib", "jinja2"} & set(
        seen["modules"]
    )
    assert not seen["testing"]
    # Each takes a tenth of the time of the import, and the first brings the others.
    costly = {"jax.extend", "jax.experimental.checkify", "jax._src.pallas"}
    assert not costly & set(seen["of_jax"])


def test_the_first_operator_brings_nothing_heavy(seen):
    assert seen["heavy"] == []


LATER = """
import sys
import functx
from functx._names import TOOLS
later = {f"functx.{name}" for name in TOOLS}
assert not later & set(sys.modules) and set(TOOLS) <= set(dir(functx))
assert functx.taps is sys.modules["functx.taps"]
assert not (later - {"functx.taps"}) & set(sys.modules)
assert "testing" in dir(functx) and "functx.testing" not in sys.modules
exec("from functx import *")
assert "functx.testing" not in sys.modules
functx.testing.gradcheck(functx.sin, functx.zeros(2, dtype=functx.float32), eps=1e-2, atol=1e-2)
assert functx.testing is sys.modules["functx.testing"]
try:
    functx.testings
except AttributeError as error:
    assert "did you mean testing" in str(error)
"""


def test_testing_is_imported_where_it_is_first_used():
    subprocess.run([sys.executable, "-c", LATER], check=True)


def test_import_initialises_no_backend():
    # A platform that does not exist fails on first use, so an import that passes used none.
    code = "import functx"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={"JAX_PLATFORMS": "nowhere", "PATH": ""}
    )
