"""recommend(): which policy fits, by a rehearsal in an environment or in what a log leaves likely, or by rules."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armspan import _validate
from armspan._text import amount, counted
from armspan._typing import FloatArray, Progress
from armspan.diversity import ContextData, DiversityReport, LoggedDiversity
from armspan.diversity.likely import MOST_CONTEXTS, Likely
from armspan.environments import Bernoulli, Environment, Gaussian, RewardTable, as_environment
from armspan.environments.table import TableEnvironment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import HybridLinUCB, LinMED, LinTS, LinUCB, TruncatedLinUCB
from armspan.policies.base import Policy
from armspan.policies.rules import Choice, Recommendation, by_rules, on_scales, words_from, words_on
from armspan.simulation.runner import simulate

HORIZON = 10_000
MOST_RUNS, LEAST_RUNS = 50, 10
WORLDS = 10
"""Draws of what a log leaves likely; they share the runs."""
MOST_STEPS = 1_000_000
"""Of a rehearsal, however long the horizon is."""
WORK = 4e9
"""K·d² over all steps of one policy, roughly: the more one run takes, the fewer there are."""
SEED = 20_201
USUAL = 1_000.0
"""Features longer than this, or shorter than its inverse, are too much for some policies' own ridges."""
UNKNOWN_NOISE = 0.1
"""R where an environment has no noise."""


def recommend(
    problem: Any,
    *,
    propensities: bool = False,
    noise_scale: float | None = None,
    horizon: int | None = None,
    progress: Progress | None = None,
) -> Recommendation:
    """Recommend a policy, say why, and say what the alternatives would cost.

    An environment can be tried out, so the few policies that did best in the arena rehearse in it, and the one that
    loses least is recommended: by its mean regret plus twice the standard error, so that a policy that sometimes
    gets stuck is not mistaken for a good one. So it is with the report on an environment. For the audit of a log,
    they rehearse in ten worlds that are drawn from a model of the log, if you give a horizon. Otherwise rules decide:
    Thompson sampling with v = R if decisions must be drawn; LinUCB with one θ for all arms if that tells the best arm
    in every context; else LinUCB with α_t from the residuals. The docs' page “Policies” says how often each of these
    was right on problems that were not used to make them.

    Parameters
    ----------
    problem : Environment or report
        An environment, or what `armspan.audit` or `armspan.diversity.audit_log` has found.
    propensities : bool, default False
        Whether decisions must be drawn, so that their log can tell what another policy would have earned.
    noise_scale : float, optional
        R, for which rewards are R-subgaussian. An environment knows it.
    horizon : int, optional
        How many steps you will take, and so will the rehearsal, up to a million. If left out, it is 10,000, except
        where a rehearsal may take long, or where an application should not wait for it: in an environment that is
        written in Python, or whose rewards come late, and for a log, rules decide.
    progress : function, optional
        Called as progress(done, total) in a rehearsal.

    Returns
    -------
    Recommendation
        With `policy`, `why` (sentences) and `alternatives`, each with a policy and words; print it.
    """
    if noise_scale is not None:
        _validate.real("noise_scale", noise_scale, above=0)
    if horizon is not None:
        _validate.whole("horizon", horizon, at_least=1)
    told: Any = {"propensities": propensities, "noise_scale": noise_scale}
    if isinstance(problem, LoggedDiversity):
        return _for_log(problem, horizon, progress, **told)
    if isinstance(problem, DiversityReport):
        if not isinstance(problem.problem, ContextData):
            return recommend(problem.problem, horizon=horizon, progress=progress, **told)
        if horizon is None:
            return by_rules(problem, **told)
        return _rehearsed([_as_table(problem.problem, noise_scale)], horizon, words_from(problem), progress, **told)
    if not (isinstance(problem, Environment) or hasattr(problem, "context")):
        raise InvalidParameter(f"problem must be an environment or the report of an audit, got {problem!r:.60}")
    env = as_environment(problem)
    if horizon is None and _is_slow(env):
        return by_rules(env, **told)
    return _rehearsed([env], horizon or HORIZON, words_on(env), progress, **told)


