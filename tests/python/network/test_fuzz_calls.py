"""A hundred random calls: each succeeds, or is refused with a typed error and changes nothing.

Many more are among the slow tests. A finding tells a script; run it with `fuzz_scripts.run_lines`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz_known import KNOWN
from fuzz_scripts import fuzz, run_lines, run_seed

CALLS = 100


def test_random_calls(tmp_path: Path) -> None:
    accepted, findings = fuzz(1, CALLS, tmp_path)
    unknown = [finding for finding in findings if finding.kind not in {known.kind for known in KNOWN}]
    assert not unknown, "\n\n".join(map(str, unknown))
    assert CALLS // 3 < accepted < CALLS, "both kinds of calls are made"


def test_known_findings_still_occur() -> None:
    gone = [known for known in KNOWN if known.kind not in {kind for kind, _ in run_lines(1, list(known.lines)).faults}]
    assert not gone, "mended: take them out of the list"


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_calls() -> None:
    assert run_seed(7)[1] == run_seed(7)[1] != run_seed(8)[1]


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["[][0]"], "IndexError from <module> of <script>"),
        (["net.name = 3", "net.name = [].pop()"], "IndexError from <module> of <script>"),
        (['exec(\'net.create("iaf_psc_exp", 2)\\nnet.create("iaf_psc_exp", 0)\')'], "changed by a refused exec"),
        (["np.isnan(nan)"], "taken by np.isnan"),
        (["p0 = net.create('iaf_psc_exp', 2)", "p0.ids[[0, 1, 2]]"], "IndexError from <module> of <script>"),
    ],
)
def test_faults_are_found(lines: list[str], kind: str) -> None:
    assert kind in {found for found, _ in run_lines(1, lines).faults}


def test_a_fault_of_a_refused_call_that_shows_later_is_found() -> None:
    lines = [
        "p0 = net.create('iaf_psc_exp', 2)",
        "s0 = net.stimulate(p0, rv.poisson_generator(rate=9000.0), weight=90.0)",
        "r0 = net.record_spikes()",
        # Seen by no state of the description, until it is simulated.
        'exec(\'object.__setattr__(net, "hidden", 1)\\nnet.create("iaf_psc_exp", 0)\')',
        "sim = rv.Simulation(net, threads=1, progress=False)",
        "sim.set(p0, V_m=-40.0 if hasattr(net, 'hidden') else -70.0)",
    ]
    assert "later changed by refused calls" in {kind for kind, _ in run_lines(1, lines).faults}


def test_a_process_that_ends_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz_scripts.PROGRAM", "import os; os.abort()")
    _, findings = fuzz(1, 40, tmp_path)
    assert [finding.kind for finding in findings] == ["process ended with -6 in nothing"]
