"""What each figure shows, in words and numbers, for readers who cannot see it."""

from collections.abc import Sequence

import numpy as np

from armspan._text import percent
from armspan.diversity import LoggedDiversity
from armspan.environments import Environment
from armspan.experiments import DialResult, Idea, Predictions, Survey, Tails
from armspan.experiments.adversary import Opposition
from armspan.experiments.predictions import foreseen
from armspan.experiments.standing import Arena, Bout
from armspan.simulation import Result


def regret(result: Result, what: str) -> str:
    """Curves of regret: where each ends, and how it grows."""
    ends = "; ".join(f"{row.policy} {_number(row.mean)}, growth {row.growth.verdict}" for row in result.summary())
    return f"{what}: curves of mean pseudo-regret against the step. After {result.checkpoints[-1]:,} steps: {ends}."


def survey(found: Survey) -> str:
    """Random draws of θ: the shares at the thresholds."""
    shares = "; ".join(f"at least {share.threshold:.3g} in {percent(share.share, 2)}" for share in found.shares())
    return f"A falling curve: of {found.n_draws:,} draws of θ the rarest arm is best with probability {shares}."


def dial(found: DialResult) -> str:
    """The dial: regret at the horizon, from the least to the most diverse."""
    steps = int(found.results[0].checkpoints[-1])
    ends = [float(result.mean()[0, -1]) for result in found.results]
    some = np.unique(np.linspace(0, len(ends) - 1, 4).astype(int))
    told = ", ".join(f"{_number(ends[i])} at λ₀ = {found.lambda_0[i]:.3g}" for i in some)
    return f"Mean pseudo-regret of LinUCB-d after {steps:,} steps against the diversity of the contexts: {told}."


def idea(found: Idea) -> str:
    """Three problems: how well the weakest direction is known in the end, and what regret came to."""
    told = []
    for words, env, result in zip(found.words, found.envs, found.results, strict=True):
        row, known = result.summary()[0], result.events["LinUCB-d"].eigenvalues[:, -1].mean(axis=0).min()
        told.append(
            f"{words} (λ₀ = {env.lambda_0():.3g}): λ_min(V) of the arm known least grows to {_number(float(known))}, "
            f"regret ends at {_number(row.mean)}, growth {row.growth.verdict}"
        )
    return f"Three problems, one per column, after {found.results[0].horizon:,} steps. {'; '.join(told)}."


def predictions(found: Predictions) -> str:
    """Forecast against measured: how many points lie in the interval."""
    inside, last = foreseen(found.entries)
    over = "" if np.isnan(last) else f", and {percent(last)} of the last steps of exploration"
    return (
        f"Two scatter plots of forecast against measured, near the diagonal: {percent(inside)} of the regrets of "
        f"{len(found.entries)} problems lie in the forecast's interval{over}."
    )


def tails(found: Tails) -> str:
    """Distributions: half of the runs, and 99 in 100, at each level."""
    told = "; ".join(
        f"λ₀ = {tail.lambda_0:.2g}: {_number(tail.quantile(0.5))} and {_number(tail.quantile(0.99))}"
        for tail in found.entries
    )
    runs, steps = found.entries[0].runs, found.horizon
    return f"Distribution of final regret over {runs:,} runs of {steps:,} steps. Median and 99 % quantile at {told}."


def adversary(found: Opposition) -> str:
    """Regret against σ: the ends of each line."""
    mean, _ = found.final()
    first, last = found.sigmas[0], found.sigmas[-1]
    told = "; ".join(
        f"{name} {_number(mean[p, 0])} and {_number(mean[p, -1])}" for p, name in enumerate(found.results[0].policies)
    )
    return f"Mean pseudo-regret after {found.results[0].horizon:,} steps at σ = {first:g} and σ = {last:g}: {told}."


def audit(found: LoggedDiversity) -> str:
    """Of each arm how often it may be best, and how far its contexts spread."""
    told = "; ".join(
        f"{arm.name} is best in {percent(arm.best[0])} to {percent(arm.best[1])} of the contexts, which spread by "
        f"{arm.spread[0]:.2g} to {arm.spread[1]:.2g}, least along {arm.words}"
        for arm in found.arms
    )
    return f"One row per arm: {told}. Needed for the answer “diverse”: a spread of {found.needed[1]:.2g}."


def events(result: Result, policy: str) -> str:
    """Six pictures of one policy: where its regret came from, and when exploration ended."""
    counted = result.events[policy]
    parts = counted.regret.sum(axis=1).mean(axis=0)
    told = ", ".join(f"{letter} {_number(float(part))}" for letter, part in zip("ABCD", parts, strict=True))
    known = ", ".join(f"arm {a} {_number(float(v))}" for a, v in enumerate(counted.eigenvalues[:, -1].mean(axis=0)))
    return (
        f"Six pictures of {policy} over {result.horizon:,} steps: mean regret {_number(float(parts.sum()))}, by event "
        f"{told}; the median run last pulled a suboptimal arm at step {np.median(counted.last_suboptimal):,.0f}; "
        f"λ_min(V) at the end: {known}."
    )


def bounds(env: Environment, result: Result) -> str:
    """Measured regret beside what theory says."""
    ends = ", ".join(f"{name} {_number(float(result.curves(name)[:, -1].mean()))}" for name in result.events)
    steps = result.checkpoints[-1]
    return f"Measured regret in {env.name} after {steps:,} steps ({ends}) beside the bounds of theory, on log scales."


def arena(found: Arena) -> str:
    """The table: who stands where."""
    best = "; ".join(f"{place.policy} {place.relative.value:.2f}" for place in found.standing[:5])
    return (
        f"{len(found.standing)} policies in {len(found.bouts)} problems as coloured squares. Nearest to the best, by "
        f"the geometric mean of regret / best: {best}."
    )


def bout(found: Bout, names: Sequence[str]) -> str:
    """One problem of the arena: where the curves end."""
    ends = found.result.only(tuple(names)).mean()[:, -1]
    told = "; ".join(f"{name} {_number(float(end))}" for name, end in zip(names, ends, strict=True))
    steps = found.result.horizon
    return f"Curves of mean pseudo-regret in the problem {found.problem.key}. After {steps:,} steps: {told}."


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
