"""Which policy fits a problem, by a few stated rules that rest on the arena."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from armspan import _html
from armspan._typing import FloatArray
from armspan.diversity import DiversityReport, LoggedDiversity
from armspan.diversity.scales import UNEQUAL
from armspan.environments import DelayedRewards, Environment
from armspan.environments.custom import CustomEnvironment
from armspan.errors import NotApplicable
from armspan.policies.base import Policy
from armspan.policies.greedy import Greedy
from armspan.policies.lin_ts import LinTS
from armspan.policies.linucb import LinUCB
from armspan.policies.linucb_d import LinUCBd
from armspan.policies.oful import OFUL

SAMPLES = 2000
"""Contexts that are drawn to see whether one θ will do."""
FAR = 2.0
"""Rewards are far from 0 if their mean is so many standard deviations away."""
PARTS, USUAL = (20, 10, 4, 2, 1), 2
"""What the steps within which parameters change are divided by, for half-lives that may suit; where the usual is."""
SEPARATE = {"LinTS": 1.4, "OFUL": 2.4, "LinUCBd": 3.2, "Greedy": 5.9}
"""Regret in the arena, relative to that of LinUCB with practical α_t; geometric means, LinTS with v = R."""
SHARED = {
    True: {"separate": 27.0, "OFUL": 3.4, "LinUCBd": 5.1, "Greedy": 1.0},
    False: {"separate": 20.0, "OFUL": 2.6, "LinUCBd": 3.8, "Greedy": 0.76},
}
"""Regret among the arena's 40 arms, which share one θ, relative to that of LinUCB with α = R, if R is known, or with
practical α_t; separate is LinUCB with practical α_t and one θ per arm."""
STUCK = "Regret is linear in runs that get stuck."
SMALL_LOSS = 0.01
"""Of what a random choice loses, what one θ for all arms may lose by taking the wrong arm."""


@dataclass(frozen=True)
class Choice:
    """A policy, and a sentence on why, or at what cost."""

    policy: Policy
    words: str


class Foretold(NamedTuple):
    """The regret of a rehearsal: the mean, and with two standard errors less and more; of several worlds, the range."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Recommendation:
    """The policy that fits, why, what others would cost, and the regret to expect, where there was a rehearsal."""

    policy: Policy
    why: tuple[str, ...]
    alternatives: tuple[Choice, ...]
    regret: Foretold | None = None

    @property
    def line(self) -> str:
        """The policy and the first reason."""
        return f"Recommended: {written(self.policy)}. {self.why[0]}"

    @property
    def others(self) -> list[str]:
        """One line per alternative."""
        return [f"or {written(other.policy)}: {other.words}" for other in self.alternatives]

    def __str__(self) -> str:
        return "\n  ".join([f"Recommended: {written(self.policy)}", *self.why, *self.others])

    def _repr_html_(self) -> str:
        rows = [(written(other.policy), other.words) for other in self.alternatives]
        why = "".join(map(_html.paragraph, self.why))
        told = _html.shown("Alternatives", ("policy", "when, or at what cost"), rows) if rows else ""
        return f"{_html.paragraph(f'Recommended: {written(self.policy)}')}{why}{told}"


def by_rules(problem: Any, *, propensities: bool = False, noise_scale: float | None = None) -> Recommendation:
    """The recommendation for an environment or for what an audit has found, without a rehearsal."""
    if isinstance(problem, LoggedDiversity):
        if noise_scale is None and problem.likely is not None and problem.likely.residual is not None:
            noise_scale = float(f"{problem.likely.residual:.3g}")
        told: Any = {"words": words_from(problem), "scales": on_scales(problem), "offset": _on_offset(problem)}
        half_life = problem.drift and problem.drift.half_life
        facts = _Facts(shared=False, noise_scale=noise_scale, half_life=half_life, **told)
    elif isinstance(problem, DiversityReport):
        facts = _Facts(shared=problem.one_theta, noise_scale=noise_scale, words=words_from(problem))
    else:
        facts = _facts_of(problem, noise_scale)
    if propensities:
        return _by_chance(facts)
    return _shared(facts) if facts.shared else _separate(facts)


