"""recommend(): which policy fits an environment, an audit or a log, by a rehearsal or by rules."""

from dataclasses import replace
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import Progress
from armspan.diversity import ContextData, DiversityReport, LoggedDiversity
from armspan.diversity.likely import MOST_CONTEXTS, Likely
from armspan.environments import Bernoulli, Environment, Gaussian, RewardTable, as_environment
from armspan.errors import InvalidParameter
from armspan.policies.rules import Recommendation, by_rules, on_scales, words_from, words_on
from armspan.simulation.rehearsal import SEED, is_slow, rehearsed

HORIZON = 10_000
WORLDS = 10
"""Draws of what a log leaves likely; they share the runs."""


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
    loses least is recommended. What counts is the mean regret plus twice the standard error, so that a policy that
    sometimes gets stuck is not mistaken for a good one. The same is done for the report on an environment. For the
    audit of a log, the policies rehearse in ten worlds drawn from a model of the log, if you give a horizon. Otherwise
    rules decide: Thompson sampling with v = R if decisions must be drawn; LinUCB with one θ for all arms if that tells
    the best arm in every context; else LinUCB with α_t from the residuals. The docs' page “Policies” says how often
    each of these was right on problems that were not used to make them.

    Parameters
    ----------
    problem : Environment or report
        An environment, or the report that `armspan.audit` or `armspan.diversity.audit_log` returned.
    propensities : bool, default False
        Whether decisions must be drawn, so that their log can tell what another policy would have earned.
    noise_scale : float, optional
        R, for which rewards are R-subgaussian. An environment knows it.
    horizon : int, optional
        How many steps you will take. The rehearsal takes as many, up to a million. If left out, it is 10,000, except
        where a rehearsal may take long, or where an application should not wait for it: in an environment written in
        Python, and for a log, rules then decide.
    progress : function, optional
        Called as progress(done, total) during a rehearsal.

    Returns
    -------
    Recommendation
        It has `policy`, `why` (sentences) and `alternatives`, each with a policy and words. Print it to read it.
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
        return rehearsed([_as_table(problem.problem, noise_scale)], horizon, words_from(problem), progress, **told)
    if not (isinstance(problem, Environment) or hasattr(problem, "context")):
        raise InvalidParameter(f"problem must be an environment or the report of an audit, got {problem!r:.60}")
    env = as_environment(problem)
    if horizon is None and is_slow(env):
        return by_rules(env, **told)
    return rehearsed([env], horizon or HORIZON, words_on(env), progress, **told)


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
    if log.likely is None or log.drift is not None or not log.likely.long_enough:
        found = by_rules(log, noise_scale=noise_scale, **told)
        reason = "all rewards are the same" if log.likely is None else "the log has too few rows for its features"
        reason = reason if log.drift is None else "in the worlds drawn from a log nothing changes with time"
        return replace(found, why=(f"No rehearsal: {reason}. {found.why[0]}", *found.why[1:]))
    places = worlds(log.likely, log.name, noise_scale)
    caveat = f" Do not rely on that. {log.likely.caveat}" if log.likely.caveat else ""
    R = noise_scale or float(f"{log.likely.noise:.3g}")  # of rare clicks far below ½
    told |= {"noise_scale": R, "first": on_scales(log) + caveat}
    return rehearsed(places, horizon, words_from(log), progress, **told)


def worlds(likely: Likely, name: str, noise_scale: float | None = None) -> list[Environment]:
    """Environments that are likely, given a log, with features of about one scale."""
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
