"""How much longer `import functx` takes than `import jax`: medians of fresh interpreters."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys


BUDGET_MS = 150
PROGRAM = "import time; t = time.perf_counter(); import {}; print(1000 * (time.perf_counter() - t))"


def milliseconds(module: str) -> float:
    """How long importing takes in an interpreter of its own."""
    command = [sys.executable, "-c", PROGRAM.format(module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    milliseconds("functx")  # fills the cache of byte code
    pairs = [(milliseconds("jax"), milliseconds("functx")) for _ in range(repeat)]
    jax, functx = (statistics.median(column) for column in zip(*pairs, strict=True))
    over = statistics.median(b - a for a, b in pairs)
    print(f"import jax     {jax:7.1f} ms")
    print(f"import functx  {functx:7.1f} ms")
    print(f"over jax       {over:7.1f} ms  (budget {BUDGET_MS})")
    sys.exit(over > BUDGET_MS)


if __name__ == "__main__":
    main()
