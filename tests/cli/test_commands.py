"""The commands as typed: what they print, write, and exit with."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from typer.testing import CliRunner

import functx
from functx.cli import (
    check_command,
    lowerings_command,
    main,
    mutants_command,
    ops_command,
    selection,
)
from functx.cli.app import app
from functx.cli.long_runs import hunt_journal
from functx.testing import call, OpInfo
from functx.testing.mutants import KINDS, Verdict


def samples(make):
    yield call(make(2, 3))


RIGHT = OpInfo(functx.sin, samples, reference=np.sin)
WRONG = OpInfo(functx.sin, samples, reference=np.cos, variant="wrong")


@pytest.fixture
def functx_command(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")  # which commands add to
    monkeypatch.setattr(check_command, "op_db", [RIGHT, WRONG])
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(ops_command, "op_db", [RIGHT, WRONG])
    monkeypatch.setattr(mutants_command, "op_db", [RIGHT, WRONG])
    yield lambda *words: CliRunner().invoke(app, [str(word) for word in words])
    jax.config.update("jax_enable_x64", True)  # as all tests have it: a command may turn it off


def test_ops_lists(functx_command):
    result = functx_command("ops", "log*")
    assert result.exit_code == 0
    assert "log1p" in result.stdout and "(input" in result.stdout


def test_ops_describes_an_exact_name(functx_command):
    result = functx_command("ops", "sin")
    assert result.exit_code == 0
    for fact in ("sin(input", "float32", "int to float", "sin-wrong: 1 sample in", "vmap"):
        assert fact in result.stdout


def test_lowerings_lists_what_differs_by_platform(functx_command, monkeypatch):
    matrices = lambda make: iter([call(make.put(np.eye(2)))])
    cholesky = OpInfo(functx.linalg.cholesky, matrices)
    eigvals = OpInfo(functx.linalg.eigvals, matrices)
    monkeypatch.setattr(
        lowerings_command, "op_db", [OpInfo(functx.neg, samples), cholesky, eigvals]
    )
    result = functx_command("lowerings")
    assert result.exit_code == 0 and "neg" not in result.stdout.split()
    for fact in ("@lapack_spotrf_ffi", "@cusolver_potrf_ffi", "does not lower", "'eig'"):
        assert fact in result.stdout
    assert "2 of 3 entries differ by platform; 1 do not lower" in result.stdout
    assert "0 of 1 entries differ" in functx_command("lowerings", "neg").stdout


@pytest.mark.parametrize(
    "words, message",
    [
        (("lowerings", "gelo"), "no operator matches 'gelo'"),
        (("ops", "gelo"), "no operator matches 'gelo'; nearest: nn.functional.gelu"),
        (("check", "sine"), "no operator matches 'sine'; nearest: sin"),
        (("check", "sin", "--checks", "vmop"), "no check is called 'vmop'; nearest: vmap"),
        (("check", "sin", "--dtypes", "flot32"), "no dtype is called 'flot32'; nearest: float32"),
        (("check", "sin", "--device", "cpo"), "no device is called 'cpo'; here: cpu"),
        (("check", "sin", "--device", "gpu"), "no device is called 'gpu'; here: cpu"),
        (("check", "sin", "--jobs", "0"), "--jobs must be at least 1"),
        (("mutants", "sin", "--jobs", "0"), "--jobs must be at least 1"),
        (("mutants", "sine"), "no operator matches 'sine'; nearest: sin"),
        (("ops", "softmx"), "no operator matches 'softmx'; nearest: softmax,"),
        (("check", "sin", "--checks", "grad", "--dtypes", "bool"), "no chosen check applies"),
    ],
)
def test_wrong_words_get_one_line_and_exit_2(functx_command, words, message):
    result = functx_command(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith("functx: ") and message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_passing_run_exits_0_and_writes_json(functx_command, monkeypatch, tmp_path):
    monkeypatch.setattr(check_command, "op_db", [RIGHT])
    path = tmp_path / "deep" / "run.json"
    result = functx_command(
        "check", "sin", "--checks", "reference", "--dtypes", "float32", "--json", path
    )
    assert result.exit_code == 0 and "1 pass, 0 fail" in result.stdout
    assert "0 gaps declared in all of 1 entry" in result.stdout
    data = json.loads(path.read_text())
    assert {"functx", "jax", "settings", "complete", "seconds", "totals", "cells"} <= set(data)
    assert data["complete"] is True and data["totals"]["pass"] == 1
    assert set(data["cells"][0]) == {
        *("operator", "dtype", "check", "status", "seconds", "samples"),
        *("ulps", "sample", "error", "traceback", "reason"),
    }


def test_with_64_bit_off_only_narrow_dtypes_are_checked(functx_command, tmp_path):
    path = tmp_path / "narrow.json"
    result = functx_command(
        "check", "^sin$", "--no-x64", "--json", path, "--checks", "dtypes,vmap_vjp"
    )
    assert result.exit_code == 2, "they need 64 bit"
    result = functx_command("check", "sin", "--no-x64", "--json", path, "--checks", "jit,vmap")
    assert result.exit_code == 0
    dtypes = {cell["dtype"] for cell in json.loads(path.read_text())["cells"]}
    assert dtypes and not any("64" in dtype for dtype in dtypes - {"complex64"})


def test_a_failing_run_exits_1_and_reports_the_sample(functx_command, tmp_path):
    page, data = tmp_path / "run.html", tmp_path / "run.json"
    words = ("check", "sin-wrong", "--checks", "reference", "--dtypes", "float32")
    words += ("--report", page, "--json", data)
    result = functx_command(*words)
    assert result.exit_code == 1
    assert "✗" in result.stdout and "1 fail" in result.stdout
    (cell,) = json.loads(data.read_text())["cells"]
    assert (cell["status"], cell["sample"]) == ("fail", "sin(f32[2,3])")
    html = page.read_text()
    assert "sin(f32[2,3])" in html and "8 allowed" in html
    assert "http://" not in html and "https://" not in html, "the page needs nothing but itself"


@pytest.mark.parametrize("option", ["--json", "--report", "--junit"])
def test_results_are_not_written_to_a_folder(functx_command, tmp_path, option):
    result = functx_command("check", "sin", option, tmp_path)
    assert result.exit_code == 2 and "directory" in result.output


def test_ctrl_c_keeps_what_is_done(functx_command, monkeypatch, tmp_path):
    run_here = check_command.run_here

    def interrupted(plan, cells, device):
        yield next(run_here(plan, cells, device))
        raise KeyboardInterrupt

    monkeypatch.setattr(check_command, "run_here", interrupted)
    path = tmp_path / "run.json"
    result = functx_command(
        "check", "sin", "--checks", "reference", "--dtypes", "float32", "--json", path
    )
    assert result.exit_code == 130
    data = json.loads(path.read_text())
    assert data["complete"] is False and len(data["cells"]) == 1 and data["planned"] == 2
    assert "stopped" in result.stdout


def test_without_its_packages_it_says_how_to_get_them(monkeypatch):
    monkeypatch.delitem(sys.modules, "functx.cli.app", raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install 'functx\[cli\]'"):
        main()


def python(*words, **environment):
    command = [sys.executable, *words]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env)


def test_python_m_functx_is_the_command_line():
    shown = python("-m", "functx", "--help").stdout
    assert all(name in shown for name in ("ops", "check", "mutants", "lowerings", "tour"))


@pytest.mark.parametrize("words", [(), ("--help",), ("check", "--help"), ("--version",)])
@pytest.mark.parametrize("script", [True, False])
def test_help_and_version_import_no_jax(words, script, tmp_path):
    if script:
        program = (tmp_path / "functx", *words)
        program[0].write_text("from functx.cli import main\n\nmain()\n")
    else:
        program = ("-m", "functx", *words)
    command = [sys.executable, "-X", "importtime", *map(str, program)]
    env = {**os.environ, "PYTHONPATH": str(Path(functx.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    imported = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.M))
    assert "typer" in imported and not imported & {"jax", "numpy", "functx._core"}
    version = f"functx {functx.__version__} (JAX {jax.__version__}"
    assert (version if "--version" in words else "Usage") in done.stdout


def test_other_programs_with_an_option_help_are_left_alone(tmp_path):
    program = tmp_path / "other.py"
    program.write_text("import functx, sys\nprint(functx.__version__, sys.argv[1:])\n")
    assert python(program, "--help").stdout == f"{functx.__version__} ['--help']\n"
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import functx\n")
    (tmp_path / "package" / "__main__.py").write_text("print('its own')\n")
    path = os.pathsep.join([str(Path(functx.__file__).parents[1]), str(tmp_path)])
    assert python("-m", "package", "--help", PYTHONPATH=path).stdout == "its own\n"


def test_an_operator_without_an_entry_is_said_to_have_none(functx_command, monkeypatch):
    others = [info for info in selection.op_db if info.name != "log1p"]
    monkeypatch.setattr(selection, "op_db", others)
    said = "log1p is declared, but has no entry in the database; add an OpInfo to "
    said += "functx/testing/opdb/pointwise/exponential.py"
    for words in (("check", "log1p"), ("mutants", "special.log1p"), ("check", "log1[p]")):
        result = functx_command(*words)
        assert (result.exit_code, result.stderr) == (2, f"functx: {said}\n")


def test_what_an_entry_lacks_is_shown_where_it_is_named(functx_command):
    check_command.op_db.append(OpInfo(functx.logsumexp, lambda make: iter([call(make(3), 0)])))
    result = functx_command("check", "logsumexp", "--checks", "jit", "--dtypes", "float32")
    assert "logsumexp lacks: no reference, `keepdim` is never given" in result.stdout
    result = functx_command("check", "logsum", "--checks", "jit", "--dtypes", "float32")
    assert "lacks" not in result.stdout


def test_what_is_said_of_several_dtypes_is_said_once(functx_command):
    def mistaken(make):
        raise ValueError("no samples")

    both = OpInfo(functx.sin, mistaken, reference=np.sin, variant="raising")
    check_command.op_db.append(both)
    words = ("--checks", "reference", "--dtypes", "float32,float64")
    result = functx_command("check", "sin-raising", *words)
    assert "sin-raising float32, float64 reference: ValueError: no samples" in result.stdout


@pytest.mark.parametrize("width", [60, 80, 200])
def test_tables_fit_the_width_and_letters_are_explained(functx_command, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = functx_command("check", "^sin", "--dtypes", "float32").stdout.splitlines()
    assert max(map(len, lines[: lines.index("")])) <= width
    head = lines[0].split()
    if width < 200:
        assert head[:3] == ["operator", "a", "b"] and "a forward" in " ".join(lines)
    else:
        assert head[:3] == ["operator", "forward", "dtypes"]


def test_mutants_shows_what_was_caught_and_what_survives(functx_command, monkeypatch, tmp_path):
    caught = Verdict("sin", "rank 0", "", "reference", "float32", 1)
    survivor = Verdict("sin", "option's value", "out", touched=0)
    monkeypatch.setattr(mutants_command, "hunt_entry", lambda info, entries: [caught, survivor])
    result = functx_command("mutants", "sin-wrong", "--json", tmp_path / "mutants.json")
    assert result.exit_code == 1
    for fact in ("1/1", "0/1", "option's value (out): no sample has it", "1 of 2 mutants caught"):
        assert fact in result.stdout
    data = json.loads((tmp_path / "mutants.json").read_text())
    assert (data["planted"], data["caught"]) == (2, 1)
    assert data["mutants"][0]["check"] == "reference"


def test_mutants_with_a_journal_hunts_what_survived_or_has_changed(
    functx_command, monkeypatch, tmp_path
):
    hunted, survives = [], {"sin-wrong"}

    def hunt(info, entries):
        hunted.append(info.id)
        return [Verdict(info.id, "rank 0", "", "" if info.id in survives else "reference")]

    monkeypatch.setattr(mutants_command, "hunt_entry", hunt)
    words = ("mutants", "--journal", tmp_path / "mutants.jsonl")
    assert functx_command(*words).exit_code == 1 and hunted == ["sin", "sin-wrong"]
    survives.clear()
    result = functx_command(*words)
    assert result.exit_code == 0 and hunted[2:] == ["sin-wrong"]
    assert "2 of 2 mutants caught" in result.stdout
    monkeypatch.setattr(hunt_journal, "source_digest", lambda info: "changed")
    assert functx_command(*words).exit_code == 0 and hunted[3:] == ["sin", "sin-wrong"]


def test_a_line_of_a_journal_of_mutants_that_holds_no_verdicts_is_named(functx_command, tmp_path):
    file = tmp_path / "mutants.jsonl"
    functx_command("mutants", "sin", "--journal", file)
    file.write_text(file.read_text() + "{}\n")
    number = len(file.read_text().splitlines())
    result = functx_command("mutants", "sin", "--journal", file)
    assert result.exit_code == 2
    assert f"line {number}, holds no verdicts" in " ".join(result.output.split())


def test_mutants_report_is_a_page_of_the_score_the_survivors_and_the_kinds(
    functx_command, monkeypatch, tmp_path
):
    caught = Verdict("sin", "rank 0", "", "reference", "float32", 1)
    survivor = Verdict("sin", "option's value", "<out>", touched=3)
    monkeypatch.setattr(mutants_command, "hunt_entry", lambda info, entries: [caught, survivor])
    result = functx_command("mutants", "sin-wrong", "--report", tmp_path / "page.html")
    assert f"wrote {tmp_path / 'page.html'}" in result.stdout
    page = html.unescape((tmp_path / "page.html").read_text())
    assert "<title>functx mutants: 1 of 2 caught</title>" in page and "<b>50.0 %</b>" in page
    assert "option's value (<out>):\n 3 looks" in page and KINDS["option's value"].why in page
    assert '<th scope="row">sin</th><td class="f">0/1</td><td class="p">1/1</td>' in page
    assert "not complete" not in page and "http" not in page


def test_an_entry_that_raises_fails_and_leaves_the_others_to_be_hunted(
    functx_command, monkeypatch, tmp_path
):
    caught = Verdict("sin", "rank 0", "", "reference", "float32", 1)

    def hunt(info, entries):
        if info.variant:
            raise ValueError("no samples of [sin]")
        return [caught]

    monkeypatch.setattr(mutants_command, "hunt_entry", hunt)
    result = functx_command("mutants", "^sin", "--json", tmp_path / "found.json")
    assert result.exit_code == 1 and "mutants caught" in result.stdout
    assert "sin-wrong raises ValueError: no samples of [sin]" in result.stdout
    data = json.loads((tmp_path / "found.json").read_text())
    assert data["errors"] == {"sin-wrong": "ValueError: no samples of [sin]"}
    assert data["caught"] == data["planted"] >= 1


def test_mutants_all_caught_is_success(functx_command, monkeypatch):
    caught = Verdict("sin", "rank 0", "", "reference", "float32", 1)
    monkeypatch.setattr(mutants_command, "hunt_entry", lambda info, entries: [caught])
    result = functx_command("mutants", "sin-wrong")
    assert result.exit_code == 0 and "1 of 1 mutants caught" in result.stdout
