"""The audit of logged decisions: two questions, each answered yes, no or not known, with a stated error rate."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan import _validate
from armspan._frames import frame_values, is_frame
from armspan._typing import FloatArray, IntArray
from armspan.diversity import answers
from armspan.diversity.data import check_names
from armspan.diversity.directions import always, combination, plainest, scaled
from armspan.diversity.evidence import LEVEL
from armspan.diversity.fits import (
    Whitened,
    check_sizes,
    whiten,
)
from armspan.diversity.groups import numbered
from armspan.diversity.judged import Judged
from armspan.diversity.log_report import LoggedArm, LoggedDiversity
from armspan.diversity.moments import weakest
from armspan.errors import InvalidParameter

LARGEST = 1e140
INTERCEPT = "intercept"
"""What the constant feature is called, by agents too."""


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
