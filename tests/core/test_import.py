"""`import functx` has no side effects."""

import json
import subprocess
import sys


PROBE = """
import json, sys
import jax
before = dict(jax.config.values)
import functx
after = dict(jax.config.values)
print(json.dumps({
    "changed": [name for name in before if before[name] != after[name]],
    "modules": sorted({name.partition(".")[0] for name in sys.modules}),
    "testing": "functx.testing" in sys.modules,
}))
"""


def test_import_changes_nothing_and_needs_no_extra():
    out = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    seen = json.loads(out.stdout)
    assert seen["changed"] == []
    assert not {"torch", "pytest", "typer", "rich", "matplotlib", "jinja2"} & set(seen["modules"])
    assert not seen["testing"]


def test_import_initialises_no_backend():
    # A platform that does not exist fails on first use, so an import that passes used none.
    code = "import functx"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={"JAX_PLATFORMS": "nowhere", "PATH": ""}
    )
