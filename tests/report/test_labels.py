"""Names in figures: drawn letter by letter whatever is in them, and no page without its figures."""

from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.text
import numpy as np
import pytest
from matplotlib.figure import Figure

from armspan.cli.main import main
from armspan.diversity import audit_log
from armspan.environments import FiniteContexts, diversity_dial, paper_1a
from armspan.experiments.spec import Spec
from armspan.plots.labels import plain
from armspan.policies import Greedy, LinUCB, LinUCBd
from armspan.report import audit as audit_page
from armspan.report import events, experiment, figures
from armspan.report.explanation import evidence_figure
from armspan.simulation import simulate

NAMES = ["$5 off", "a$b$c", "x_{", "\\frac", "a\\$b", "$$", "^_^", "_mine", "$\\frac$", "100 %", "#1 & more"]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What Matplotlib was about to draw: each text, and whether it reads it as a formula."""
    seen: list[tuple[str, Any]] = []
    usual = matplotlib.text.Text._preprocess_math  # type: ignore[attr-defined]

    def watched(self: Any, text: str) -> Any:
        result = usual(self, text)
        seen.append(result)
        return result

    monkeypatch.setattr(matplotlib.text.Text, "_preprocess_math", watched)
    return seen


def draw(figure: Figure) -> None:
    figure.savefig(BytesIO(), format="svg")


def letters(drawn: list[tuple[str, Any]]) -> set[str]:
    return {text.strip() for text, formula in drawn if formula is False}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_drawn_as_it_stands(name: str, drawn: list[tuple[str, Any]]) -> None:
    figure = Figure(figsize=(2, 2))
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], label=plain(name))
    axes.set_title(plain(f"{name}, {name}"))
    axes.legend()
    draw(figure)
    assert letters(drawn) >= {name, f"{name}, {name}"}


def test_audits_draw_arms_features_and_files_of_any_name(drawn: list[tuple[str, Any]]) -> None:
    rng = np.random.default_rng(0)
    arms, X = rng.integers(len(NAMES), size=1500), rng.normal(size=(1500, len(NAMES)))
    rewards = X[np.arange(1500), arms] + 0.3 * rng.normal(size=1500)
    features = [f"{name}=$3" for name in NAMES]
    found = audit_log(X, [NAMES[a] for a in arms], rewards, feature_names=features, name="$a_{$.csv")
    draw(audit_page.audit_figure(found))
    assert letters(drawn) >= {*NAMES, *features, "Diversity of $a_{$.csv"}


def test_runs_draw_policies_and_environments_of_any_name(drawn: list[tuple[str, Any]]) -> None:
    env = FiniteContexts(paper_1a().features, paper_1a().theta)
    env.name = "$a_{$"
    policies = [LinUCBd(label=name) for name in NAMES[:-1]] + [Greedy(label="$ls$", feature_bound=1.0)]
    result = simulate(env, policies, horizon=3000, runs=5, events=True, workers=1)
    draw(figures.regret_figure(result, "$\\frac$"))
    draw(events.events_figure(env, result, "a$b$c"))
    draw(events.bounds_figure(env, result))
    assert letters(drawn) >= {"$\\frac$", "a$b$c in $a_{$, 5 runs", "a$b$c, measured"}
    ends = {text.rpartition(": ")[0] for text in letters(drawn)}  # names stand at the ends of the curves
    assert ends >= {*NAMES[:-1], "$ls$"}


def test_a_curve_cut_off_at_the_top_is_named_as_it_stands(drawn: list[tuple[str, Any]]) -> None:
    policies = [LinUCBd(), LinUCB(alpha=0.3, label="$50$")]
    result = simulate(diversity_dial(1.0), policies, horizon=3000, runs=5, workers=1)
    draw(figures.regret_figure(result, "title"))
    assert any(text.startswith("$50$: ") for text in letters(drawn))


def test_explanations_draw_arms_of_any_name(drawn: list[tuple[str, Any]]) -> None:
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(arms=["a$b$c", "x"], n_features=1)
    agent.update("a$b$c", np.ones(1), 1.0)
    draw(evidence_figure(agent.explain(np.ones(1), "a$b$c")))
    assert any(text.startswith("arm a$b$c: mean") for text in letters(drawn))


def fails(*_: Any, **__: Any) -> Figure:
    raise ValueError("cannot draw")


def test_an_audit_that_cannot_be_drawn_leaves_the_old_page_and_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "out"
    rng = np.random.default_rng(0)
    rows = [f"{'ab'[i % 2]},{rng.normal()},{rng.normal()}" for i in range(100)]
    log.write_text("\n".join(["arm,reward,age", *rows]))
    assert main(["audit", str(log), "--out", str(out)]) == 0
    before = {path: path.read_bytes() for path in out.iterdir()}
    log.write_text("\n".join(["arm,reward,age", *rows[:60]]))
    monkeypatch.setattr("armspan.report.page.picture", fails)
    with pytest.raises(ValueError, match="cannot draw"):
        main(["audit", str(log), "--out", str(out)])
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_experiments_that_cannot_be_drawn_leave_no_page_and_no_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = simulate(paper_1a(), [LinUCBd(), Greedy()], horizon=300, runs=5, events=True, workers=1)
    monkeypatch.setattr("armspan.report.page.picture", fails)
    with pytest.raises(ValueError, match="cannot draw"):
        experiment.write(Spec("mine", paper_1a(), (LinUCBd(), Greedy()), 300, 5, 0), result, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["result.npz"]  # what was computed is never lost
    (tmp_path / "result.npz").unlink()
    monkeypatch.undo()
    monkeypatch.setattr("armspan.report.events.bounds_figure", fails)  # the last one
    with pytest.raises(ValueError, match="cannot draw"):
        events.write("mine", paper_1a(), result, tmp_path)
    assert list(tmp_path.iterdir()) == []