@dataclass(frozen=True)
class _Facts:
    """What the rules go by: whether one θ will do, the noise if known, what was found in words; and what must be done
    first, as the last part of a reason, about features of different sizes and rewards far from 0. half_life : after how
    many rewards an old one should count half, where parameters change.
    """

    shared: bool
    noise_scale: float | None
    words: tuple[str, ...]
    scales: str = ""
    offset: str = ""
    half_life: float | None = None


def half_lives(steps: int) -> list[float]:
    """Half-lives that may suit where parameters change within so many steps, to two digits."""
    return [max(float(f"{steps / part:.2g}"), 1.0) for part in PARTS]


def _facts_of(env: Environment, noise_scale: float | None) -> _Facts:
    """Of an environment."""
    inner = _without_delay(env)
    try:
        shared = one_theta_will_do(inner)
    except NotApplicable:
        shared = False
    half_life = None if env.changes_within is None else half_lives(env.changes_within)[USUAL]
    return _Facts(shared, noise_scale or inner.noise_scale or None, words_on(env), half_life=half_life)


def words_on(env: Environment) -> tuple[str, ...]:
    """What to expect in an environment."""
    late = (f"Rewards come late, which costs every policy something: {env.name}.",) if env.late else ()
    return (_on_diversity(env), *late)


def _without_delay(env: Environment) -> Environment:
    return env.env if isinstance(env, DelayedRewards) else env


def _on_diversity(env: Environment) -> str:
    """What is certain of constant regret, without a search that may take long."""
    if env.outside_theory is not None:
        return f"The paper's theory does not apply: {env.outside_theory}."
    if isinstance(env, CustomEnvironment):
        return f"Whether the paper promises constant regret is not known: {env.name} is written in Python."
    spans = env.certain_spans()
    if all(spans) and env.gap > 0:
        return "Every arm's own contexts span, and there is a gap: the paper promises LinUCB-d constant regret."
    if False in spans:
        arm = f"Arm {spans.index(False)} is best nowhere, or only in contexts that do not span"
        return f"{arm}: the paper promises no constant regret."
    return "Whether the paper promises constant regret, `armspan.audit` can tell."


def one_theta_will_do(env: Environment) -> bool:
    """Whether the best single θ picks a best arm in nearly all contexts.

    By two fits to the mean rewards, one to those of all arms and one to those of the best arms alone, which is what a
    policy sees at first and in the end. Picking by either may lose at most 1 % of what a random choice loses.
    """
    x, means, p, _ = env.context_table(SAMPLES)
    (_, K, d), rows = x.shape, np.arange(len(x))
    losses, best = means.max(axis=1, keepdims=True) - means, means.argmax(axis=1)
    at_random = float((p[:, None] * losses).sum() / K)
    fits = (
        _fit(x.reshape(-1, d), means.reshape(-1), np.repeat(p, K)),
        _fit(x[rows, best], means[rows, best], p),
    )
    lost = [float((p * losses[rows, (x @ theta).argmax(axis=1)]).sum()) for theta in fits]
    return max(lost) <= SMALL_LOSS * at_random


