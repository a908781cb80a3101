"""The timeline as a picture and as a page."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import jax
import pytest
from jax import lax

import functx
from functx.memory import analyze


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, "float32")


def loss(w, xs):
    def step(h, x):
        return functx.tanh(functx.matmul(h, w) + x), functx.sum(h)

    return functx.sum(lax.scan(step, xs[0], xs)[1])


REPORT = analyze(functx.grad(loss), spec(8, 8), spec(5, 4, 8), compiled=True)


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_the_picture_stacks_up_to_the_peak(pyplot):
    ax = REPORT.plot()
    top = max(path.vertices[:, 1].max() for area in ax.collections for path in area.get_paths())
    assert top == pytest.approx(REPORT.peak_bytes / 2**10)
    assert ax.get_ylabel() == "alive, KiB" and ax.get_title() == "loss"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "arguments" and "tanh, backward" in labels


def test_the_picture_goes_into_given_axes_with_few_colours(pyplot):
    _, ax = pyplot.subplots()
    assert REPORT.plot(ax, largest=1) is ax
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(labels) == 3 and labels[-1] == "others"


def test_a_function_without_arrays_has_a_picture_and_a_page(pyplot, tmp_path):
    report = analyze(lambda: None)
    report.plot()
    assert report.save_html(tmp_path / "page.html").exists()


def page(report, tmp_path):
    return report.save_html(tmp_path / "folder" / "page.html").read_text()


def data_of(text):
    return json.loads(re.search(r"^const data = (.*);$", text, re.M)[1])


def test_the_page_holds_the_whole_timeline(tmp_path):
    pytest.importorskip("jinja2")
    data = data_of(page(REPORT, tmp_path))
    assert [size for _, size in data["steps"]] == [step.bytes for step in REPORT.steps]
    assert data["peak"] == REPORT.peak_step
    peak = [size for first, last, size, _ in data["buffers"] if first <= data["peak"] <= last]
    assert sum(peak) == REPORT.peak_bytes
    assert ["f32[8,8]", "matmul", "backward, scan"] in [kind[:3] for kind in data["kinds"]]
    assert data["words"][data["steps"][data["peak"]][0]] == str(REPORT.steps[data["peak"]])


def test_the_page_needs_no_other_file(tmp_path):
    pytest.importorskip("jinja2")
    text = page(REPORT, tmp_path)
    assert not re.search(r"(?:src|href)=[\"'](?!data:)|https?:|@import|url\(", text)


def test_names_are_text_on_the_page(tmp_path):
    pytest.importorskip("jinja2")

    def named(x):
        return x["</script>"] + 1

    named.__name__ = "</script><b>"
    text = page(analyze(named, {"</script>": spec(2)}), tmp_path)
    assert "<b>" not in re.sub(r"<b>[\d.,]+ ", "", text)
    assert text.count("</script>") == 1
    assert any("</script>" in kind[1] for kind in data_of(text)["kinds"])


def test_a_long_program_has_a_picture_of_its_highest_steps(tmp_path):
    pytest.importorskip("jinja2")

    def long(x):
        for _ in range(900):
            x = functx.matmul(x, x)
        wide = functx.outer(x[0], x[0])
        return functx.sum(functx.matmul(wide, wide))

    report = analyze(long, spec(4, 4))
    text = page(report, tmp_path)
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", text)]
    assert min(heights) == 0 and len(report.steps) > 700


@pytest.mark.parametrize("method, package", [("plot", "matplotlib"), ("save_html", "jinja2")])
def test_a_missing_package_is_named(monkeypatch, method, package, tmp_path):
    for name in (package, "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    arguments = [tmp_path / "page.html"] if method == "save_html" else []
    with pytest.raises(ImportError, match=rf"^MemoryReport\.{method}: it needs .*`{package}`"):
        getattr(REPORT, method)(*arguments)


def test_the_import_brings_neither():
    code = "import sys, functx.memory; print({'matplotlib', 'jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
