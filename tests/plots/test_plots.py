"""Everything that can be plotted: what is drawn is what was found, in the axes that were given."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import armspan
from armspan.diversity import audit_log
from armspan.environments import diversity_dial, paper_1a, paper_1c
from armspan.errors import InvalidParameter, NotApplicable
from armspan.experiments.arena import PROBLEMS
from armspan.experiments.standing import Arena, Bout


@pytest.fixture(scope="module")
def result() -> Any:
    policies = [armspan.LinUCBd(), armspan.Greedy(), armspan.ContextUCB()]
    return armspan.simulate(paper_1a(), policies, horizon=2000, runs=6, events=True)


@pytest.fixture(scope="module")
def report() -> Any:
    return armspan.audit(paper_1a())


@pytest.fixture(scope="module")
def logged() -> Any:
    rng = np.random.default_rng(0)
    X, arms = np.column_stack([np.ones(600), rng.normal(size=600)]), rng.integers(2, size=600)
    rewards = np.where(arms == 0, 1, -1) * X[:, 1] + 0.3 * rng.normal(size=600)
    return audit_log(X, arms.tolist(), rewards, feature_names=["one", "age"], arm_names=[0, 1, 2])


@pytest.fixture(scope="module")
def table() -> Any:
    envs = armspan.grid(diversity_dial, level=[0.0, 0.1, 1.0])
    return armspan.sweep(envs, [armspan.LinUCBd(), armspan.Greedy()], horizon=300, runs=5)


@pytest.fixture(scope="module")
def arena() -> Any:
    policies, bouts = [armspan.LinUCBd(), armspan.Greedy()], []
    for problem in PROBLEMS[:2]:
        env = problem.make()
        bouts.append(Bout(problem, env, armspan.simulate(env, policies, horizon=300, runs=5)))
    return Arena(tuple(bouts))


@pytest.fixture(scope="module")
def diary() -> Any:
    agent = armspan.LinUCBd(feature_bound=1.5, parameter_bound=1.0).agent(arms=["a", "b"], n_features=2, seed=1)
    diary, rng = armspan.Diary(agent), np.random.default_rng(0)
    for step in range(120):
        if step == 60:
            agent.add_arm("c")
        x = rng.normal(size=2)
        diary.note(x)
        agent.update(agent.choose(x), x, float(rng.normal()))
    return diary


DRAWN = [
    ("result", lambda one, ax: one.plot(ax=ax)),
    *[("result", lambda one, ax, what=what: one.plot_events(what=what, ax=ax)) for what in ("regret", "end")],
    *[("result", lambda one, ax, what=what: one.plot_events(what=what, ax=ax)) for what in ("knowledge", "pulls")],
    *[("report", lambda one, ax, what=what: one.plot(what, ax=ax)) for what in ("best", "spread", "direction", "span")],
    *[("logged", lambda one, ax, what=what: one.plot(what, ax=ax)) for what in ("best", "spread", "direction")],
    *[("table", lambda one, ax, x=x: armspan.plot_sweep(one, x, ax=ax)) for x in (None, "lambda_0", "environment")],
    *[("arena", lambda one, ax, what=what: one.plot(what, ax=ax)) for what in ("table", "standing")],
    *[("diary", lambda one, ax, what=what: one.plot(what, ax=ax)) for what in ("exploration", "diversity")],
]


@pytest.mark.parametrize(("name", "draw"), DRAWN)
def test_every_plot_names_its_axes_and_draws_where_it_is_told(name: str, draw: Any, request: Any) -> None:
    found = request.getfixturevalue(name)
    own = draw(found, None)
    assert isinstance(own, Axes)
    assert own.figure is plt.gcf()
    labels = [
        own.get_xlabel(),
        own.get_ylabel(),
        own.get_title(),
        *(label.get_text() for label in own.get_yticklabels()),
    ]
    assert all(labels[:2]) or name == "arena", labels  # whose rows and columns have names instead
    assert any(labels[3:])
    given = Figure().subplots()
    assert draw(found, given) is given
    assert len(given.lines) == len(own.lines)
    given.figure.savefig("/dev/null", format="png")


@pytest.mark.parametrize(("name", "draw"), DRAWN)
def test_axes_must_be_axes(name: str, draw: Any, request: Any) -> None:
    with pytest.raises(InvalidParameter, match="ax must be Matplotlib Axes or None, got 3"):
        draw(request.getfixturevalue(name), 3)


def test_regret_is_drawn_as_it_is_one_line_per_policy(result: Any) -> None:
    axes = result.plot()
    assert [line.get_label() for line in axes.lines] == list(result.policies)
    for p, line in enumerate(axes.lines):
        np.testing.assert_array_equal(line.get_xdata(), result.checkpoints)
        np.testing.assert_array_equal(line.get_ydata(), result.pseudo_regret[p].mean(axis=0))
    low, high = result.interval()
    for p, band in enumerate(axes.collections):
        edges = np.asarray(band.get_paths()[0].vertices)
        last = edges[edges[:, 0] == 2000][:, 1]
        assert (last.min(), last.max()) == pytest.approx((low[p, -1], high[p, -1]))
    looks = {(line.get_color(), str(line.get_linestyle())) for line in axes.lines}
    assert len({colour for colour, _ in looks}) == len({style for _, style in looks}) == 3
    assert "mean of 6 runs, shaded: 95 % interval" in axes.get_legend().get_title().get_text()


def test_regret_of_some_policies_with_two_standard_deviations(result: Any) -> None:
    axes = result.plot(["greedy", "LinUCB-d"], shade="sd", log="")
    assert [line.get_label() for line in axes.lines] == ["greedy", "LinUCB-d"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    edges = np.asarray(axes.collections[0].get_paths()[0].vertices)
    final = result.curves("greedy")[:, -1]
    last = edges[edges[:, 0] == 2000][:, 1]
    assert last.max() == pytest.approx(final.mean() + 2 * final.std(ddof=1))
    assert [line.get_label() for line in result.plot("greedy", shade="").lines] == ["greedy"]
    assert not result.plot(shade="").collections


def test_the_title_of_a_legend_is_no_wider_than_its_axes(result: Any) -> None:
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for axes in panels:
        result.plot(ax=axes, log="xy")
    figure.draw_without_rendering()
    for axes in panels:
        legend = axes.get_legend()
        assert legend.get_title().get_text().replace("\n", " ") == legend_title(result.plot())
        assert legend.get_window_extent().width <= axes.get_window_extent().width


def legend_title(axes: Any) -> str:
    return str(axes.get_legend().get_title().get_text())


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_axes_are_logarithmic_as_asked_for(log: str, result: Any) -> None:
    axes = result.plot(log=log)
    assert (axes.get_xscale() == "log", axes.get_yscale() == "log") == ("x" in log, "y" in log)
    assert ("log" in axes.get_xlabel(), "log" in axes.get_ylabel()) == ("x" in log, "y" in log)


@pytest.mark.parametrize("log", ["y", "xy"])
def test_no_regret_has_no_logarithm(log: str) -> None:
    sure = armspan.simulate(paper_1a(), armspan.Oracle(), horizon=200, runs=2)
    with pytest.raises(InvalidParameter, match='log must be "" or "x", as oracle has no regret'):
        sure.plot(log=log)


def test_a_single_run_has_no_band(result: Any) -> None:
    one = armspan.simulate(paper_1a(), armspan.LinUCBd(), horizon=200, runs=1)
    axes: Any = one.plot()
    assert not axes.collections
    assert axes.get_legend().get_title().get_text() == "one run"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policies": ["LinTS"]}, "policy must be one of LinUCB-d, greedy, UCB per context, got 'LinTS'"),
        ({"policies": []}, "policies must name at least one policy, got none"),
        ({"log": "z"}, "log must be one of \"\", x, y, xy, got 'z'"),
        ({"shade": "se"}, "shade must be one of interval, sd, \"\", got 'se'"),
    ],
)
def test_bad_options_of_a_result(options: Any, said: str, result: Any) -> None:
    with pytest.raises(InvalidParameter, match=said):
        result.plot(**options)


def test_events_are_drawn_as_they_were_counted(result: Any) -> None:
    events = result.events["LinUCB-d"]
    bars: Any = result.plot_events().patches
    heights = np.array([bar.get_height() for bar in bars]).reshape(4, -1)
    np.testing.assert_allclose(heights, events.regret.mean(axis=0).T)
    line = result.plot_events("LinUCB-d", "knowledge").lines[1]
    np.testing.assert_allclose(line.get_ydata(), events.eigenvalues[:, :, 1].mean(axis=0))
    step = result.plot_events(what="end").lines[0]
    np.testing.assert_array_equal(step.get_xdata(), np.sort(events.last_suboptimal))
    with pytest.raises(InvalidParameter, match="policy must be one of LinUCB-d, greedy, got 'UCB per context'"):
        result.plot_events("UCB per context")
    with pytest.raises(InvalidParameter, match="what must be one of regret, end"):
        result.plot_events(what="all")
    with pytest.raises(NotApplicable, match="needs a result with events"):
        armspan.simulate(paper_1a(), armspan.LinUCBd(), horizon=20, runs=1).plot_events()


def ends_of_bars(axes: Any) -> Any:
    """The ends (K, 2) of horizontal bars, with 0 where the axis says 0."""
    ends = np.array([np.asarray(line.get_xdata(), dtype=float) for line in axes.lines if line.get_marker() == "|"])
    ticks = dict(zip([label.get_text() for label in axes.get_xticklabels()], axes.get_xticks(), strict=True))
    return np.where(ends == ticks.get("0", 0.0), 0.0, ends).T


def test_an_audit_is_drawn_with_its_intervals(report: Any, logged: Any) -> None:
    for axes, found in (
        (report.plot(), [arm.probability_interval for arm in report.arms]),
        (report.plot("spread"), [arm.second_moment_interval for arm in report.arms]),
        (logged.plot(), [arm.best for arm in logged.arms]),
        (logged.plot("spread"), [arm.spread for arm in logged.arms]),
    ):
        np.testing.assert_allclose(ends_of_bars(axes), found)
    arms = report.plot("span").lines
    np.testing.assert_array_equal(np.column_stack(arms[0].get_data()), report.arms[0].features)
    names = [label.get_text() for label in logged.plot("direction").get_yticklabels()]
    assert names == ["0", "1", "2"]
    weights: Any = np.ma.filled(np.ma.asarray(logged.plot("direction").images[0].get_array(), dtype=float), np.nan)
    np.testing.assert_allclose(weights[:2].sum(axis=1), 1)
    assert np.isnan(weights[2]).all()  # of which nothing is known


def test_an_arm_that_was_never_seen_best_has_a_bar_without_an_end() -> None:
    found = armspan.audit(paper_1c(0))
    unknown = [a for a, arm in enumerate(found.arms) if np.isinf(arm.second_moment_interval[1])]
    axes = found.plot("spread")
    bars = np.array([segment[:, 0] for segment in axes.collections[0].get_segments()])  # type: ignore[attr-defined]
    assert unknown
    assert (bars[unknown, 1] == axes.get_xlim()[1]).all()
    points = next(line for line in axes.lines if line.get_marker() == "o")
    assert np.isnan(np.asarray(points.get_xdata(), dtype=float)[unknown]).all()
    assert (bars[unknown, 0] == axes.get_xticks()[0]).all()
    assert axes.get_xticklabels()[0].get_text() == "0"
    assert len([line for line in axes.lines if isinstance(line.get_marker(), list)]) == 1  # the axis is broken at 0
    with pytest.raises(NotApplicable, match="draws two features, and these contexts have 4"):
        found.plot("span")
    with pytest.raises(InvalidParameter, match="what must be one of best, spread, direction, span, got 'all'"):
        found.plot("all")


def test_a_sweep_is_drawn_with_zero_behind_a_break(table: Any) -> None:
    axes: Any = armspan.plot_sweep(table, "lambda_0")
    own = table[table["policy"] == "LinUCB-d"]
    lines = [line for line in axes.lines if line.get_color() == "#0072B2" and line.get_marker() == "o"]
    drawn = {float(x): float(y) for line in lines for x, y in zip(*line.get_data(), strict=True)}
    assert list(drawn.values()) == pytest.approx([*own["mean"][1:], own["mean"].iloc[0]])
    assert list(drawn)[:2] == pytest.approx(list(own["lambda_0"][1:]))
    assert 0 < list(drawn)[2] < own["lambda_0"].iloc[1]
    assert axes.get_xticklabels()[0].get_text() == "0"
    assert axes.get_xticks()[0] == list(drawn)[2]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["LinUCB-d", "greedy"]
    assert "log" not in armspan.plot_sweep(table, "lambda_0", log="").get_xlabel()


def test_what_a_sweep_is_drawn_against_tells_its_cells_apart(table: Any) -> None:
    assert armspan.plot_sweep(table).get_xlabel().startswith("environment's level")
    policies = armspan.grid(armspan.LinUCB, alpha=[0.1, 1.0])
    of_policies = armspan.sweep([paper_1a()], policies, horizon=100, runs=3)
    assert armspan.plot_sweep(of_policies).get_xlabel().startswith("policy's alpha")
    twice = armspan.sweep({"one": paper_1a(), "two": paper_1a()}, [armspan.LinUCBd()], horizon=100, runs=3)
    axes = armspan.plot_sweep(twice)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["one", "two"]
    with pytest.raises(InvalidParameter, match="different ones in all rows of a line, got 'lambda_0'"):
        armspan.plot_sweep(twice, "lambda_0")
    with pytest.raises(InvalidParameter, match=r"x must have a number in some rows.*got 'growth'"):
        armspan.plot_sweep(table, "growth")
    with pytest.raises(InvalidParameter, match=r"x must be one of environment, policy.*got 'level'"):
        armspan.plot_sweep(table, "level")
    with pytest.raises(InvalidParameter, match=r"table must be what armspan.sweep returned, got one without mean"):
        armspan.plot_sweep(table.drop(columns="mean"))
    with pytest.raises(InvalidParameter, match="got no rows"):
        armspan.plot_sweep(table[:0])
    with pytest.raises(InvalidParameter, match="log must be one of"):
        armspan.plot_sweep(table, log="both")


def test_the_arena_is_drawn_with_its_ratios(arena: Any) -> None:
    axes = arena.plot()
    names, keys, values = arena.table()
    shown: Any = axes.images[0].get_array()
    np.testing.assert_allclose(10**shown, np.clip(values, 1, 100))
    assert [label.get_text() for label in axes.get_yticklabels()] == names
    assert [label.get_text() for label in axes.get_xticklabels()] == keys
    points = arena.plot("standing").lines[2].get_xdata()
    np.testing.assert_allclose(points, [place.relative.value for place in arena.standing])
    with pytest.raises(InvalidParameter, match="what must be one of table, standing, got 'heat'"):
        arena.plot("heat")


def test_a_diary_holds_what_the_agent_said_and_leaves_it_alone(diary: Any) -> None:
    assert len(diary) == 120
    np.testing.assert_array_equal(diary.decisions, np.arange(120))
    noted = diary.note([1.0, 0.0])
    assert noted == diary.agent.exploration([1.0, 0.0])
    assert diary.explored[-1] == (noted.chosen != noted.greedy)
    assert diary.open[-1] == bool(noted.overlapping)
    assert diary.decisions[-1] == diary.agent.decisions == 120
    known = {arm.arm: arm.eigenvalue for arm in diary.agent.diversity()}
    assert {arm: values[-1] for arm, values in diary.eigenvalues.items()} == pytest.approx(known)
    assert np.isnan(diary.eigenvalues["c"][:60]).all()  # it came later
    assert np.isfinite(diary.eigenvalues["c"][60:]).all()


def test_a_diary_is_drawn_in_parts(diary: Any) -> None:
    shares = diary.plot().lines[1]
    assert shares.get_label() == "intervals overlap"
    parts = np.array_split(diary.open[:120], 6)
    assert len(shares.get_ydata()) == 6
    np.testing.assert_allclose(np.asarray(shares.get_ydata())[:5], [100 * part.mean() for part in parts[:5]])
    line = diary.plot("diversity").lines[0]
    np.testing.assert_array_equal(line.get_ydata(), diary.eigenvalues["a"])


def test_a_diary_of_an_agent_that_draws_its_decisions() -> None:
    """Shares are those of a thousand draws; errors by chance: below 10⁻⁴."""
    agent, rng = armspan.LinTS(scale=0.5).agent(n_arms=3, n_features=2, intercept=True), np.random.default_rng(0)
    theta, x = rng.normal(size=(3, 2)), np.array([0.3, -0.2])
    diary = armspan.Diary(agent)
    assert diary
    for _ in range(60):
        seen = rng.normal(size=2)
        arm = agent.choose(seen)
        agent.update(arm, seen, theta[arm] @ seen + rng.normal())
    noted = diary.note(x)
    drawn = [agent.choose(x) for _ in range(1000)]
    others = np.mean([arm != noted.greedy for arm in drawn])
    assert abs(others - noted.probability) < 4 * np.sqrt(0.25 / 1000)
    assert set(drawn) <= {noted.greedy, *noted.overlapping}
    loaded = type(agent).from_bytes(agent.to_bytes())
    diary.follow(loaded)
    loaded.choose(x)
    diary.note(x)
    np.testing.assert_array_equal(diary.decisions, [60, 1061])
    labels = [line.get_label() for line in diary.plot().lines]
    assert labels == ["not the best estimate", "another arm may be chosen"]


def test_bad_diaries() -> None:
    agent = armspan.LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=2, n_features=1)
    with pytest.raises(NotApplicable, match="nothing to draw"):
        armspan.Diary(agent).plot()
    with pytest.raises(NotApplicable, match="a diary needs an agent of armspan, got 'an agent'"):
        armspan.Diary("an agent")
    random = armspan.Diary(armspan.RandomChoice().agent(n_arms=2, n_features=1))
    random.note([1.0])
    with pytest.raises(NotApplicable, match="nothing to draw: how well arms are known is not told by <Agent of Random"):
        random.plot("diversity")
    with pytest.raises(InvalidParameter, match="what must be one of exploration, diversity, got 'time'"):
        armspan.Diary(agent).plot("time")


def test_without_matplotlib_a_sentence_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import armspan\n"
        "result = armspan.simulate(armspan.environments.paper_1a(), armspan.LinUCBd(), horizon=10, runs=2)\n"
        "result._repr_html_()\n"
        "try: result.plot()\n"
        "except armspan.ArmspanError as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "MissingExtra plots need Matplotlib: pip install 'armspan[lab]'\n"


def test_nothing_but_a_plot_imports_matplotlib() -> None:
    script = (
        "import sys, armspan\n"
        "env = armspan.environments.paper_1a()\n"
        "armspan.simulate(env, armspan.LinUCBd(), horizon=10, runs=2, events=True)._repr_html_()\n"
        "armspan.audit(env)._repr_html_(); armspan.plot_sweep; armspan.Diary; armspan.experiments\n"
        "armspan.LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=2, n_features=1)._repr_html_()\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
