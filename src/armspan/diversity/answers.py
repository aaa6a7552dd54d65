"""Evidence in words: the answers to the two questions, why, what follows, and what would settle an open question."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from armspan._text import counted
from armspan._typing import FloatArray
from armspan.diversity.covariate import least_diverse_half_space
from armspan.diversity.directions import combination
from armspan.diversity.evidence import LEAST_SPREAD, MOST_LEADLESS, Evidence, both
from armspan.diversity.fits import FEWEST_EACH_WAY
from armspan.diversity.report import Verdict
from armspan.diversity.sample import Sample

CONSTANT = "Does theory promise constant regret?"
COUNT_ON = "Can you count on constant regret?"
"""The same of contexts that were seen. Where an arm leads, but too rarely for the thresholds, theory may promise it."""
DIVERSE = "Diverse? (Does playing the best arm teach about every arm?)"
GAP = "Gap? (Is the best arm ahead by a margin in nearly all contexts?)"
HLS = "Do the optimal features span (HLS)?"
ONE_THETA = "In a model with one θ for all arms, that and a gap make OFUL's regret constant."
COST = "Making sure that such an arm is worse costs regret of at least log T."
RARE = "Playing the best arm teaches so little about it that exploration may go on for as long as you look."
NO_INTERCEPT = "No feature is constant: add a column of ones (an intercept) before anything else."
FEW_GROUPS = round(FEWEST_EACH_WAY)
TIMES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""How many times as many rows are tried, to see whether they would settle a question."""

FOLLOWS = {
    "yes": "A policy that explores by width, such as LinUCB-d, will stop exploring by itself.",
    "no": "Keep exploring, and expect what that costs to grow with the horizon.",
    "not known": "Keep exploring, as if the answer were no, and ask again with more rows.",
}
"""What to do on each answer."""
BLIND_FOLLOWS = "Keep exploring, as if the answer were no."
"""What to do where more rows of the same kind would not settle anything."""


class Problem(NamedTuple):
    """What the words need: names, the margin, rows of each arm (None if parameters are known), `Whitened.weights`.

    groups : of each arm's rows, if rows belong together.
    """

    arms: Sequence[str]
    features: Sequence[str]
    margin: float
    rows: Sequence[int] | None
    weights: FloatArray
    groups: Sequence[int] | None = None


class More(NamedTuple):
    """What would settle a question: how many times as many rows (0 if none of `TIMES` is enough), which arm, where.

    fewest : where nothing is known about the arm, the least number of rows it must have, which must vary in all
        directions; otherwise 0. elsewhere : the arm's rows where another arm looks best, if they are too few. few :
        whether too few groups tell of the arm in this direction.
    """

    times: int
    arm: int
    direction: FloatArray
    fewest: int = 0
    elsewhere: int | None = None
    few: bool = False


class Doubts(NamedTuple):
    """Reasons, or "" for none: why nothing can be said; why not "yes"; why contexts cannot be called diverse."""

    blind: str = ""
    unchecked: str = ""
    unseen: str = ""


def verdicts(
    problem: Problem, found: Evidence, doubts: Doubts, more: Callable[[str], More | None]
) -> tuple[Verdict, ...]:
    """Constant regret, diverse, gap; more : from a question ("diverse" or "gap") to what would settle it."""
    if doubts.blind:
        diverse, gap, reasons = "not known", "not known", (doubts.blind, doubts.blind)
    else:
        why_not = doubts.unchecked or doubts.unseen if found.diverse == "yes" else ""
        open_gap = doubts.unchecked if found.gap == "yes" else ""
        diverse, gap = ("not known" if why else said for said, why in ((found.diverse, why_not), (found.gap, open_gap)))
        still_open = diverse == "not known" and not why_not
        settled = _settled(problem, more("gap")) if gap == "not known" and not open_gap else ""
        reasons = (
            why_not or _diverse(problem, found, more("diverse") if still_open else None),
            open_gap or _gap(problem, found, diverse, settled),
        )
    answer = both(diverse, gap)
    why = {"yes": "Contexts are diverse and there is a gap.", "no": _because(diverse, gap)}.get(answer, "")
    if answer == "not known":
        asked = (("contexts are diverse", diverse), ("there is a gap", gap))
        open_ones = [words for words, said in asked if said == "not known"]
        why = f"These rows do not settle whether {' and whether '.join(open_ones)}."
    return (
        Verdict(COUNT_ON, answer, f"{why} {BLIND_FOLLOWS if doubts.blind else FOLLOWS[answer]}"),
        Verdict(DIVERSE, diverse, reasons[0]),
        Verdict(GAP, gap, reasons[1]),
    )


