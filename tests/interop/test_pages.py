"""The programs of the pages about PyTorch run, each as users would run it."""

import pytest
from ecosystem.pages import program, ROOT, run


pytest.importorskip("torch", reason="pip install '.[torch]' brings torch")

pytestmark = pytest.mark.reads_files
PAGES = [
    "concepts/faults_of_pytorch",
    "concepts/public_models",
    "how-to/bring_your_pytorch_model",
    "how-to/call_functx_from_pytorch",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_program_of_a_page(page, tmp_path):
    file = tmp_path / "page.py"
    file.write_text(program(ROOT / "docs" / f"{page}.md"))
    done = run([str(file)])
    assert done.returncode == 0, done.stderr[-3000:]
