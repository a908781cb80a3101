"""The versions that `pyproject.toml` names are those of the pages, of CI and of the hooks."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jax
import pytest
import yaml

import functx


pytestmark = pytest.mark.reads_files
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
[JAX] = [x for x in PROJECT["project"]["dependencies"] if re.match(r"jax\b", x)]
FIRST, BEYOND = re.fullmatch(r"jax>=([\d.]+),<([\d.]+)", JAX).groups()
PYTHONS = re.findall(r"Python :: (3\.\d+)'", str(PROJECT["project"]["classifiers"]))
VERSIONS = (ROOT / "docs" / "versions.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def numbers(version: str) -> list[int]:
    return [int(n) for n in version.split(".")]


def last_minor() -> str:
    major, minor = numbers(BEYOND)
    return f"{major}.{minor - 1}"


def supported(version: str) -> bool:
    return numbers(FIRST)[: version.count(".") + 1] <= numbers(version) < numbers(BEYOND)


def test_the_tests_run_with_what_is_supported():
    assert supported(jax.__version__) and f"{sys.version_info[0]}.{sys.version_info[1]}" in PYTHONS


def test_the_page_on_versions_has_the_ranges():
    rows = {row[0]: row[1:] for row in re.findall(r"^\| (\w+) \| (.*) \| (.*) \|$", VERSIONS, re.M)}
    assert rows["Python"] == (", ".join(PYTHONS), f"`{PROJECT['project']['requires-python']}`")
    assert rows["JAX"] == (f"{FIRST} to {last_minor()}", f"`{JAX}`")
    [torch] = [x for x in PROJECT["project"]["optional-dependencies"]["parity"] if "torch" in x]
    assert rows["PyTorch"][1] == f"`{torch}`"


def test_the_first_python_is_the_least_that_is_required():
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    assert PROJECT["tool"]["pyright"]["pythonVersion"] == PYTHONS[0]


def test_no_page_speaks_of_a_jax_that_is_not_supported():
    for page in PAGES:
        for version in re.findall(r"\bJAX (\d+\.\d+(?:\.\d+)*)", page.read_text()):
            assert supported(version), f"{page.name}: JAX {version}"


def test_ci_runs_each_python_with_both_ends_of_the_range():
    printed = subprocess.check_output([sys.executable, ROOT / ".ci" / "versions.py"], text=True)
    jobs = [(job["python"], job["jax"]) for job in json.loads(printed)["include"]]
    assert jobs == [(p, jax) for p in PYTHONS for jax in (f"jax=={FIRST}", f"jax<{BEYOND}")]


@pytest.mark.parametrize("name", ["tests", "full"])
def test_workflows_can_be_read(name):
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
    commands = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert any(".ci/run" in c or "functx check" in c for c in commands)


def test_hooks_have_the_linters_of_the_project():
    lint = PROJECT["project"]["optional-dependencies"]["lint"]
    [repo] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    for hook in repo["hooks"]:
        assert set(hook.get("additional_dependencies", [])) <= set(lint), hook["id"]


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == functx.__version__
    assert citation["license"] == PROJECT["project"]["license"]


def test_the_source_distribution_has_all_that_the_repository_has():
    """But for what git alone reads; the tests are run from it, and the documentation is built."""
    listed = set(PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode:
        pytest.skip("not a checkout")
    tracked = {"/" + path.split("/")[0] for path in git.stdout.splitlines()}
    assert tracked - {"/.gitignore", "/pyproject.toml"} <= listed


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_what_is_cloned_is_the_source_that_the_package_names(page):
    address = re.search(r"git clone (\S+)", (ROOT / page).read_text())[1]
    assert address == PROJECT["project"]["urls"]["Source"]