def _because(diverse: str, gap: str) -> str:
    if diverse == "no" and gap == "no":
        return "Contexts are not diverse, and there is no gap."
    return "Contexts are not diverse." if diverse == "no" else "There is no gap."


def _diverse(problem: Problem, found: Evidence, more: More | None) -> str:
    least_share, least_spread = found.needed
    K, m = len(problem.arms), f"{problem.margin:.3g}"
    never = np.flatnonzero(found.share[:, 1] < least_share)
    flat = np.flatnonzero(found.spread[:, 1] < least_spread)
    if never.size:
        a = int(never[0])
        return (
            f"Arm {problem.arms[a]} leads by {m} or more in "
            f"{_too_little(_percent(found.share[a, 1]), _percent(least_share), ' of the contexts')}. {RARE}"
        )
    if flat.size:
        a = int(flat[0])
        where = direction_of(problem, found.weakest[a])
        return (
            f"Where arm {problem.arms[a]} leads, contexts hardly vary along {where}: their spread there is "
            f"{_too_little(f'{K * found.spread[a, 1]:.2g}', f'{K * least_spread:.2g}')}. What the arm earns "
            "in that direction is not learnt by playing the best arm."
        )
    slack = np.minimum(found.share[:, 0] / least_share, found.spread[:, 0] / least_spread)
    a = int(np.argmin(slack))
    if slack[a] >= 1:
        return (
            f"Every arm leads by {m} or more in contexts that spread in all directions; the weakest is arm "
            f"{problem.arms[a]}, with at least {_percent(found.share[a, 0])} of the contexts and a spread of at least "
            f"{K * found.spread[a, 0]:.2g} (needed: {_percent(least_share)} and {K * least_spread:.2g})."
        )
    return (
        f"Arm {problem.arms[a]} leads by {m} or more in {_percent(found.share[a, 0])} to "
        f"{_percent(found.share[a, 1])} of the contexts, which spread by {K * found.spread[a, 0]:.2g} to "
        f"{K * found.spread[a, 1]:.2g} (needed: {_percent(least_share)} and {K * least_spread:.2g}). "
        f"{_settled(problem, more, a)}"
    )


def _gap(problem: Problem, found: Evidence, diverse: str, settled: str) -> str:
    (low, high), m = found.leadless, f"{problem.margin:.3g}"
    if found.gap == "yes":
        return f"In at least {_percent(1 - high)} of the contexts the best arm leads by {m} or more."
    if found.gap == "no":
        still = "; playing the best arm still teaches about every arm" if diverse == "yes" else ""
        return (
            f"The best arm leads by less than {m} in at least {_percent(low)} of the contexts. Expect regret like "
            f"log T, not constant{still}."
        )
    return (
        f"The best arm leads by less than {m} in {_percent(low)} to {_percent(high)} of the contexts "
        f"(allowed: {_percent(MOST_LEADLESS)}). {settled}"
    )


