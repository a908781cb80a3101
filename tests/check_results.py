"""What the operator tests found, as `functx check` writes it: `--check-json FILE` and others."""

import dataclasses


OPTIONS = ("--check-json", "--check-report", "--check-junit")
RECORDED = "cells"


def wanted(config):
    """The files that were asked for, by option."""
    return {name: path for name in OPTIONS if (path := config.getoption(name)) is not None}


def record(request, results):
    """Leaves results with a test, whose report takes them along, from workers too."""
    if wanted(request.config):
        cells = [dataclasses.asdict(result) for result in results]
        request.node.user_properties.append((RECORDED, cells))


class CheckResults:
    """A plugin: gathers what tests recorded, and writes it at the end."""

    def __init__(self, config):
        self.config, self.cells, self.times = config, [], []

    def pytest_runtest_logreport(self, report):
        recorded = [cells for name, cells in report.user_properties if name == RECORDED]
        if report.when == "call" and recorded:
            self.cells += recorded[0]
            self.times += [report.start, report.stop]

    def pytest_terminal_summary(self, terminalreporter):
        from functx.cli.junit import write_junit
        from functx.cli.report import as_data, write_html, write_json
        from functx.cli.runner import Plan, Result
        from functx.cli.selection import select_dtypes
        from functx.testing import op_db

        get = self.config.getoption
        plan = Plan(
            tuple(op_db),
            select_dtypes(get("--dtypes")),
            device=get("--device"),
            samples=get("--samples"),
            profile=get("--profile"),
        )
        planned = {cell: i for i, cell in enumerate(plan.cells())}
        results = [Result(**cell) for cell in self.cells]
        results.sort(key=lambda r: planned[r.cell])
        seconds = max(self.times, default=0) - min(self.times, default=0)
        data = as_data(plan, results, planned=len(planned), seconds=seconds)
        writers = (write_json, write_html, write_junit)
        for write, path in zip(writers, map(get, OPTIONS), strict=True):
            if path is not None:
                write(path, data)
                terminalreporter.write_line(f"wrote {path}")
