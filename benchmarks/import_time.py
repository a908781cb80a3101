"""What `import functx` takes on top of `import jax`, by the clock and of the processor.

Medians over fresh interpreters. On a busy machine the processor's time says more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys


BUDGET_MS = 150
PROGRAM = """
import time
clocks = time.perf_counter, time.process_time
start = [clock() for clock in clocks]
import jax
middle = [clock() for clock in clocks]
import functx
end = [clock() for clock in clocks]
print(*(1000 * (b - a) for a, b in zip(start + middle, middle + end)))
"""


def milliseconds() -> list[float]:
    """Of importing JAX in an interpreter of its own, by either clock; then of functx."""
    command = [sys.executable, "-c", PROGRAM]
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # users' byte code is compiled once
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
    return list(map(float, done.stdout.split()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    milliseconds()  # fills the cache of byte code
    runs = [milliseconds() for _ in range(repeat)]
    jax, jax_cpu, functx, functx_cpu = map(statistics.median, zip(*runs, strict=True))
    print(f"import jax              {jax:7.1f} ms, {jax_cpu:7.1f} ms of the processor")
    print(f"import functx after it  {functx:7.1f} ms, {functx_cpu:7.1f} ms of the processor")
    print(f"(budget                          {BUDGET_MS:7.1f} ms)")
    sys.exit(functx_cpu > BUDGET_MS)


if __name__ == "__main__":
    main()
