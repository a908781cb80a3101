"""What JAX's cache of compiled programs did, counted."""

import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp

import functx
from functx.aot import cache_counts


SCRIPT = """
    import jax
    jax.config.update("jax_compilation_cache_dir", {folder!r})
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    import functx
    import jax.numpy as jnp
    with functx.aot.cache_counts() as counts:
        jax.jit(functx.grad(lambda x: functx.sum(functx.sin(x))))(jnp.ones(5))
    print(counts.requests > 0, counts.hits, counts.misses)
    print(counts)
"""


def test_a_second_process_finds_what_the_first_has_written(tmp_path):
    script = textwrap.dedent(SCRIPT.format(folder=str(tmp_path)))
    first, second = (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    asked, hits, misses = first.stdout.split("\n")[0].split()
    assert asked == "True" and hits == "0" and int(misses) > 0
    assert "a miss is a new function" in first.stdout
    asked, hits_again, misses_again = second.stdout.split("\n")[0].split()
    assert asked == "True" and hits_again == misses and misses_again == "0"
    assert f"{misses} hits, 0 misses" in second.stdout


def test_counting_ends_with_the_region():
    with cache_counts() as counts:
        jax.jit(lambda x: functx.cos(x) * 17)(jnp.ones(11, "float32"))
    compiled = counts.compiled
    jax.jit(lambda x: functx.cos(x) * 19)(jnp.ones(11, "float32"))
    assert counts.compiled == compiled > 0 and counts.seconds > 0


def test_without_a_folder_it_says_so(monkeypatch):
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    script = "import functx; print(functx.aot.CacheCounts(compiled=2, seconds=0.5))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("2 programs in 0.50 s")
    assert "no folder is set" in done.stdout and "hint:" in done.stdout
