"""The audit's findings in words that a user can act on: weakest directions, and answers with reasons."""

from collections.abc import Sequence

from armspan._text import counted, percent
from armspan._typing import BoolArray, FloatArray
from armspan.diversity.answers import CONSTANT, COST, DIVERSE, GAP, HLS, ONE_THETA
from armspan.diversity.directions import always, combination, scaled
from armspan.diversity.evidence import both
from armspan.diversity.report import ArmDiversity, DiversityReport, Verdict

TINY = 0.01
"""A gap below this share of the noise's scale is too small to help in practice."""


def direction_words(
    arm: str,
    features: Sequence[str],
    direction: FloatArray,
    share: float,
    missing: int,
    constant: BoolArray,
    sizes: FloatArray,
) -> str:
    """What an arm's weakest direction means.

    share : how much its optimal features vary there, compared with where they vary most. missing : in how many
    directions they do not vary at all. constant : (d,) features that never change there. sizes : (d,) of features.
    """
    where = combination(features, scaled(direction, sizes) if missing else direction)
    if constant.all() and len(features) > 1:
        return f"where arm {arm} is best, no feature changes"
    if missing:
        more = counted(missing - 1, "more direction") if missing > 1 else ""
        if rule := always(features, direction, constant):
            return f"where arm {arm} is best, {rule}" + (f"; features are flat in {more}" if more else "")
        return f"where arm {arm} is best, features do not vary along {where}" + (f", nor in {more}" if more else "")
    how = "hardly vary" if share < 0.01 else "vary least"
    return f"where arm {arm} is best, features {how} along {where} ({percent(share, 1)} of the largest variation)"


def verdicts(report: DiversityReport, noise_scale: float) -> tuple[Verdict, ...]:
    """Is regret constant: are contexts diverse, and is there a gap? Is greedy safe, do the optimal features span?"""
    diverse, gap = is_diverse(report), has_gap(report, noise_scale)
    return constant_regret(report, diverse, gap), diverse, gap, greedy_is_covered(report), optimal_features_span(report)


def constant_regret(report: DiversityReport, diverse: Verdict, gap: Verdict) -> Verdict:
    """The hypotheses of Theorems 1 and 2."""
    answer = both(diverse.answer, gap.answer)
    if answer == "yes" and report.lambda_0 > 0:
        reason = f"Every arm's own contexts span, with λ₀ = {report.lambda_0:.3g} and δ = {report.delta:.3g}."
        if report.exact or report.p_interval[0] > 0:
            return Verdict(CONSTANT, answer, reason)
    decisive = gap if diverse.answer == "yes" and answer != "yes" else diverse
    return Verdict(CONSTANT, answer, decisive.reason)


def is_diverse(report: DiversityReport) -> Verdict:
    """Assumption 1.5: every arm is best, alone, in contexts whose features span."""
    never = [row.name for row in report.arms if row.spans is False and row.probability == 0]
    tied = [row.name for row in report.arms if row.name in never and row.ties]
    flat = [row for row in report.arms if row.spans is False and row.probability > 0]
    if tied:
        reason = f"Never best alone, only tied: {_list(tied)}. Theory asks that each arm is best alone somewhere."
        return Verdict(DIVERSE, "no", reason)
    if never:
        return Verdict(DIVERSE, "no", f"Never best: {_list(never)}. {COST}")
    if flat:
        which = _list([row.name for row in flat])
        return Verdict(DIVERSE, "no", f"Best in contexts that do not span: {which}; {flat[0].words}.")
    if unknown := [row for row in report.arms if row.spans is None]:
        return Verdict(DIVERSE, "not known", _too_rare(unknown, report.samples))
    if not report.exact and not report.p_interval[0] > 0:
        rare = [row for row in report.arms if row.second_moment == 0]
        why = _too_rare(rare, report.samples) if rare else "No basis was found near which contexts arrive often."
        but = "but some contexts are too rare to measure λ₀ and p"
        return Verdict(DIVERSE, "yes", f"Every arm's own contexts span, {but}. {why}")
    return Verdict(DIVERSE, "yes", "Every arm is best in contexts that span the feature space.")


