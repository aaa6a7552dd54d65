"""Whether LinUCB-d is the best choice in a problem of the arena, and why, in the words of the diversity report."""

from functools import cache
from typing import NamedTuple

from armspan.diversity import audit
from armspan.diversity.answers import DIVERSE, GAP
from armspan.diversity.moments import one_theta
from armspan.environments import Environment
from armspan.experiments.standing import Bout

OWN, BOLD = "LinUCB-d", "greedy"
MOST_AUDITED = 20
"""Parameters up to which contexts that do not recur are audited; with more that takes minutes."""


class Choice(NamedTuple):
    """LinUCB-d in one problem. best : yes, no or not known. said : how it stands. why : the reason."""

    best: str
    said: str
    why: str


class Found(NamedTuple):
    """What is known of a problem: answers on diversity and gap, the reasons, λ₀ (0 if not known), and if θ is one."""

    diverse: str
    gap: str
    reason: str
    lambda_0: float
    one_theta: bool


@cache
def choice(bout: Bout) -> Choice | None:
    """What is to be said of LinUCB-d; None where it did not take part."""
    if OWN not in bout.relative:
        return None
    ratio, worse = bout.relative[OWN], bout.told_apart(OWN)
    if bout.best == OWN:
        said = f"{OWN} is the best choice here."
        if len(bout.order) > 1:
            second = bout.order[1]
            said = f"{OWN} is the best choice here; {second} is next, with {bout.relative[second]} times its regret."
    elif worse:
        said = f"{OWN} is not the best choice here: it has {ratio} times the regret of {bout.best}."
    else:
        said = f"{OWN} may be the best choice here: it has {ratio} times the regret of {bout.best}, perhaps by chance."
    best = "yes" if bout.best == OWN else "no" if worse else "not known"
    return Choice(best, said, _outside(bout.env, worse) or _inside(bout, worse))


def _outside(env: Environment, worse: bool) -> str:
    """Why there is no diversity report, if there is none."""
    if env.outside_theory is None:
        return ""
    end = f", so nothing says that {OWN}'s α_t is right for it" if worse else ""
    return f"Theory does not cover this problem ({env.outside_theory}){end}."


def _inside(bout: Bout, worse: bool) -> str:
    """What the diversity report says, and what follows for α_t."""
    found = _found(bout.env)
    if not worse:
        return found.reason
    if found.diverse == "no":
        end = "What playing the best arm does not teach must be explored, and α_t does that as the worst case asks."
    elif found.gap == "yes" and found.lambda_0 > 0:
        end = "Playing the best arm teaches about every arm, so less exploration than α_t's is enough"
        bold = bout.relative.get(BOLD)
        none = bold is not None and bold.value > bout.relative[OWN].value
        little = f"; but no exploration at all is too little: {BOLD} has {bold} times the regret."
        end += little if none else "."
    elif found.gap == "yes":
        end = "In so few steps such arms are as good as never best, and α_t pays for making sure."
    else:
        end = "α_t explores as the worst case asks, and less is enough."
    alike = f" One θ explains the rewards of all arms, but {OWN} learns one for each." if found.one_theta else ""
    return f"{found.reason} {end}{alike}"


def _found(env: Environment) -> Found:
    """The diversity report in short; where contexts are too many to be audited soon, the paper's assumptions."""
    if env.n_contexts is None and env.n_arms * env.n_features > MOST_AUDITED:
        gap, diverse = (next(a for a in env.assumptions() if a.number == number) for number in ("1.2", "1.5"))
        answers = [{True: "yes", False: "no", None: "not known"}[a.holds] for a in (diverse, gap)]
        told = zip(("Diverse?", "Gap?"), answers, (diverse.reason, gap.reason), strict=True)
        said = " ".join(f"{question} {answer.capitalize()}. {why}" for question, answer, why in told)
        return Found(answers[0], answers[1], said, 0.0, one_theta(*env.sample(1000)))
    report = audit(env)
    diverse_, gap_ = (next(v for v in report.verdicts if v.question == question) for question in (DIVERSE, GAP))
    how = f", with λ₀ = {report.lambda_0:.3g}." if report.lambda_0 > 0 else f". {diverse_.reason}"
    ahead = f", Δ = {report.gap:.3g}." if gap_.answer == "yes" else f". {gap_.reason}"
    said = f"Diverse? {diverse_.answer.capitalize()}{how} Gap? {gap_.answer.capitalize()}{ahead}"
    return Found(diverse_.answer, gap_.answer, said, report.lambda_0, report.one_theta)