def _settled(problem: Problem, more: More | None, about: int | None = None) -> str:
    """What would settle a question, in words; about : the arm that it is about, if it is about one."""
    if more is None:
        return ""
    if problem.rows is None:
        return f"About {more.times} times as many contexts would settle it." if more.times else _NEVER
    name, rows = problem.arms[more.arm], problem.rows[more.arm]
    if more.elsewhere is not None:
        return unchecked(name, more.elsewhere, grouped=problem.groups is not None)
    where = direction_of(problem, more.direction)
    if problem.groups is not None and more.fewest > problem.groups[more.arm]:
        own = counted(problem.groups[more.arm], "group")
        return f"Nothing is known of arm {name}: it has rows of {own}, and at least {more.fewest:,} are needed."
    if more.few:
        return f"Too little is known of arm {name} along {where}: in effect, fewer than {FEW_GROUPS} groups tell of it."
    if more.fewest > rows:
        return f"Nothing is known of arm {name}: it has {rows:,} rows, and at least {more.fewest:,} are needed."
    if more.fewest:
        return f"Nothing is known of arm {name} along {where}: its {rows:,} rows do not vary there."
    why = "" if about in (None, more.arm) else ", the least certain where the best arm is in doubt,"
    need = f"above all rows of arm {name} ({rows:,} now){why} in contexts that differ along {where}"
    if not more.times:
        return f"{_NEVER} Other rows would help more, {need}."
    new = "" if problem.groups is None else ", of as many more groups,"
    return f"About {more.times} times as many rows{new} would settle it, {need}."


_NEVER = "It is too close to call: a thousand times as many rows of this kind might not settle it."


def unchecked(arm: str, rows: int, *, grouped: bool = False) -> str:
    """Why an arm's line is not believed where another arm looks best; rows : that it has there, or groups of them."""
    seen = f"its {rows:,} rows from there do" if rows > 1 else "its one row from there does" if rows else "the log does"
    seen = f"its rows of {counted(rows, 'group')} from there do" if grouped and rows else seen
    return (
        f"That arm {arm} earns less where another arm looks best rests on a straight line: {seen} not rule out that "
        "rewards bend. Try it there more often; or, if you know that rewards are linear in these features, say so "
        "(linear=True, or --linear)."
    )


def never_seen(features: Sequence[str]) -> str:
    """Why contexts cannot be called diverse: features that might differ from 0 were never seen to; "" without any."""
    if not features:
        return ""
    names = ", ".join(features[:4]) + (", …" if len(features) > 4 else "")
    return f"Always 0 in these rows: {names}. If they can only be 0, exclude them; otherwise collect more rows."


def greedy(problem: Problem, sample: Sample, alpha: float) -> Verdict:
    """Covariate diversity of contexts (n, r), which greedy needs; a sample can refute it, and never prove it."""
    question = "Can you count on greedy (covariate diversity)?"
    z = sample.z
    half = z[sample.groups.halves[0]]
    u = least_diverse_half_space(half, np.full(len(half), 1 / len(half))).direction
    where = combination(problem.features, functional(problem, u), signed=True)
    if sample.most_spread(np.asarray(z @ u >= 0), alpha)[0] < LEAST_SPREAD / z.shape[1]:
        return Verdict(question, "no", f"In the half of contexts that lie along {where}, features hardly spread.")
    return Verdict(question, "not known", f"The least diverse half of contexts that was found lies along {where}.")


def estimated_span(spread: float) -> Verdict:
    """HLS of contexts that were seen, where estimates decide which arm is best: a number, not a verdict."""
    about = f"The spread of the best arms' features together is about {spread:.3g}, by the parameters given"
    ifs = "In a model with one θ for all arms, a true spread above 0 and a gap make OFUL's regret constant."
    return Verdict(HLS, "not known", f"{about}: an estimate, because they may be wrong. {ifs}")


def direction_of(problem: Problem, direction: FloatArray) -> str:
    """A whitened direction by the features that weigh most in it."""
    return combination(problem.features, functional(problem, direction))


def functional(problem: Problem, direction: FloatArray) -> FloatArray:
    """A whitened direction by what it weighs features with, at one scale and with length 1."""
    weights = problem.weights @ direction
    length = float(np.linalg.norm(weights))
    return np.asarray(weights / length) if length > 0 else weights


def _too_little(most: str, needed: str, of: str = "") -> str:
    """An upper limit that is below what is needed, though rounding may hide it."""
    if most == needed:
        return f"less than {needed}{of}, the least that is needed"
    return f"at most {most}{of} (needed: {needed} or more)"


def _percent(value: float) -> str:
    if 0.99 < value < 1:  # which must not read as all
        return f"{math.floor(1e4 * value) / 100:g} %"
    return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.2g} %"
