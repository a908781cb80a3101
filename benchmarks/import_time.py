"""What `import functx` takes on top of `import jax`: medians over fresh interpreters."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys


BUDGET_MS = 150
PROGRAM = """
import time
start = time.perf_counter()
import jax
middle = time.perf_counter()
import functx
print(1000 * (middle - start), 1000 * (time.perf_counter() - middle))
"""


def milliseconds() -> tuple[float, float]:
    """How long importing JAX takes in an interpreter of its own, and then functx."""
    command = [sys.executable, "-c", PROGRAM]
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # users' byte code is compiled once
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
    jax, functx = map(float, done.stdout.split())
    return jax, functx


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    milliseconds()  # fills the cache of byte code
    runs = [milliseconds() for _ in range(repeat)]
    jax, functx = (statistics.median(column) for column in zip(*runs, strict=True))
    print(f"import jax              {jax:7.1f} ms")
    print(f"import functx after it  {functx:7.1f} ms  (budget {BUDGET_MS})")
    sys.exit(functx > BUDGET_MS)


if __name__ == "__main__":
    main()
