"""recommend(): which policy fits, by a rehearsal in an environment, or by rules for what an audit has found."""

import math
from typing import Any

import numpy as np

from armspan import _validate
from armspan._text import amount, counted
from armspan._typing import FloatArray
from armspan.diversity import DiversityReport, LoggedDiversity
from armspan.environments import Environment, as_environment
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies import HybridLinUCB, LinMED, LinTS, LinUCB, TruncatedLinUCB
from armspan.policies.base import Policy
from armspan.policies.rules import Choice, Recommendation, by_rules, words_on
from armspan.simulation.runner import simulate

HORIZON = 10_000
MOST_RUNS, LEAST_RUNS = 50, 10
WORK = 4e9
"""K·d² over all steps of one policy, roughly: the more one run takes, the fewer there are."""
SEED = 20_201
USUAL = 1_000.0
"""Features longer than this, or shorter than its inverse, are too much for some policies' own ridges."""
UNKNOWN_NOISE = 0.1
"""R where an environment has no noise."""


def recommend(
    problem: Any, *, propensities: bool = False, noise_scale: float | None = None, horizon: int | None = None
) -> Recommendation:
    """Recommend a policy, say why, and say what the alternatives would cost.

    An environment can be tried out, so the few policies that did best in the arena rehearse in it, and the one that
    loses least is recommended: by its mean regret plus twice the standard error, so that a policy that sometimes
    gets stuck is not mistaken for a good one. What an audit has found cannot be tried out. There, rules decide:
    Thompson sampling with v = R if decisions must be drawn; LinUCB with one θ for all arms if that tells the best arm
    in every context; otherwise LinUCB with α_t from the residuals. The docs' page “Policies” says how often either
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
        How many steps you will take, and so will the rehearsal; 10,000 if left out. An environment that is
        written in Python, or whose rewards come late, is slow to try out: without a horizon, rules decide there. A
        report has no rehearsal, and takes no horizon.

    Returns
    -------
    Recommendation
        With `policy`, `why` (sentences) and `alternatives`, each with a policy and words; print it.
    """
    if noise_scale is not None:
        _validate.real("noise_scale", noise_scale, above=0)
    if horizon is not None:
        _validate.whole("horizon", horizon, at_least=1)
    if isinstance(problem, DiversityReport | LoggedDiversity):
        if horizon is not None:
            raise InvalidParameter(f"horizon must be left out with a report, which has no rehearsal, got {horizon}")
        return by_rules(problem, propensities=propensities, noise_scale=noise_scale)
    if not (isinstance(problem, Environment) or hasattr(problem, "context")):
        raise InvalidParameter(f"problem must be an environment or the report of an audit, got {problem!r:.60}")
    env = as_environment(problem)
    if horizon is None and _is_slow(env):
        return by_rules(env, propensities=propensities, noise_scale=noise_scale)
    return _rehearsed(env, horizon or HORIZON, noise_scale, propensities=propensities)


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
    return [policy.within(horizon) for policy in (drawn if propensities else largest) if _fits(policy, env, horizon)]


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


def _rehearsed(env: Environment, horizon: int, noise_scale: float | None, *, propensities: bool) -> Recommendation:
    everyone = candidates(env, horizon, noise_scale, propensities=propensities)
    odd = not 1 / USUAL <= env.feature_bound <= USUAL
    scale = f"features of {env.name} are up to {env.feature_bound:.3g} long; bring them to about 1"
    if not everyone:
        raise NotApplicable(f"no policy can rehearse here: {scale}")
    work = math.inf if _is_slow(env) else horizon * env.n_arms * env.n_features**2
    runs = int(np.clip(WORK / work, LEAST_RUNS, MOST_RUNS))
    result = simulate(env, everyone, horizon=horizon, runs=runs, seed=SEED, checkpoints=[horizon])
    final: FloatArray = result.pseudo_regret[:, :, -1]
    mean, error = final.mean(axis=1), final.std(axis=1, ddof=1) / np.sqrt(runs)
    order = np.argsort(mean + 2 * error, kind="stable")
    best = order[0]
    form = amount(mean[best], 2 * error[best])
    why = (
        f"It lost least of {len(everyone)} in a rehearsal here: regret {_number(mean[best], form)} ± "
        f"{_number(2 * error[best], form)} after {counted(horizon, 'step')}, {counted(runs, 'run')}.",
        *words_on(env),
        *([f"Some policies cannot rehearse as things are: {scale}."] if odd else []),
    )
    others = tuple(Choice(everyone[i], _cost(mean[i], mean[best])) for i in order[1:])
    return Recommendation(everyone[best], why, others)


def _number(value: float, form: str) -> str:
    return format(value, ",.0f" if value >= 100 else form)


def _cost(regret: float, least: float) -> str:
    ratio = regret / least if least > 0 else np.inf
    if not np.isfinite(ratio):
        return f"regret {_number(regret, amount(regret))}."
    return f"{ratio:,.{0 if ratio >= 10 else 1}f} times the regret."
