"""The written report: all files are there, the page is self-contained, and the figures say what they show."""

import csv
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armspan.diversity import audit_log
from armspan.environments import paper_1a
from armspan.experiments import ALL, Effort, PanelResult, reproduce
from armspan.experiments.spec import Spec
from armspan.policies import Greedy, LinUCB, LinUCBd
from armspan.report import experiment, figures, reproduction
from armspan.report.audit import arm_rows, audit_figure
from armspan.report.explanation import evidence_figure
from armspan.report.numbers import reproduction as numbers
from armspan.simulation import load_result, simulate

EFFORT = Effort(runs=5, horizon=300, draws=6)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("report")
    outcomes = dict(reproduce(ALL, EFFORT, lambda stage: lambda done, total: None))
    for key, outcome in outcomes.items():
        numbers.keep(key, outcome, folder)
    reproduction.write(outcomes, EFFORT, folder)
    return folder, outcomes


def self_contained(text: str) -> bool:
    """No address outside the page is asked for, and links within it lead somewhere."""
    sources = re.findall(r"(?:src|href)\s*=\s*['\"]([^'\"]*)", text) + re.findall(r"url\(([^)]*)\)", text)
    inside = {f"#{name}" for name in re.findall(r"id='([^']*)'", text)}
    return all(source.startswith("data:") or source in inside for source in sources) and "<script" not in text


def test_all_files_are_written(written: Any) -> None:
    folder, outcomes = written
    names = {
        "figure-1a",
        "figure-1b",
        "figure-1c",
        "figure-1c-typical",
        "figure-1c-survey",
        "figure-dial",
        "figure-idea",
    }
    for name in names:
        assert (folder / f"{name}.svg").read_text().startswith("<?xml")
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    for key in ("1a", "1b", "1c", "1c-typical", "dial-0.1"):
        again = load_result(folder / "results" / f"{key}.npz")
        np.testing.assert_array_equal(again.pseudo_regret, numbers.results_of(outcomes)[key].pseudo_regret)


def test_the_page_is_self_contained_and_says_what_came_out(written: Any) -> None:
    folder, outcomes = written
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert self_contained(text)
    assert text.count("<figure>") == 7
    for outcome in outcomes.values():
        if isinstance(outcome, PanelResult):
            assert outcome.panel.title in text
            for finding in outcome.findings:
                assert html.escape(finding.statement) in text
                assert html.escape(finding.outcome) in text


def test_the_summary_has_the_numbers(written: Any) -> None:
    folder, outcomes = written
    content = json.loads((folder / "summary.json").read_text())
    assert content["settings"] == vars(EFFORT)
    assert set(content["figures"]) == set(outcomes)
    final = outcomes["1a"].result.curves("greedy")[:, -1].mean()
    entry = next(row for row in content["figures"]["1a"]["policies"] if row["policy"] == "greedy")
    assert entry["mean"] == pytest.approx(final)


def test_the_curves_are_a_table(written: Any) -> None:
    folder, outcomes = written
    with (folder / "curves.csv").open() as file:
        rows = list(csv.DictReader(file))
    result = outcomes["1b"].result
    ours = [float(row["mean"]) for row in rows if (row["figure"], row["policy"]) == ("1b", "LinUCB-d")]
    np.testing.assert_allclose(ours, result.mean()[0], rtol=1e-5)


def test_a_regret_figure_has_labels_and_tells_its_lines_apart() -> None:
    result = simulate(paper_1a(), [LinUCBd(), LinUCB(), Greedy()], horizon=5000, runs=5)
    axes = figures.regret_figure(result, "a title").axes[0]
    assert axes.get_xscale() == "log"
    assert "step" in axes.get_xlabel()
    assert "pseudo-regret" in axes.get_ylabel()
    assert "± 2 sd" in axes.get_ylabel()
    looks = [(str(line.get_color()), str(line.get_linestyle())) for line in axes.lines[:3]]
    assert len({colour for colour, _ in looks}) == len({style for _, style in looks}) == 3
    ends = {text.get_text() for text in axes.texts}
    assert ends >= {f"{name}: {end:,.0f}" for name, end in zip(result.policies[:2], result.mean()[:2, -1], strict=True)}
    shade = np.asarray(axes.collections[0].get_paths()[0].vertices)
    last = shade[np.isclose(shade[:, 0], 5000)][:, 1]
    mean, sd = result.mean()[0, -1], result.sd()[0, -1]
    assert last.min() == pytest.approx(mean - 2 * sd)
    assert last.max() == pytest.approx(mean + 2 * sd)


def test_a_described_experiment(tmp_path: Path) -> None:
    result = simulate(paper_1a(), LinUCBd(), horizon=300, runs=5)
    spec = Spec("<mine & yours>", paper_1a(), (LinUCBd(),), 300, 5, 0)
    text = experiment.write(spec, result, tmp_path).read_text(encoding="utf-8")
    assert self_contained(text)
    assert "&lt;mine &amp; yours&gt;" in text
    assert "1.5 Diverse contexts" in text
    assert {entry.name for entry in tmp_path.iterdir()} == {
        "result.npz", "curves.csv", "summary.json", "figure.svg", "figure.png", "report.html",
    }  # fmt: skip


def test_the_evidence_of_an_explanation_is_drawn() -> None:
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=2, n_features=4, memory=40)
    rng = np.random.default_rng(0)
    for _ in range(100):
        agent.update(0, rng.normal(size=4), 1.0)
    figure = evidence_figure(agent.explain(rng.normal(size=4), 0))
    left, right = figure.axes
    bars = right.patches
    assert len(bars) == len(left.patches) == 12 + 3
    assert sum(bar.get_width() for bar in bars) == pytest.approx(1.0)  # type: ignore[attr-defined]


def test_the_figure_of_an_audit_shows_its_intervals() -> None:
    rng = np.random.default_rng(0)
    X, arms = np.column_stack([np.ones(600), rng.normal(size=600)]), rng.integers(2, size=600)
    rewards = np.where(arms == 0, 1, -1) * X[:, 1] + 0.3 * rng.normal(size=600)
    found = audit_log(X, arms.tolist(), rewards, feature_names=["one", "age"], arm_names=[0, 1, 2])
    often, spread, where = audit_figure(found).axes[:3]
    for axes, intervals in (
        (often, [arm.best for arm in found.arms]),
        (spread, [arm.spread for arm in found.arms]),
    ):
        ends = np.array([np.asarray(line.get_xdata(), dtype=float) for line in axes.lines if line.get_marker() == "|"])
        ticks = dict(zip([label.get_text() for label in axes.get_xticklabels()], axes.get_xticks(), strict=True))
        np.testing.assert_allclose(np.where(ends == ticks["0"], 0.0, ends).T, intervals)
    assert [label.get_text() for label in often.get_yticklabels()] == ["0", "1", "2"]
    assert spread.get_xlim()[1] >= 3  # of arm 2, which has no rows, nothing is known
    weights: Any = np.ma.filled(np.ma.asarray(where.images[0].get_array(), dtype=float), np.nan)
    assert np.isnan(weights[2]).all()
    np.testing.assert_allclose(weights[:2].sum(axis=1), 1)
    assert arm_rows(found)[2] == ["2", "0", "0.0% to 100.0%", "0 to 3", "not known"]
