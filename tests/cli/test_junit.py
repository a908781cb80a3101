"""A run as JUnit XML."""

from xml.etree import ElementTree

import pytest
from made_runs import CELLS, run

from functx.cli.junit import write_junit


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("junit") / "deep" / "run.xml"
    write_junit(path, run())
    return ElementTree.parse(path).getroot()


def case(root, operator, name):
    (found,) = root.findall(f"testsuite[@name='{operator}']/testcase[@name='{name}']")
    return found


def test_suites_are_entries_and_cases_their_cells(root):
    cases = [(suite.get("name"), case.get("name")) for suite in root for case in suite]
    assert cases == [(operator, f"{check}[{dtype}]") for operator, dtype, check in CELLS]


def test_suites_count_their_cases(root):
    counts = ("tests", "failures", "errors", "skipped")
    assert [root.get(name) for name in counts] == ["10", "2", "0", "1"]
    norm = root.find("testsuite[@name='linalg.norm-inf']")
    assert [norm.get(name) for name in counts] == ["2", "1", "0", "1"]
    seconds = sum(float(case.get("time")) for case in root.iter("testcase"))
    assert seconds > 0 and float(root.get("time")) == pytest.approx(seconds, abs=1e-3)


def test_a_failure_has_its_sample_and_error(root):
    failure = case(root, "sin", "jit[float32]").find("failure")
    assert failure.get("type") == "fail"
    assert failure.get("message").startswith("AssertionError: sin(f32[2,3])")
    assert "sin(f32[2,3], dim=-1)" in failure.text and "Traceback" in failure.text


def test_what_xml_cannot_hold_is_replaced(root):
    assert "\ufffd[31mline" in case(root, "sin", "jit[float32]").find("failure").text


def test_a_gap_is_skipped_with_its_reason(root):
    gap = case(root, "linalg.norm-inf", "gradient[float64]")
    assert gap.find("skipped").get("message") == "LAPACK has none of them"


def test_a_gap_that_passes_is_a_failure(root):
    stale = case(root, "linalg.norm-inf", "reference[float64]")
    assert stale.find("failure").get("type") == "unexpected pass"


def test_what_passes_says_nothing(root):
    assert len(case(root, "sin", "reference[float64]")) == 0
