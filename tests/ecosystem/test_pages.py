"""Every program in docs/ecosystem runs, asserts and all."""

import importlib.util

import pytest

from .pages import packages, PAGES, program, run


pytestmark = pytest.mark.reads_files
ALONE = [page for page in PAGES if page.stem != "several_machines"]


@pytest.mark.parametrize("page", ALONE, ids=lambda page: page.stem)
def test_the_program_of_a_page(page, tmp_path):
    source = program(page)
    missing = sorted(name for name in packages(source) if importlib.util.find_spec(name) is None)
    if missing:
        extra = "parity" if missing == ["torch"] else "ecosystem"
        pytest.skip(f"{', '.join(missing)} is not installed: pip install '.[{extra}]'")
    file = tmp_path / f"{page.stem}_page.py"
    file.write_text(source)
    done = run([str(file)])
    assert done.returncode == 0, f"{page}:\n{done.stderr[-3000:]}"