def _fit(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    root = np.sqrt(weights)
    return np.asarray(np.linalg.lstsq(root[:, None] * x, root * y, rcond=None)[0])


def words_from(report: DiversityReport | LoggedDiversity) -> tuple[str, ...]:
    """What an audit says on constant regret, as a sentence."""
    verdict = report.verdicts[0]
    return (f"{verdict.question} {verdict.answer.capitalize()}. {verdict.reason}",)


def on_scales(report: LoggedDiversity) -> str:
    """What to do where features have different sizes, as the last part of a reason."""
    times = 1.0 if report.likely is None else report.likely.sizes_apart
    said = f" First divide each feature by its largest size: the largest is {times:,.0f} times the smallest."
    return said * (times > UNEQUAL)


def _on_offset(report: LoggedDiversity) -> str:
    """What to do where rewards are far from 0, which is what Thompson sampling expects of an arm it does not know."""
    if report.likely is None or abs(report.likely.mean) < FAR * report.likely.scale:
        return ""
    return f" First subtract a typical reward from all: they are around {report.likely.mean:.3g}."


def _separate(facts: _Facts) -> Recommendation:
    policy = LinUCB(alpha="practical", half_life=facts.half_life)
    why = (
        *_on_forgetting(facts),
        "Its exploration follows the residuals: all it must be told is feature_bound, the length of the "
        f"longest context.{facts.scales}",
        *facts.words,
    )
    others = (*_with_chance(facts), *_safe()) if facts.half_life is None else _lasting(policy)
    return Recommendation(policy, why, others)


def _on_forgetting(facts: _Facts) -> tuple[str, ...]:
    """Why to forget, where that is advised."""
    if facts.half_life is None:
        return ()
    return (f"What was learnt long ago no longer holds: a reward counts half after {facts.half_life:,.0f} more.",)


def _lasting(policy: LinUCB) -> tuple[Choice, ...]:
    """What else there is where things change."""
    return (Choice(replace(policy, half_life=None), "if nothing changes any more: it remembers everything."),)


def _shared(facts: _Facts) -> Recommendation:
    alpha: Any = "practical" if facts.noise_scale is None else facts.noise_scale
    why = (
        "One θ is enough to find the best arm, so every reward teaches about all arms.",
        *_on_forgetting(facts),
        *facts.words,
    )
    cost = SHARED[alpha != "practical"]
    others = (
        Choice(LinUCB(alpha="practical"), f"if one θ turns out not to be enough; {_among(cost['separate'])}"),
        Choice(OFUL(shared=True), f"where a proof is wanted; {_among(cost['OFUL'])}"),
        Choice(LinUCBd(shared=True), f"with the paper's α_t; {_among(cost['LinUCBd'])}"),
        Choice(Greedy(shared=True), f"no exploration; {_among(cost['Greedy'])} {STUCK}"),
    )
    policy = LinUCB(alpha=alpha, shared=True, half_life=facts.half_life)
    return Recommendation(policy, why, others if facts.half_life is None else _lasting(policy))


def _among(cost: float) -> str:
    return f"{_times(cost)} regret among the arena's 40 arms."


def _by_chance(facts: _Facts) -> Recommendation:
    why = (
        "It draws its decisions, and the agent states the probability of each; that of an arm that looks bad is "
        f"tiny.{facts.scales}{facts.offset}",
        *(("v = R is not known, so v = 1 is taken: give noise_scale.",) if facts.noise_scale is None else ()),
        *facts.words,
    )
    policy = LinTS(scale=facts.noise_scale or 1.0, shared=facts.shared)
    forgets = (
        "" if facts.half_life is None else "it forgets what no longer holds, and its agent draws with epsilon=0.1; or "
    )
    words = f"{forgets}if you need no probabilities."
    plain = Choice(LinUCB(alpha="practical", shared=facts.shared, half_life=facts.half_life), words)
    return Recommendation(policy, why, (plain,))


def _with_chance(facts: _Facts) -> tuple[Choice, ...]:
    if facts.noise_scale is None:
        return ()
    return (Choice(LinTS(scale=facts.noise_scale), f"where decisions must be drawn; {_overall('LinTS')}"),)


def _safe() -> tuple[Choice, ...]:
    return (
        Choice(OFUL(), f"where a proof is wanted; {_overall('OFUL')}"),
        Choice(LinUCBd(), f"with the paper's α_t; {_overall('LinUCBd')}"),
        Choice(Greedy(), f"no exploration; {_overall('Greedy')} {STUCK}"),
    )


def _overall(name: str) -> str:
    return f"{_times(SEPARATE[name])} regret in the arena."


def _times(cost: float) -> str:
    return "about the same" if cost == 1 else f"{cost:g} times the"


def written(policy: Policy) -> str:
    """As Python code, without what is left out."""
    fields = policy.__dataclass_fields__
    given = {name: getattr(policy, name) for name, field in fields.items() if getattr(policy, name) != field.default}
    return f"{type(policy).__name__}({', '.join(f'{name}={_short(value)}' for name, value in given.items())})"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
