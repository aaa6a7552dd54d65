"""A rehearsal: the few policies that did best in the arena are tried out, and the one losing least is recommended."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armspan._text import amount, counted
from armspan._typing import FloatArray, Progress
from armspan.environments import Environment
from armspan.environments.table import TableEnvironment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import HybridLinUCB, LinMED, LinTS, LinUCB, TruncatedLinUCB
from armspan.policies.base import Policy
from armspan.policies.rules import Choice, Foretold, Recommendation, half_lives
from armspan.simulation.runner import simulate

MOST_RUNS, LEAST_RUNS = 50, 10
MOST_STEPS = 1_000_000
"""Of a rehearsal, however long the horizon is."""
WORK = 4e9
"""K·d² over all steps of one policy, roughly: the more one run takes, the fewer there are."""
SEED = 20_201
USUAL = 1_000.0
"""Features longer than this, or shorter than its inverse, are too much for some policies' own ridges."""
UNKNOWN_NOISE = 0.1
"""R where an environment has no noise."""


def rehearsed(
    places: Sequence[Environment],
    horizon: int,
    words: tuple[str, ...],
    progress: Progress | None,
    *,
    first: str = "",
    noise_scale: float | None,
    propensities: bool,
) -> Recommendation:
    """The policy that loses least.

    places : the environment, or several that may be the true one. words : what else is known there. first : what must
    be done before, if anything.
    """
    env = max(places, key=lambda place: getattr(place, "parameter_bound", 0.0))
    everyone = candidates(env, horizon, noise_scale, propensities=propensities)
    odd = not 1 / USUAL <= env.feature_bound <= USUAL
    scale = f"features of {env.name} are up to {env.feature_bound:.3g} long; bring them to about 1"
    if not everyone:
        raise NotApplicable(f"no policy can rehearse here: {scale}")
    steps = min(horizon, MOST_STEPS)
    work = math.inf if is_slow(env) else steps * env.n_arms * env.n_features**2
    runs = int(np.clip(WORK / work, LEAST_RUNS, MOST_RUNS)) // len(places)
    sizes: Any = {"horizon": steps, "runs": runs, "checkpoints": [steps]}
    found = np.array(
        [
            simulate(place, everyone, **sizes, seed=SEED + i, progress=_part(progress, i, len(places))).pseudo_regret
            for i, place in enumerate(places)
        ]
    )[..., -1]
    final = np.concatenate(found, axis=1)
    mean, error = final.mean(axis=1), _standard_error(final)
    order = np.argsort(mean + 2 * error, kind="stable")
    best = order[0]
    surely = "" if best == np.argmin(mean) else ", if two standard errors are added"
    foretold = _foretold(found[:, best])
    won = f"It lost least of {len(everyone)} in a rehearsal" if len(everyone) > 1 else "It alone could rehearse"
    why = (
        f"{won}{_where(len(places))}{surely}: {_regret(foretold, len(places))} after {counted(steps, 'step')}, "
        f"{counted(final.shape[1], 'run')}.{first}",
        *words,
        *([f"Some policies cannot rehearse as things are: {scale}."] if odd else []),
    )
    others = tuple(Choice(everyone[i], _cost(mean[i], mean[best])) for i in order[1:])
    return Recommendation(everyone[best], why, others, foretold)


def is_slow(env: Environment) -> bool:
    """Whether every step costs Python code."""
    return not env.compiled


def candidates(env: Environment, horizon: int, noise_scale: float | None, *, propensities: bool) -> list[Policy]:
    """The policies that rehearse: for nearly every problem of the arena, one of these came close to the best of all."""
    missing = [bound for bound in ("feature_bound", "parameter_bound") if not hasattr(env, bound)]
    if missing:  # a user's own environment may not know it
        raise NotApplicable(f"a rehearsal needs {' and '.join(missing)}, which {env.name} lacks; or leave horizon out")
    R = noise_scale or env.noise_scale or UNKNOWN_NOISE
    l, s = _rounded_up(env.feature_bound), _rounded_up(env.parameter_bound)
    told: Any = {"feature_bound": l, "parameter_bound": s, "noise_scale": R}
    drawn: list[Policy] = [LinTS(scale=R), LinTS(scale=R / 2), LinTS(scale=R, shared=True), LinMED(**told)]
    usual = LinUCB(alpha="practical", feature_bound=l)
    largest: list[Policy] = [
        usual,
        LinUCB(alpha=R, feature_bound=l, ridge=_rounded_up(l**2 / env.n_features)),
        LinUCB(alpha="practical", feature_bound=l, shared=True),
        LinUCB(alpha=R, feature_bound=l, shared=True),
        HybridLinUCB(),
        TruncatedLinUCB(**told),
        LinTS(scale=R),
        LinTS(scale=R, shared=True),
    ]
    if env.changes_within is not None:
        largest += [replace(usual, half_life=h) for h in half_lives(env.changes_within)]
    everyone = drawn if propensities else largest
    if _look_alike(env):
        everyone = [policy for policy in everyone if not getattr(policy, "shared", False)]
    return [policy.within(horizon) for policy in everyone if _fits(policy, env, horizon)]


def _look_alike(env: Environment) -> bool:
    """Whether all arms have the same features, so that one θ could not tell them apart."""
    return isinstance(env, TableEnvironment) and bool((env.features == env.features[:1]).all())


def _rounded_up(value: float) -> float:
    """To three digits, so that it reads well and is still a bound; of nothing, 1 is one."""
    if value == 0:
        return 1.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.3g}")


def _fits(policy: Policy, env: Environment, horizon: int) -> bool:
    try:
        policy.within(horizon).check(env, horizon)
    except (NotApplicable, InvalidParameter):  # it needs what the environment lacks, or features of another size
        return False
    return True


def _where(worlds: int) -> str:
    return " here" if worlds == 1 else f", starting from nothing in {worlds} worlds drawn from a model of the log"


def _foretold(found: FloatArray) -> Foretold:
    """What one policy lost in places and runs: its mean with two standard errors, or from which to which world."""
    means, mean = found.mean(axis=1), float(found.mean())
    if len(found) > 1:
        return Foretold(mean, float(means.min()), float(means.max()))
    around = 2 * float(_standard_error(found[0]))
    return Foretold(mean, mean - around, mean + around)


def _regret(foretold: Foretold, worlds: int) -> str:
    mean, low, high = foretold
    if worlds == 1:
        form = amount(mean, high - mean)
        return f"regret {_number(mean, form)} ± {_number(high - mean, form)}"
    form = amount(mean, low)
    return f"regret {_number(mean, form)}, {_number(low, form)} to {_number(high, form)} from world to world,"


def _standard_error(values: FloatArray) -> FloatArray:
    """Of the mean over the last axis."""
    return np.asarray(values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1]))


def _part(progress: Progress | None, number: int, count: int) -> Progress | None:
    """The progress of one part of so many alike."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, count * total)


def _number(value: float, form: str) -> str:
    return format(value, ",.0f" if value >= 100 else form)


def _cost(regret: float, least: float) -> str:
    ratio = regret / least if least > 0 else np.inf
    if not np.isfinite(ratio):
        return f"regret {_number(regret, amount(regret))}."
    return f"{ratio:,.{0 if ratio >= 10 else 1}f} times the regret."
