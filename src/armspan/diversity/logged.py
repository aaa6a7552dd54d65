"""The audit of logged decisions: two questions, each answered yes, no or not known, with a stated error rate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan import _html, _validate
from armspan._frames import frame_values, is_frame
from armspan._text import percent, table
from armspan._typing import FloatArray, IntArray
from armspan.diversity import answers
from armspan.diversity.data import check_names
from armspan.diversity.directions import always, combination, plainest, scaled
from armspan.diversity.drift import Drift, drift
from armspan.diversity.elsewhere import Elsewhere, elsewhere
from armspan.diversity.evidence import LEVEL, MARGIN, PART, Evidence, best_shares, both, evidence, leaders
from armspan.diversity.fits import (
    Bands,
    Fits,
    Whitened,
    check_sizes,
    fewest_rows,
    fit_arms,
    mixture,
    says_constant,
    scheffe,
    whiten,
)
from armspan.diversity.following import followed
from armspan.diversity.groups import Groups, numbered
from armspan.diversity.likely import Likely, likely
from armspan.diversity.moments import weakest
from armspan.diversity.plausible import Plausible, plausible
from armspan.diversity.report import Verdict
from armspan.diversity.sample import Sample
from armspan.errors import InvalidParameter

if TYPE_CHECKING:
    from armspan.plots import Axes

LARGEST = 1e140
MOST_AHEAD, FEWEST_AHEAD = 300_000, 1_000
"""Contexts times arms by which it is foretold how many rows are missing, at most; but at least so many contexts."""
ALSO_CROOKED = "They are not linear in these features either, which looks alike where contexts change with time."
INTERCEPT = "intercept"
"""What the constant feature is called, by agents too."""
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


class Judged:
    """A log's fits and what they show, before it is put into words."""

    def __init__(
        self,
        X: FloatArray,
        arms: IntArray,
        rewards: FloatArray,
        n_arms: int,
        *,
        level: float,
        margin: float | None = None,
        strict: bool = False,
        noise_scale: float | None = None,
        linear: bool = False,
        by: IntArray | None = None,
    ) -> None:
        alpha = level / PART
        self.alpha, self.arms, self.rewards = alpha, arms, rewards
        self.white: Whitened = whiten(X)
        z = self.white.z
        self.sample = Sample.of(z, Groups(len(z), by))
        self.fits: Fits = fit_arms(self.white, arms, rewards, n_arms, alpha, self.sample.groups)
        spread = float(rewards.std())
        self.varies = spread > 1e-9 * float(np.abs(rewards).max())
        spread = spread if self.varies else 0.0  # what is left is rounding
        self.margin = MARGIN * spread if margin is None else margin
        self.drift: Drift | None = drift(self.sample, arms, rewards, n_arms, alpha) if self.varies else None
        scale = self.fits.noise if noise_scale is None else noise_scale
        bands = mixture(z, self.fits, alpha, scale) if strict else scheffe(z, self.fits, alpha)
        self.elsewhere: Elsewhere | None = (
            None if linear else elsewhere(self.sample, bands, self.fits, arms, rewards, alpha)
        )
        self.bands: Bands = bands if self.elsewhere is None else self.elsewhere.hidden(bands)
        self.followed: int | None = followed(self.sample, arms, rewards, self.fits, alpha)
        self.unseen: IntArray = np.flatnonzero(np.abs(X).max(axis=0) == 0)
        self.evidence: Evidence = evidence(self.sample, self.bands, self.margin, alpha)
        self.drawn: Plausible | None = None
        if not strict and self.evidence.diverse == "not known" and self.fits.known.any() and not self.blind:
            everywhere = np.ones(n_arms, dtype=bool) if self.elsewhere is None else ~self.elsewhere.untried
            self.drawn = plausible(self.fits, self.sample, arms, everywhere, alpha)
            self.evidence = evidence(self.sample, self.bands, self.margin, alpha, self.drawn)
        self.best = best_shares(self.sample, self.bands, alpha)
        if self.blind:
            everything = np.tile([0.0, 1.0], (n_arms, 1))
            self.best, self.evidence = everything, replace(self.evidence, share=everything, spread=everything)

    @property
    def blind(self) -> bool:
        """Whether nothing can be said, whatever the numbers are."""
        return not self.margin > 0 or self._crooked or self.drift is not None or self.followed is not None

    @property
    def _crooked(self) -> bool:
        """Whether some arm's rewards are not linear in the features."""
        return bool((self.fits.crooked > self.margin / 2).any())

    def why_blind(self, arms: Sequence[str]) -> str:
        """In words, or "" where it is not."""
        if not self.blind:
            return ""
        if not self.margin > 0:
            return "All rewards are the same."
        if self.drift is not None:
            return self.drift.words + f" {ALSO_CROOKED}" * self._crooked
        if self.followed is not None and not self._crooked:
            return (
                f"What arm {arms[self.followed]} earns goes with how often its group was given it: the policy seems to "
                "have followed what single groups like, and then arms look better than they are. Audit rows whose arms "
                "were chosen otherwise, such as at random."
            )
        a = int(np.argmax(self.fits.crooked))
        off = f"rewards of arm {arms[a]} are not linear in these features: they are typically off by"
        off = f"{off} {self.fits.crooked[a]:.2g}."
        if self.lacks_intercept:
            return f"{answers.NO_INTERCEPT} Without it, the {off}"
        return f"The {off} Add features, such as squares or products, and ask again."

    def model(self, X: FloatArray, arms: Sequence[str]) -> Likely:
        """What the log leaves likely."""
        told: Any = {"residual": self.fits.noise if self.fits.known.any() else None, "caveat": self.why_blind(arms)}
        return likely(X, self.white.z, self.arms, self.rewards, self.fits.gram, **told)

    @property
    def lacks_intercept(self) -> bool:
        """Whether no feature is constant, and no sum of features, such as one per category, is constant either."""
        return not says_constant(self.white.z)

    def answer(self, question: str) -> str:
        """The answer to "diverse", "gap" or "constant"."""
        if question == "constant":
            return both(self.answer("diverse"), self.answer("gap"))
        found = "not known" if self.blind else str(getattr(self.evidence, question))
        unchecked = self.elsewhere is not None and bool(self.elsewhere.open().any())
        silenced = unchecked or (question == "diverse" and self.unseen.size > 0)
        return "not known" if found == "yes" and silenced else found

    def why_unchecked(self, arms: Sequence[str]) -> str:
        """Why "yes" is not said though lines say it: the arm of which least is seen where others look best; or ""."""
        if self.elsewhere is None or not self.elsewhere.open().any():
            return ""
        a = int(np.argmin(np.where(self.elsewhere.open(), self.elsewhere.rows, len(self.arms))))
        return answers.unchecked(arms[a], int(self.elsewhere.rows[a]), grouped=self.sample.groups.numbers is not None)

    def more(self, question: str) -> answers.More:
        """What would settle an open question: more rows of this kind, of which arm, in which direction."""
        z, known = self.white.z, self.fits.known
        if not known.all():
            arm = int(np.flatnonzero(~known)[np.argmin(self.fits.rows[~known])])
            if self.fits.each_way[arm] > 0:
                return answers.More(0, arm, self.fits.thin[arm], few=True)
            flat = np.linalg.eigh(self.fits.gram[arm])[1][:, 0]
            return answers.More(0, arm, flat, fewest_rows(z.shape[1]) + 1)
        if self.elsewhere is not None and self.elsewhere.untried.any():
            arm = int(np.argmin(np.where(self.elsewhere.untried, self.elsewhere.rows, len(self.arms))))
            return answers.More(0, arm, z[0], elsewhere=int(self.elsewhere.rows[arm]))
        settled = (times for times in answers.TIMES if self._settles(question, times))
        times = next(settled, 0)
        found_now = leaders(self.bands, self.margin, sure=self.bands.one_arm, may=self.bands.all_arms)
        unclear = found_now.may & (found_now.surely < 0)[:, None]
        arm = int(np.argmax((self.bands.variance * unclear).sum(axis=0)))
        return answers.More(times, arm, np.linalg.eigh(self.fits.covariance[arm, 0])[1][:, -1])

    def _settles(self, question: str, times: float) -> bool:
        """Whether so many times as many rows would answer a question."""
        answer = getattr(self._with_more(times), question)
        return answer == "no" or (answer == "yes" and not (self.elsewhere and self.elsewhere.open(times).any()))

    @lru_cache(maxsize=len(answers.TIMES))  # noqa: B019
    def _with_more(self, times: float) -> Evidence:
        """What so many times as many rows would show, by some of the contexts where there are many."""
        n, K = self.bands.means.shape
        step = max(min(n * K // MOST_AHEAD, n // FEWEST_AHEAD), 1)
        bands, factor = self.bands.some(step), math.sqrt(times)
        drawn = self.drawn and self.drawn.narrower(factor)
        return evidence(self.sample.more(times, step), bands.narrower(factor), self.margin, self.alpha, drawn)


def audit_log(
    X: Any,
    arms: Sequence[Any],
    rewards: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    arm_names: Sequence[Any] | None = None,
    intercept: bool = False,
    name: str = "log",
    level: float = LEVEL,
    margin: float | None = None,
    strict: bool = False,
    noise_scale: float | None = None,
    linear: bool = False,
    by: Any = None,
) -> LoggedDiversity:
    """Audit logged decisions: are their contexts diverse, and is there a gap?

    Parameters
    ----------
    X : (n, d) array or DataFrame
        Features, shared by the arms, as numbers: words must be turned into one column per category.
    arms : list of n names
        The arm that was chosen in each row.
    rewards : (n,) array
        The reward that came of it.
    feature_names : list, optional
        Names of the features in the answers; if left out, the columns of a DataFrame, or else numbers from 0.
    arm_names : list, optional
        All the arms, if some of them may have no rows.
    intercept : bool, default False
        Add a constant feature 1, as the last one, called "intercept". Refused if X has a constant feature already.
    name : str, default "log"
        Name of the log in the report.
    level : float, default 0.05
        How often an answer may be wrong.
    margin : float, optional
        By how much an arm must lead; 5 % of the rewards' standard deviation if left out.
    strict : bool, default False
        Use bands that hold by proof under any logging policy; they need two to four times as many rows, as a rule.
    noise_scale : float, optional
        R, for which the noise is R-subgaussian, for `strict`: ½ for clicks; the residuals' standard deviation if left
        out.
    linear : bool, default False
        Take it that rewards are linear in the features. Otherwise there is no "yes" where an arm was hardly tried in
        contexts in which another one looks best, since a straight line may be wrong there.
    by : list of n labels, optional
        Which rows belong together: those with the same label, such as the visits of one visitor, or the decisions of
        one day. They may depend on each other in any way, and count for less than as many independent rows. Without
        labels, all rows are taken to be independent.

    Returns
    -------
    LoggedDiversity
        Limits for every arm, and verdicts; print it to read it.
    """
    if is_frame(X):
        feature_names = list(X.columns) if feature_names is None else feature_names
        X = frame_values("X", X, list(X.columns))
    X = _validate.array("X", X, shape=("rows", "features"))
    rewards = _validate.array("rewards", rewards, shape=(len(X),))
    check_names("feature_names", feature_names, X.shape[1])
    if not isinstance(intercept, bool):
        raise InvalidParameter(f"intercept must be True or False, got {intercept!r:.60}")
    if not isinstance(linear, bool):
        raise InvalidParameter(f"linear must be True or False, got {linear!r:.60}")
    features = list(map(str, range(X.shape[1]) if feature_names is None else feature_names))
    check_sizes(X, features)
    if intercept:
        X, features = with_intercept(X, features)
    if not 0 < _validate.real("level", level, above=0) < 0.5:
        raise InvalidParameter(f"level must be > 0 and < 0.5, got {level:g}")
    if margin is not None:
        _validate.real("margin", margin, above=0)
    if noise_scale is not None:
        _validate.real("noise_scale", noise_scale, above=0)
    if max(np.abs(X).max(), np.abs(rewards).max()) > LARGEST:
        raise InvalidParameter(f"X and rewards must be at most {LARGEST:g}, so that sums of squares are numbers")
    if not np.any(X):
        raise InvalidParameter("X must not be all 0")
    if noise_scale is not None and not strict:
        raise InvalidParameter(f"noise_scale needs strict=True, got {noise_scale:g} without it")
    if isinstance(arms, str) or not hasattr(arms, "__len__"):
        raise InvalidParameter(f"arms must be a sequence of names, one per row of X, got {arms!r:.60}")
    if len(arms) != len(X):
        raise InvalidParameter(f"arms must have {len(X)} entries, one per row of X, got {len(arms)}")
    _validate.unmasked("arms", arms)
    names, chosen = _numbered(arms, arm_names)
    if len(names) < 2:
        raise InvalidParameter(f"arms must name at least 2 arms, got {len(names)}")
    if by is not None and strict:
        raise InvalidParameter("by must be left out with strict=True, whose proof is for independent noise")
    groups = None if by is None else numbered(by, len(X))
    options: Any = {"level": level, "margin": margin, "strict": strict, "noise_scale": noise_scale, "linear": linear}
    judged = Judged(X, chosen, rewards, len(names), by=groups, **options)
    return _in_words(judged, X, name, tuple(names), tuple(features), level)


def with_intercept(X: FloatArray, names: list[str]) -> tuple[FloatArray, list[str]]:
    """The features (n, d) and their names with a column of ones at the end, unless one of them is constant already."""
    constant = constant_features(X)
    if constant.size:
        first, value = names[constant[0]], X[0, constant[0]]
        raise InvalidParameter(
            f"intercept must be left out where a feature is constant already, got {first!r}, which is always {value:g}"
        )
    return np.column_stack([X, np.ones(len(X))]), [*names, INTERCEPT]


def constant_features(X: FloatArray) -> IntArray:
    """The columns of X (n, d) that are the same in all rows, and not 0."""
    return np.flatnonzero((np.ptp(X, axis=0) == 0) & (X[0] != 0))


def _in_words(
    judged: Judged, X: FloatArray, name: str, arms: tuple[str, ...], features: tuple[str, ...], level: float
) -> LoggedDiversity:
    rows, found, K = judged.fits.rows.tolist(), judged.evidence, len(arms)
    groups = judged.sample.groups
    own = None if groups.numbers is None else judged.fits.groups.tolist()
    problem = answers.Problem(arms, features, judged.margin, rows, judged.white.weights, own)
    greedy = answers.greedy(problem, judged.sample, judged.alpha)
    unseen = answers.never_seen([features[j] for j in judged.unseen])
    doubts = answers.Doubts(judged.why_blind(arms), judged.why_unchecked(arms), unseen)
    entries = [
        LoggedArm(
            name=arms[a],
            rows=rows[a],
            known=bool(judged.fits.known[a]),
            best=(float(judged.best[a, 0]), float(judged.best[a, 1])),
            share=(float(found.share[a, 0]), float(found.share[a, 1])),
            spread=(float(K * found.spread[a, 0]), float(K * found.spread[a, 1])),
            words=answers.direction_of(problem, found.weakest[a]) if K * found.spread[a, 1] < 1 else "not known",
        )
        for a in range(K)
    ]
    return LoggedDiversity(
        name=name,
        verdicts=(*answers.verdicts(problem, found, doubts, judged.more), greedy),
        arms=tuple(entries),
        feature_names=features,
        rank=judged.white.z.shape[1],
        redundant=_redundant(X, judged.white, features),
        margin=judged.margin,
        level=level,
        needed=(found.needed[0], K * found.needed[1]),
        leadless=found.leadless,
        weakest=np.array([answers.functional(problem, direction) for direction in found.weakest]),
        shared_spread=weakest(X.T @ X / len(X))[0],
        drift=judged.drift,
        likely=judged.model(X, arms) if judged.varies else None,
        groups=None if own is None else groups.count,
        worth=judged.sample.times,
    )


def _redundant(X: FloatArray, white: Whitened, features: tuple[str, ...]) -> str:
    """What is always so, where contexts vary in fewer directions than there are features."""
    seen = np.abs(X).max(axis=0) > 0
    words = "" if seen.all() else f"Always 0 in these rows: {', '.join(np.array(features)[~seen][:8])}."
    X, named = X[:, seen], [name for name, there in zip(features, seen, strict=True) if there]
    missing = white.missing if seen.all() else whiten(X).missing
    lost = missing.shape[1]
    if lost == 0:
        return words
    constant = np.ptp(X, axis=0) == 0
    sizes = np.sqrt((X**2).mean(axis=0))
    direction = plainest(missing, sizes, constant)
    rule = always(named, direction, constant) or f"nothing varies along {combination(named, scaled(direction, sizes))}"
    more = f", and {lost - 1} more such direction{'s' if lost > 2 else ''}" if lost > 1 else ""
    only = f"The other features vary in {X.shape[1] - lost} directions only" if words else None
    only = only or f"The features vary in {X.shape[1] - lost} directions only"
    return f"{words} {only}: {rule}{more}. That does no harm here.".strip()


def _numbered(arms: Sequence[Any], names: Sequence[Any] | None) -> tuple[list[str], IntArray]:
    """Names in order, numbers by size and others by letter, and the place of each row's arm among them."""
    for row, arm in enumerate(arms):
        if arm is None or type(arm).__name__ == "NAType" or arm != arm:  # which NA refuses to say
            raise InvalidParameter(f"arms must not be missing, got {arm!r} in row {row}")
    truths = sum(isinstance(arm, bool | np.bool_) for arm in arms)
    if 0 < truths < len(arms):
        raise InvalidParameter("arms must not mix True and False with other names, since True equals 1")
    try:
        distinct = dict.fromkeys(arms if names is None else names)
        strange = () if names is None else set(arms) - set(names)
    except TypeError:
        raise InvalidParameter("arms must be names or numbers, got something that cannot be compared") from None
    if strange:
        raise InvalidParameter(f"arms must be among arm_names, got {sorted(map(str, strange))[0]!r}")
    try:
        ordered = sorted(distinct) if names is None else list(distinct)
    except TypeError:  # of several kinds
        ordered = sorted(distinct, key=str)
    place = {arm: number for number, arm in enumerate(ordered)}
    whole = all(isinstance(arm, float) and arm.is_integer() for arm in ordered)  # a column with a gap turns into floats
    shown = [str(int(arm) if whole else arm) for arm in ordered]
    called = dict(zip(reversed(shown), reversed(ordered), strict=True))
    for arm, name in zip(ordered, shown, strict=True):
        if called[name] is not arm:
            raise InvalidParameter(f"arms must differ in their names, got {called[name]!r} and {arm!r}")
    return shown, np.array([place[arm] for arm in arms], dtype=np.int64)
