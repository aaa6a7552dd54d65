"""regret_bound(): what Theorem 1 or 2 promises for an environment, or why it promises nothing."""

from armspan import theory
from armspan.diversity.data import audit
from armspan.diversity.measure import Audited, problem_numbers
from armspan.errors import NotApplicable


def regret_bound(env: Audited) -> theory.Bound:
    """The paper's bound on the expected regret, the same for every horizon, term by term.

    Finite contexts: Theorem 1, with the probability p of the rarest context of the bases in place of 1/n. Contexts that
    share a basis vector count as one if that makes the bound smaller; see `armspan.theory.t_1`. Other contexts: Theorem
    2, with meta-contexts found by a search, and p at the lower end of its 95 % interval. If a hypothesis fails, it
    refuses and says which.

    Parameters
    ----------
    env : Environment
        The environment.

    Returns
    -------
    Bound
        `total`, and its four terms.
    """
    report = audit(env)
    promise = report.verdicts[0]
    if promise.answer != "yes":
        raise NotApplicable(f"no theorem applies to this problem ({env.name}). {promise.reason}")
    if not getattr(env, "independent_arrivals", True):
        raise NotApplicable(
            f"the theorems' constant is for contexts that arrive independently, but those of {env.name} do not; "
            "if arrivals are ergodic, regret stays bounded by another constant"
        )
    problem, p = problem_numbers(env), report.p_interval[0]
    if report.exact:
        apart = theory.theorem_1(problem, 1 / p, report.lambda_0)
        merged = theory.theorem_1(problem, 1 / report.merged_p, report.lambda_0, report.merged)
        return min(apart, merged, key=lambda bound: bound.total)
    if p == 0 or report.lambda_0 == 0:
        raise NotApplicable(f"the theorem's constant for {env.name} cannot be computed. {promise.reason}")
    return theory.theorem_2(problem, p, report.lambda_0)
