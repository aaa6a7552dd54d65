"""What an audit of a log found: one entry per arm, the answers, and how they are shown."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from armspan import _html, _validate
from armspan._text import percent, table
from armspan._typing import FloatArray
from armspan.diversity.drift import Drift
from armspan.diversity.likely import Likely
from armspan.diversity.report import Verdict

if TYPE_CHECKING:
    from armspan.plots import Axes

_HEAD = ("arm", "rows", "best in … of contexts", "spread there")


@dataclass(frozen=True)
class LoggedArm:
    """One arm of a log.

    Attributes
    ----------
    name : str
        Its name.
    rows : int
        How many decisions the log has for it.
    known : bool
        Whether those are enough.
    best : (float, float)
        Limits on the share of contexts in which it is best; they hold for all arms at once.
    share : (float, float)
        Limits on the share of contexts in which it leads by the margin.
    spread : (float, float)
        Limits on how far those contexts spread (K·S_a): 1 if all arms' contexts are alike, 0 if they do not span.
    words : str
        The direction in which its contexts spread least.
    """

    name: str
    rows: int
    known: bool
    best: tuple[float, float]
    share: tuple[float, float]
    spread: tuple[float, float]
    words: str


@dataclass(frozen=True, eq=False)
class LoggedDiversity:
    """What a log says about its contexts. `armspan.diversity.audit_log` returns one; print it to read it.

    Attributes
    ----------
    name : str
        Name of the log.
    verdicts : tuple of Verdict
        Constant regret, diverse, gap and greedy, in this order.
    arms : tuple of LoggedArm
        One entry per arm.
    feature_names : tuple of str
        The features that were used.
    rank : int
        In how many directions they vary.
    redundant : str
        What is always true of the features, if they vary in fewer directions than there are features.
    margin : float
        By how much an arm must lead, in units of the reward.
    level : float
        How often an answer may be wrong.
    needed : (float, float)
        The least `share` and `spread` that every arm must have for the answer "diverse".
    leadless : (float, float)
        Limits on the share of contexts in which no arm leads by the margin.
    weakest : (d,) array
        The direction that has been seen least.
    shared_spread : float
        Spread of the best arms' features together (HLS), an estimate: λ_min of the rows' E[xxᵀ]. Arms have the same
        features, so it does not matter which is best.
    drift : Drift or None
        How fast mean rewards change with time, with `half_life` in rows and `gain`, if the log shows that they do. Rows
        are taken to be in order of time.
    likely : Likely or None
        A model of the log, in which `armspan.recommend` can try out policies; None if all rewards are the same.
    groups : int or None
        How many groups the rows belong to, if they were told apart (`by`).
    worth : float
        What a row is worth as a context: 1 if rows are independent, less if those of a group are alike.
    """

    name: str
    verdicts: tuple[Verdict, ...]
    arms: tuple[LoggedArm, ...]
    feature_names: tuple[str, ...]
    rank: int
    redundant: str
    margin: float
    level: float
    needed: tuple[float, float]
    leadless: tuple[float, float]
    weakest: FloatArray
    shared_spread: float
    drift: Drift | None
    likely: Likely | None = field(repr=False)
    groups: int | None = None
    worth: float = 1.0

    @property
    def together(self) -> str:
        """How many groups the rows belong to, and what that leaves of them; "" if each stands for itself."""
        if self.groups is None:
            return ""
        rows = sum(arm.rows for arm in self.arms)
        return (
            f"The rows belong to {self.groups:,} groups. As contexts, they count for about {self.worth * rows:,.0f} "
            "independent ones."
        )

    @property
    def how_sure(self) -> str:
        """How often an answer may be wrong, and under which conditions."""
        independent = "rows" if self.groups is None else "groups of rows"
        return (
            f"Where rewards are linear and {independent} independent, an answer is wrong in at most "
            f"{percent(self.level)} of logs."
        )

    @property
    def shared_words(self) -> str:
        """What the last number means."""
        return (
            f"Spread of the best arms' features together (HLS): about {self.shared_spread:.3g}, an estimate, not a "
            "verdict. It is for models with one θ for all arms; here arms have the same features, so that one θ could "
            "not tell them apart."
        )

    def __str__(self) -> str:
        rows = sum(arm.rows for arm in self.arms)
        lines = [
            f"{self.name}: {rows:,} decisions, {len(self.arms)} arms, {len(self.feature_names)} features",
            *([self.together] if self.together else []),
            *([self.redundant] if self.redundant else []),
            *table(_HEAD, list(map(_cells, self.arms))),
            f"Best: ahead by any lead. Spread there, and leads below: ahead by {self.margin:.3g} or more.",
            *(f"Weakest direction of {arm.name}: {arm.words}." for arm in self.arms),
        ]
        return "\n".join([*lines, *map(str, self.verdicts), self.how_sure, self.shared_words])

    def plot(self, what: str = "best", *, ax: "Axes | None" = None) -> "Axes":
        """Draw what was found, one row per arm.

        Parameters
        ----------
        what : {"best", "spread", "direction"}, default "best"
            The share of contexts in which each arm may be best; how far the contexts that it leads by the margin
            spread, with a dotted line at what the answer “diverse” needs; or the direction in which they spread least,
            as squares for the features that make it up. Bars are limits that hold for all arms at once.
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if left out.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the plot.
        """
        _validate.one_of("what", what, ("best", "spread", "direction"))
        from armspan.plots import arms, bars
        from armspan.plots.canvas import canvas

        names = [arm.name for arm in self.arms]
        with canvas(ax, (7.2, bars.height(len(names)))) as axes:
            if what == "best":
                arms.best(axes, names, np.array([arm.best for arm in self.arms]))
            elif what == "spread":
                arms.spread(axes, names, np.array([arm.spread for arm in self.arms]), needed=self.needed[1])
            else:
                known = np.array([[arm.words != "not known"] for arm in self.arms])
                arms.direction(axes, names, self.feature_names, np.where(known, self.weakest, np.nan))
        return axes

    @property
    def so(self) -> str:
        """What the first answer means if you want to switch exploration off, in a sentence."""
        ends = self.verdicts[0].answer == "yes"
        return "So: leave exploration on; that of LinUCB-d ends by itself." if ends else "So: keep exploring."

    def _repr_html_(self) -> str:
        rows = self.arms[: _html.MOST_ROWS]
        title, more = f"Diversity of {self.name}", len(self.arms) - len(rows)
        said = [(verdict.question, verdict.answer, verdict.reason) for verdict in self.verdicts]
        told = _html.table(("question", "answer", "why"), said)
        return _html.shown(title, _HEAD, list(map(_cells, rows)), more) + told


def _cells(arm: LoggedArm) -> tuple[str, ...]:
    best = f"{arm.best[0]:.1%} to {arm.best[1]:.1%}"
    return arm.name, f"{arm.rows:,}", best, f"{arm.spread[0]:.2g} to {arm.spread[1]:.2g}"