def has_gap(report: DiversityReport, noise_scale: float) -> Verdict:
    """Assumption 1.2: an arm that is not best falls behind by at least Δ, in every context."""
    if report.gap > 0:
        words = f"In every context, an arm that is not best falls behind by Δ = {report.gap:.3g} or more."
        if report.gap < TINY * noise_scale:  # R²/Δ² pulls: the standard error of their mean is then Δ
            pulls = f"about {(noise_scale / report.gap) ** 2:.1g} pulls"
            words += f" Beside noise of {noise_scale:.3g} that is tiny: to see it takes {pulls}, so do not count on it."
        return Verdict(GAP, "yes", words)
    often = f"it leads by less than {report.margin:.3g} in 5 % of the contexts, and in some by less than any margin"
    often = often if report.margin > 0 else "in some contexts it does not lead at all"
    reason = f"There is no gap between the best arm and the next: {often}. Expect regret like log T, not constant."
    return Verdict(GAP, "no", reason)


def _too_rare(rows: Sequence[ArmDiversity], samples: int | None) -> str:
    """What a sample says of arms that it hardly saw best."""
    assert samples is not None
    unseen, few = ([row.name for row in rows if (row.probability == 0) is never] for never in (True, False))
    seen = f"in {samples:,} sampled contexts"
    below = f"so the probability is below {3 / samples:.2g}"
    words = [f"Never seen best {seen}: {_list(unseen)}, {below}."] if unseen else []
    return " ".join(words + ([f"Seen best too rarely {seen} to tell how it varies: {_list(few)}."] if few else []))


def greedy_is_covered(report: DiversityReport) -> Verdict:
    """Covariate diversity, which the greedy policy needs."""
    question = "Is greedy covered by theory (covariate diversity)?"
    worst = report.half_space
    known = None if report.exact else report.problem.certain_half_space()
    where = combination(report.feature_names, worst.direction if known is None else known, signed=True)
    if worst.eigenvalue == 0 or known is not None:
        words = f"The features with uᵀx ≥ 0 do not span for u along {where}"
        if report.exact or known is not None:
            return Verdict(question, "no", f"{words}.")
        return Verdict(question, "not known", f"{words}, but only {report.samples:,} sampled contexts were looked at.")
    answer = "yes" if worst.certain and report.exact else "not known"
    certainty = "no half-space is worse" if worst.certain else "the worst half-space found"
    return Verdict(question, answer, f"λ_min = {worst.eigenvalue:.3g} for u along {where}, {certainty}.")


def optimal_features_span(report: DiversityReport) -> Verdict:
    """HLS, which asks less than Assumption 1.5, of a model with one θ: all arms together instead of each.

    Contexts in which arms tie for best are left out: which features are then seen is anyone's guess.
    """
    spread, full = report.shared_spread, report.optimal_rank == report.n_features
    if full and spread > 0:
        value = f"{spread:.3g}" + ("" if report.exact else " ({:.3g} to {:.3g})".format(*report.shared_spread_interval))
        here = "" if report.one_theta else " Here each arm has its own θ, and what counts is λ₀."
        here = here or ("" if report.gap > 0 else " Here there is no gap.")
        return Verdict(HLS, "yes", f"The spread of the best arms' features together is {value}. {ONE_THETA}{here}")
    rank = f"The best arms' features together have rank {report.optimal_rank} of {report.n_features}"
    if full:
        return Verdict(HLS, "not known", f"{rank}, but only if ties count, or by hardly more than rounding.")
    if not report.exact:
        return Verdict(HLS, "not known", f"{rank} in {report.samples:,} sampled contexts.")
    lost = "In a model with one θ for all arms, playing the best arm does not teach all of θ."
    return Verdict(HLS, "no", f"{rank}. {lost}")


def _list(arms: Sequence[str]) -> str:
    return ", ".join(f"arm {arm}" for arm in arms)
