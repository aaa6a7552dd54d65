"""The paper's Figure 1 and our own figures, as frozen specifications and the functions that run them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from armspan import _validate
from armspan._text import percent
from armspan._typing import Progress
from armspan.environments import Environment, diversity_dial, paper_1a, paper_1b, paper_1c
from armspan.errors import Interrupted
from armspan.experiments.claims import (
    Claim,
    Finding,
    has_stopped,
    keeps_growing,
    lower_regret,
    same_curves,
    stays_constant,
)
from armspan.experiments.idea import Idea, run_idea
from armspan.experiments.predictions import Prediction, run_predictions
from armspan.experiments.survey import CONTEXTS, Survey, survey_1c
from armspan.experiments.tails import Tails, run_tails
from armspan.policies import ContextUCB, Greedy, LinUCB, LinUCBd, Policy
from armspan.simulation import Result, octaves, simulate
from armspan.simulation.runner import check_sizes

GLOSSES = {
    "1a": "the paper's Figure 1a, contexts with little diversity",
    "1b": "Figure 1b, the same with more diverse contexts",
    "1c": "Figure 1c, contexts that never recur",
    "dial": "LinUCB-d from no diversity to the most",
    "idea": "three of the dial's problems, drawn side by side",
    "predictions": "random problems, forecast and then run",
    "tails": "how regret is distributed over very many runs",
}
"""Every figure, and what it shows in a few words."""
FIGURES = tuple(GLOSSES)
ALL = FIGURES[:-2]
"""What `reproduce all` runs; the predictions take as long again, and the tails want a GPU."""
DIAL_LEVELS = (0.0, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0)


@dataclass(frozen=True)
class Effort:
    """How large a run to make; the defaults are the paper's.

    Parameters
    ----------
    runs : int, default 100
        How many runs.
    horizon : int, default 500000
        Steps per run.
    seed : int, default 0
        Random seed.
    engine : str, default "auto"
        As in `armspan.simulate`.
    draws : int, default 2000
        How many draws of θ the survey of Figure 1c looks at.
    """

    runs: int = 100
    horizon: int = 500_000
    seed: int = 0
    engine: str = "auto"
    draws: int = 2_000  # of θ, in the survey of Figure 1c

    def __post_init__(self) -> None:
        check_sizes(horizon=self.horizon, runs=self.runs, seed=self.seed, engine=self.engine)
        _validate.whole("draws", self.draws, at_least=1)


@dataclass(frozen=True)
class Panel:
    """One picture of regret curves: a problem, the policies in it, and what the paper claims about them.

    Attributes
    ----------
    key : str
        The name by which you ask for it, such as "1a".
    title : str
        Its title.
    says : str
        What the paper says.
    here : str
        What is done here, if that is not obvious.
    env : Environment
        The problem.
    policies : tuple of Policy
        The policies.
    claims : tuple of functions
        From results to findings.
    """

    key: str
    title: str
    says: str
    here: str
    env: Environment
    policies: tuple[Policy, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class PanelResult:
    """A panel that was run, or stopped on the way (then with fewer runs).

    Attributes
    ----------
    panel : Panel
        What was run.
    result : Result
        Its regret curves.
    findings : tuple of Finding
        What was confirmed and what was not.
    """

    panel: Panel
    result: Result
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class DialResult:
    """LinUCB-d along the diversity dial: one result per level.

    Attributes
    ----------
    levels : tuple of float
        The levels.
    lambda_0 : tuple of float
        λ₀ at each level.
    results : tuple of Result
        The result at each level.
    """

    levels: tuple[float, ...]
    lambda_0: tuple[float, ...]
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Predictions:
    """Random problems, with what was predicted and what came out.

    Attributes
    ----------
    entries : tuple of Prediction
        One entry per problem.
    """

    entries: tuple[Prediction, ...]


class Announce(Protocol):
    """Called with the stage that begins; returns the progress callback for it."""

    def __call__(self, stage: str) -> Progress: ...


Outcome = PanelResult | Survey | DialResult | Idea | Predictions | Tails


def reproduce(figures: tuple[str, ...], effort: Effort, announce: Announce) -> Iterator[tuple[str, Outcome]]:
    """Run figures one after the other, and yield what each gives under its key.

    Ctrl-C raises `Interrupted`, whose `partial` is the outcome of the current stage as far as it got, or None.

    Parameters
    ----------
    figures : tuple of str
        Which figures, of `FIGURES`.
    effort : Effort
        How large a run to make.
    announce : function
        Called with the name of each stage; returns a function progress(done, total).
    """
    results: dict[str, Result] = {}
    for figure in figures:
        if figure == "1c":
            survey = survey_1c(effort.draws, progress=announce("draws of θ for figure 1c"))
            yield "survey", survey
            panels = [_panel_1c_diverse(survey), _panel_1c_typical(survey)]
        elif figure == "dial":
            yield "dial", _run_dial(effort, announce("diversity dial"))
            continue
        elif figure in ("idea", "predictions", "tails"):
            size = {"runs": effort.runs, "horizon": effort.horizon, "seed": effort.seed}
            if figure == "tails":
                yield "tails", run_tails(**size, engine=effort.engine, progress=announce("tails"))
            elif figure == "idea":
                yield "idea", run_idea(**size, progress=announce("the idea in three problems"))
            else:
                yield "predictions", Predictions(run_predictions(**size, progress=announce("predictions")))
            continue
        else:
            panels = [_PANELS[figure]()]
        for panel in panels:
            yield panel.key, _run_panel(panel, effort, results, announce(f"figure {panel.key}"))


def _run_panel(panel: Panel, effort: Effort, results: dict[str, Result], progress: Progress) -> PanelResult:
    try:
        results[panel.key] = _simulate(panel.env, panel.policies, effort, progress)
    except Interrupted as stop:
        if isinstance(stop.partial, Result):
            results[panel.key] = stop.partial
            stop.partial = _judged(panel, results)
        raise
    return _judged(panel, results)


def _judged(panel: Panel, results: Mapping[str, Result]) -> PanelResult:
    return PanelResult(panel, results[panel.key], tuple(claim(results) for claim in panel.claims))


def _run_dial(effort: Effort, progress: Progress) -> DialResult:
    problems = [diversity_dial(level) for level in DIAL_LEVELS]
    done: list[Result] = []

    def outcome() -> DialResult:
        return DialResult(DIAL_LEVELS[: len(done)], tuple(env.lambda_0() for env in problems[: len(done)]), tuple(done))

    def part(steps: int, total: int) -> None:
        progress(len(done) * total + steps, len(problems) * total)

    try:
        for env in problems:
            done.append(_simulate(env, (LinUCBd(),), effort, part, _dial_checkpoints(effort.horizon)))
    except Interrupted as stop:
        stop.partial = outcome() if done else None
        raise
    return outcome()


def _dial_checkpoints(horizon: int) -> list[int]:
    """The steps at which the dial's figure is drawn, and those of the growth verdict."""
    drawn = {max(1, -(-horizon // part)) for part in (1000, 100, 10, 1)}
    return sorted(drawn | set(octaves.edges(horizon)[:-1].tolist()))


def _simulate(
    env: Environment,
    policies: tuple[Policy, ...],
    effort: Effort,
    progress: Progress,
    checkpoints: list[int] | None = None,
) -> Result:
    return simulate(
        env,
        policies,
        horizon=effort.horizon,
        runs=effort.runs,
        seed=effort.seed,
        engine=effort.engine,
        checkpoints=checkpoints,
        progress=progress,
    )


def _panel_1a() -> Panel:
    return Panel(
        key="1a",
        title="Figure 1a: uniform context arrivals",
        says="LinUCB-d behaves exactly as LinUCB with the same α_t and shows bounded regret; the greedy algorithm and "
        "UCB for individual contexts do not.",
        here="",
        env=paper_1a(),
        policies=_FOUR,
        claims=_four_claims("1a"),
    )


def _panel_1b() -> Panel:
    return Panel(
        key="1b",
        title="Figure 1b: contexts more diverse than in 1a",
        says="With contexts 2 and 3 changed, λ₀ rises from 0.00799 to 0.16917 at about the same gap, and LinUCB-d "
        "converges much faster, to a lower regret.",
        here="",
        env=paper_1b(),
        policies=_FOUR,
        claims=(*_four_claims("1b"), lower_regret("1b", "1a", "LinUCB-d", "More diverse contexts mean lower regret.")),
    )


def _panel_1c_diverse(survey: Survey) -> Panel:
    draw = survey.most_diverse
    env = paper_1c(draw.seed)
    return Panel(
        key="1c",
        title="Figure 1c: continuous contexts, a diverse draw of θ",
        says="With 5 arms in R⁴ and contexts from a continuous set, LinUCB-d still achieves constant regret, while the "
        "greedy algorithm does not converge.",
        here=f"The paper does not give its θ. This is the most diverse of {survey.n_draws:,} draws, seed {draw.seed}: "
        f"even its rarest arm is best with probability {draw.rarest:.3f}.",
        env=env,
        policies=(LinUCBd(), Greedy()),
        claims=(
            stays_constant("1c", "LinUCB-d", "LinUCB-d achieves constant regret with continuous contexts."),
            keeps_growing("1c", "greedy", "The greedy algorithm does not converge."),
        ),
    )


def _panel_1c_typical(survey: Survey) -> Panel:
    draw = survey.typical
    often = "was never best in" if draw.rarest == 0 else f"was best in {percent(draw.rarest, 2)} of"
    rarest = f"Its rarest arm {often} {CONTEXTS:,} contexts."
    can = survey.possible[draw.seed]
    possible = (
        "Yet every arm can be best, so theory promises a constant, at some horizon."
        if can
        else "Not every arm can be best, so theory promises no constant."
    )
    return Panel(
        key="1c-typical",
        title="Figure 1c again: a typical draw of θ",
        says="θ on a sphere “ensures that each of them can be optimal under certain contexts”; then regret stays "
        "constant.",
        here=f"This is the median of the {survey.n_draws:,} draws, seed {draw.seed}. {rarest} {possible} "
        "An arm that is hardly ever best is hardly ever learnt from for free: for as long as this figure runs, it must "
        "be explored again and again.",
        env=paper_1c(draw.seed),
        policies=(LinUCBd(), Greedy()),
        claims=(has_stopped("1c-typical", "LinUCB-d", "Regret has stopped growing at this horizon, too."),),
    )


_FOUR: tuple[Policy, ...] = (LinUCBd(), LinUCB(), Greedy(), ContextUCB())
_PANELS: Mapping[str, Callable[[], Panel]] = {"1a": _panel_1a, "1b": _panel_1b}


def _four_claims(key: str) -> tuple[Claim, ...]:
    return (
        stays_constant(key, "LinUCB-d", "LinUCB-d shows bounded regret."),
        same_curves(key, "LinUCB-d", "LinUCB", "LinUCB-d behaves exactly as LinUCB with the same α_t."),
        keeps_growing(key, "greedy", "The greedy algorithm does not achieve constant regret."),
        keeps_growing(key, "UCB per context", "UCB for individual contexts does not achieve constant regret."),
    )