def _for_log(
    log: LoggedDiversity,
    horizon: int | None,
    progress: Progress | None,
    *,
    noise_scale: float | None,
    propensities: bool,
) -> Recommendation:
    """By a rehearsal in worlds that the log leaves likely; by the rules without a horizon, or where there are none."""
    told: Any = {"propensities": propensities}
    if horizon is None:
        return by_rules(log, noise_scale=noise_scale, **told)
    if log.likely is None:
        found = by_rules(log, noise_scale=noise_scale, **told)
        return replace(found, why=("No rehearsal: all rewards are the same.", *found.why))
    places = worlds(log.likely, log.name, noise_scale)
    caveat = f" But do not trust it: {log.likely.caveat}" if log.likely.caveat else ""
    told |= {
        "noise_scale": noise_scale or log.likely.noise,
        "first": on_scales(log) + caveat,
    }  # rare clicks: far below ½
    return _rehearsed(places, horizon, words_from(log), progress, **told)


def worlds(likely: Likely, name: str, noise_scale: float | None = None) -> list[Environment]:
    """Environments that a log leaves likely, with features of about one scale."""
    x = likely.contexts / likely.unit
    noise = Bernoulli() if likely.clicks else Gaussian(noise_scale or likely.noise)
    rng = np.random.default_rng(SEED)
    draws = [likely.mean_rewards(rng) for _ in range(WORLDS)]
    return [RewardTable(x, means, noise=noise, name=name) for means in draws]


def _as_table(data: ContextData, noise_scale: float | None) -> Environment:
    """Contexts that were seen as an environment; how large its noise is, nobody has said."""
    if noise_scale is None:
        raise InvalidParameter("noise_scale must be given with a horizon: contexts and theta_hat do not tell the noise")
    x, means, _, _ = data.context_table(MOST_CONTEXTS)
    kept = np.random.default_rng(SEED).permutation(len(x))[:MOST_CONTEXTS]
    return RewardTable(np.swapaxes(x[kept], 0, 1), means[kept].T, noise=noise_scale, name=data.name)


def _is_slow(env: Environment) -> bool:
    """Whether every step costs Python code."""
    return env.late or not env.compiled


def candidates(env: Environment, horizon: int, noise_scale: float | None, *, propensities: bool) -> list[Policy]:
    """Who rehearses: for nearly every problem of the arena, one of these came close to the best of all."""
    missing = [bound for bound in ("feature_bound", "parameter_bound") if not hasattr(env, bound)]
    if missing:  # a user's own environment may not know it
        raise NotApplicable(f"a rehearsal needs {' and '.join(missing)}, which {env.name} lacks; or leave horizon out")
    R = noise_scale or env.noise_scale or UNKNOWN_NOISE
    l, s = _rounded_up(env.feature_bound), _rounded_up(env.parameter_bound)
    told: Any = {"feature_bound": l, "parameter_bound": s, "noise_scale": R}
    drawn: list[Policy] = [LinTS(scale=R), LinTS(scale=R / 2), LinTS(scale=R, shared=True), LinMED(**told)]
    largest: list[Policy] = [
        LinUCB(alpha="practical", feature_bound=l),
        LinUCB(alpha=R, feature_bound=l, ridge=_rounded_up(l**2 / env.n_features)),
        LinUCB(alpha="practical", feature_bound=l, shared=True),
        LinUCB(alpha=R, feature_bound=l, shared=True),
        HybridLinUCB(),
        TruncatedLinUCB(**told),
        LinTS(scale=R),
        LinTS(scale=R, shared=True),
    ]
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


def _rehearsed(
    places: Sequence[Environment],
    horizon: int,
    words: tuple[str, ...],
    progress: Progress | None,
    *,
    first: str = "",
    noise_scale: float | None,
    propensities: bool,
) -> Recommendation:
    """The one who loses least.

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
    work = math.inf if _is_slow(env) else steps * env.n_arms * env.n_features**2
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
    shown = 2 * float((error if len(places) == 1 else _standard_error(found.mean(axis=2).T))[best])
    form = amount(mean[best], shown)
    surely = "" if best == np.argmin(mean) else ", if two standard errors are added"
    where = "here" if len(places) == 1 else f"in {len(places)} worlds drawn from a model of the log, each from nothing"
    why = (
        f"It lost least of {len(everyone)} in a rehearsal {where}{surely}: regret {_number(mean[best], form)} ± "
        f"{_number(shown, form)} after {counted(steps, 'step')}, {counted(final.shape[1], 'run')}.{first}",
        *words,
        *([f"Some policies cannot rehearse as things are: {scale}."] if odd else []),
    )
    others = tuple(Choice(everyone[i], _cost(mean[i], mean[best])) for i in order[1:])
    return Recommendation(everyone[best], why, others)


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
