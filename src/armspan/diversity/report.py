"""What an audit finds: numbers and words for every arm, numbers and verdicts for all of them together."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan import _html, _validate
from armspan._text import percent, table
from armspan._typing import FloatArray
from armspan.diversity.basis import Basis
from armspan.diversity.covariate import HalfSpace
from armspan.diversity.meta import MetaContexts
from armspan.errors import NotApplicable

if TYPE_CHECKING:
    from armspan.plots import Axes

RARE = 5e-4
"""Shares below this read as "at most …", for 0.01 % would hide what they are."""
_HEAD = ("arm", "is best", "λ_min there", "rank", "best basis")


@dataclass(frozen=True)
class ArmDiversity:
    """One arm in the contexts in which it alone is best.

    Attributes
    ----------
    arm, name : int, str
        Its number and its name.
    features : (m, d) array
        Its features there, in all contexts or in those that were sampled.
    moment : (d, d) array
        E[xxᵀ | it is best]; 0 if it never is.
    probability, probability_interval : float, (float, float)
        How often it is best, with a 95 % interval, which is a point if all contexts were looked at.
    second_moment, second_moment_interval : float, (float, float)
        λ_min(E[xxᵀ | it is best]) of Assumption 1.5, likewise.
    spans : bool or None
        Whether it is best somewhere and its features there span; None if a sample cannot tell.
    ties : bool
        Whether it ties for best in some context.
    rank : int
        Rank of its features there, at the tolerance of the audit.
    basis : Basis
        The best basis among its features there.
    basis_features : (d, d) array
        The features of that basis, if there is one.
    weakest_direction : (d,) array
        The direction in which its features vary least.
    words : str
        What that direction means.
    """

    arm: int
    name: str
    features: FloatArray
    moment: FloatArray
    probability: float
    probability_interval: tuple[float, float]
    second_moment: float
    second_moment_interval: tuple[float, float]
    spans: bool | None
    ties: bool
    rank: int
    basis: Basis
    basis_features: FloatArray
    weakest_direction: FloatArray
    words: str


@dataclass(frozen=True)
class Verdict:
    """A question, its answer, and why.

    Attributes
    ----------
    question : str
        What is asked.
    answer : str
        "yes", "no" or "not known".
    reason : str
        Why, in a sentence or two.
    """

    question: str
    answer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.question} {self.answer.capitalize()}. {self.reason}"


@dataclass(frozen=True)
class DiversityReport:
    """How diverse an environment's contexts are. `armspan.audit` returns one; print it to read it.

    Attributes
    ----------
    environment : str
        What was audited.
    lambda_0, lambda_0_upper : float
        λ₀ of Section 4 is at least the first and at most the second; they are equal if the search was exact.
    gap : float
        Δ, the least by which an arm that is not best falls behind.
    delta : float
        δ = l√(d/λ₀), infinite without diversity.
    p, p_interval : float, (float, float)
        How often the rarest context of the bases arrives, or the rarest meta-context (Section 5) where contexts do not
        recur, with a 95 % interval; 0 if there is no basis.
    merged_p, merged : float, int
        The same if contexts with the same basis features count as one, and how many then count as one at most.
    arms : tuple of ArmDiversity
        One entry per arm.
    feature_names : tuple of str
        Names of the features.
    half_space : HalfSpace
        The least diverse half-space of any arm's features (covariate diversity).
    shared_spread, shared_spread_interval : float, (float, float)
        Spread of the best arms' features together (HLS): λ_min(E[xxᵀ]) for the features x of the best arm, where one
        alone is best, with a 95 % interval.
    optimal_rank : int
        Rank of these features, and of those of arms that tie for best.
    one_theta : bool
        Whether one θ for all arms explains the mean rewards, which is the model that HLS is about.
    margin : float
        In 5 % of the contexts the best arm leads by less than this.
    meta : MetaContexts or None
        The meta-contexts, if contexts do not recur and every arm's features span.
    samples : int or None
        How many contexts were drawn to measure all this; None if all contexts were looked at.
    verdicts : tuple of Verdict
        Questions with answers and reasons.
    problem : Environment or ContextData
        The audited problem itself, in which `armspan.recommend` can try out policies.
    """

    environment: str
    lambda_0: float
    lambda_0_upper: float
    gap: float
    delta: float
    p: float
    p_interval: tuple[float, float]
    merged_p: float
    merged: int
    arms: tuple[ArmDiversity, ...]
    feature_names: tuple[str, ...]
    half_space: HalfSpace
    shared_spread: float
    shared_spread_interval: tuple[float, float]
    optimal_rank: int
    one_theta: bool
    margin: float
    meta: MetaContexts | None
    samples: int | None
    verdicts: tuple[Verdict, ...]
    problem: Any = field(repr=False, compare=False)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.feature_names)

    @property
    def exact(self) -> bool:
        """Whether all contexts were looked at, rather than a sample."""
        return self.samples is None

    def __str__(self) -> str:
        seen = "all contexts" if self.samples is None else f"{self.samples:,} sampled contexts"
        p = f"{self.p:.4g}" if self.exact else f"{self.p:.3g} ({self.p_interval[0]:.2g} to {self.p_interval[1]:.2g})"
        if self.merged_p > self.p:
            p += f" ({self.merged_p:.4g} if contexts with equal features count as one)"
        lines = [
            f"{self.environment}, measured on {seen}",
            f"λ₀ = {self.lambda_0_words}, gap Δ = {self.gap:.4g}, δ = {self.delta:.4g}, p = {p}"
            if self.lambda_0 > 0 or not all(row.spans for row in self.arms)
            else f"gap Δ = {self.gap:.4g}; some contexts are too rare to measure λ₀, δ and p",
            f"In 95 % of the contexts the best arm leads by at least {self.margin:.4g}",
            *table(_HEAD, list(map(_cells, self.arms))),
            *(f"{row.words[0].upper()}{row.words[1:]}." for row in self.arms),
        ]
        if not self.exact:
            lines.append("95 % intervals: " + "; ".join(map(_intervals, self.arms)))
        return "\n".join([*lines, *map(str, self.verdicts)])

    def plot(self, what: str = "best", *, ax: "Axes | None" = None) -> "Axes":
        """Draw what was found, one row per arm.

        Parameters
        ----------
        what : {"best", "spread", "direction", "span"}, default "best"
            How often each arm is best; how far the contexts in which it is best spread, λ_min(E[xxᵀ | it is best]); the
            direction in which they spread least, as squares for the features that make it up; or, with two features,
            the contexts themselves as arrows, with the area that each arm's best basis spans. Bars are 95 % intervals;
            they are points where all contexts were looked at.
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if left out.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the plot.
        """
        _validate.one_of("what", what, ("best", "spread", "direction", "span"))
        if what == "span" and self.n_features != 2:
            raise NotApplicable(f"what='span' draws two features, and these contexts have {self.n_features}")
        from armspan.plots import arms, bars
        from armspan.plots.canvas import canvas, legend
        from armspan.plots.spans import spans

        rows, names = self.arms, [row.name for row in self.arms]
        with canvas(ax, (7.2, 5.0 if what == "span" else bars.height(len(rows)))) as axes:
            if what == "best":
                ends = np.array([row.probability_interval for row in rows])
                arms.best(axes, names, ends, np.array([row.probability for row in rows]))
            elif what == "spread":
                ends = np.array([row.second_moment_interval for row in rows])
                middle = np.where(np.isinf(ends[:, 1]), np.nan, [row.second_moment for row in rows])
                arms.spread(axes, names, ends, middle, words="λ_min(E[xxᵀ | it is best])")
            elif what == "direction":
                directions = [
                    row.weakest_direction if row.features.size else np.nan * row.weakest_direction for row in rows
                ]
                arms.direction(axes, names, self.feature_names, np.array(directions))
            else:
                spans(axes, names, [row.features for row in rows], [row.basis_features for row in rows])
                axes.set(title="features of the contexts in which each arm is best")
                axes.set(xlabel=f"feature {self.feature_names[0]}", ylabel=f"feature {self.feature_names[1]}")
                legend(axes)
        return axes

    def _repr_html_(self) -> str:
        rows = self.arms[: _html.MOST_ROWS]
        title, more = f"Diversity of {self.environment}", len(self.arms) - len(rows)
        said = [(verdict.question, verdict.answer, verdict.reason) for verdict in self.verdicts]
        told = _html.table(("question", "answer", "why"), said)
        return _html.shown(title, _HEAD, list(map(_cells, rows)), more) + told

    @property
    def lambda_0_words(self) -> str:
        """λ₀, or the interval in which it lies."""
        low, high = self.lambda_0, self.lambda_0_upper
        if high == 0 and all(row.spans for row in self.arms):
            return "too rare to measure"
        if low == high:
            return f"{low:.5g}"
        return f"{low:.5g} or more" if np.isinf(high) else f"{low:.5g} to {high:.5g}"


def _cells(row: ArmDiversity) -> tuple[str, ...]:
    moment = "?" if row.second_moment == 0 and row.spans is not False else f"{row.second_moment:.4g}"
    return row.name, f"{row.probability:.2%}", moment, f"{row.rank}", f"{row.basis.eigenvalue:.4g}"


def _intervals(row: ArmDiversity) -> str:
    (low, high), (least, most) = row.probability_interval, row.second_moment_interval
    there = f", λ_min there {least:.4g} to {most:.4g}" if np.isfinite(most) else ""
    often = f"at most {100 * high:.2g} %" if high < RARE else f"{percent(low, 2)} to {percent(high, 2)}"
    return f"arm {row.name} is best in {often} of the contexts{there}"
