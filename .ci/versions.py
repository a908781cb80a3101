"""The versions of Python and JAX that `pyproject.toml` names, as GitHub's matrix of jobs.

`python .ci/versions.py` prints every Python with the oldest JAX that is supported and with the
newest that there is for it, each as a requirement for pip.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path


PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
CLASSIFIER = "Programming Language :: Python :: "


def pythons() -> list[str]:
    """Those of the classifiers: `"3.11"`, ..."""
    named = [name.removeprefix(CLASSIFIER) for name in PROJECT["classifiers"]]
    return [name for name in named if re.fullmatch(r"3\.\d+", name)]


def jax_range() -> tuple[str, str]:
    """The first supported release of JAX, and the first that is not: `("0.10.2", "0.13")`."""
    [found] = [x for x in PROJECT["dependencies"] if re.match(r"jax\b", x)]
    first, beyond = re.fullmatch(r"jax>=([\d.]+),<([\d.]+)", found).groups()
    return first, beyond


def jobs() -> list[dict[str, str]]:
    """One for each Python and each end of the range."""
    first, beyond = jax_range()
    ends = {"oldest": f"jax=={first}", "newest": f"jax<{beyond}"}
    return [
        {"python": python, "end": end, "jax": requirement}
        for python in pythons()
        for end, requirement in ends.items()
    ]


if __name__ == "__main__":
    print(json.dumps({"include": jobs()}))
