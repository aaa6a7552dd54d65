"""What users give as contexts, in whatever form, as arrays for kernels; feature names are kept and checked."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from armspan import _validate
from armspan._frames import frame_values, is_frame, number
from armspan._typing import FloatArray
from armspan.diversity.scales import UNEQUAL, apart
from armspan.errors import InvalidParameter

LOGGER = logging.getLogger("armspan")
FEWEST, LOOKED_AT = 30, 1000
"""Contexts that are looked at before features are said to differ in size, and after which nobody looks any more."""


def too_long(length: float, reach: float, precision: str) -> str:
    """Why a context cannot be learnt."""
    return (
        f"x must be at most {reach:.4g} long to be learnt with this ridge in {precision}, got length {length:.4g}: "
        "divide each feature by its largest size, or take a larger ridge"
    )


class Limits(Protocol):
    """What contexts must be like: their size, how large numbers may be, and how long contexts should be at most."""

    @property
    def n_features(self) -> int: ...
    @property
    def largest(self) -> float: ...
    @property
    def feature_bound(self) -> float | None: ...
    @property
    def long_contexts(self) -> str: ...


class Sizes(NamedTuple):
    """Of so many contexts: the lowest and the highest value (d,) of each feature, and its sum of squares (d,)."""

    total: float
    low: FloatArray
    high: FloatArray
    squares: FloatArray

    @staticmethod
    def of(rows: FloatArray, seen: FloatArray) -> "Sizes":
        """Of contexts (n, d), each of which was seen so often."""
        return Sizes(float(seen.sum()), rows.min(axis=0), rows.max(axis=0), seen @ rows**2)

    def joined(self, other: "Sizes | None") -> "Sizes":
        """Of these and others."""
        if other is None:
            return self
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Sizes(self.total + other.total, low, high, self.squares + other.squares)


class Inputs:
    """Reads contexts of n_features features. Names are those given, or those of the first frame that comes."""

    def __init__(self, settings: Limits, feature_names: Sequence[Any] | None = None) -> None:
        n_features = settings.n_features
        self.n_features, self.largest, self._settings = n_features, settings.largest, settings
        self.too_long, self._unequal = 0, False
        self._sizes: Sizes | None = None
        bound = settings.feature_bound
        self._usual = min(math.inf if bound is None else bound, self.largest / n_features / 2, 1e100)
        if feature_names is not None and (isinstance(feature_names, str) or not isinstance(feature_names, Sequence)):
            raise InvalidParameter(f"feature_names must be a sequence of names, got {feature_names!r:.60}")
        self.feature_names = None if feature_names is None else tuple(feature_names)
        self._pending: tuple[Any, ...] | None = None
        if self.feature_names is not None:
            if len(self.feature_names) != n_features:
                raise InvalidParameter(f"feature_names must have {n_features} entries, got {len(self.feature_names)}")
            try:
                different = len(set(self.feature_names))
            except TypeError:
                raise InvalidParameter(f"feature_names must be hashable names, got {feature_names!r:.60}") from None
            if different != n_features:
                raise InvalidParameter("feature_names must differ from each other")

    def keep_names(self) -> None:
        """What came last was good all over, so its names are those of the features from now on."""
        self.feature_names = self._pending or self.feature_names

    def context(self, x: Any, n_arms: int) -> tuple[FloatArray, int]:
        """One context as rows: (1, d) and 0 if the arms share it, (K, d) and 1 if each has its own."""
        usual = (self.n_features,), (n_arms, self.n_features)
        if type(x) is np.ndarray and x.dtype == np.float64 and x.shape in usual and self._is_usual(x):
            self._pending = None
            return np.atleast_2d(x).copy(), x.ndim - 1
        values = self._plain("x", x)
        if np.ndim(values) == 1 or (is_frame(x) and np.shape(values)[0] == 1):
            values = self._array("x", values, (self.n_features,) if np.ndim(values) == 1 else (1, self.n_features))
            return self._bounded("x", values.reshape(1, self.n_features)), 0
        if np.ndim(values) != 2:
            wanted = f"({self.n_features},) or ({n_arms}, {self.n_features})"
            raise InvalidParameter(f"x must have shape {wanted}, got shape {np.shape(values)}")
        return self._bounded("x", self._array("x", values, (n_arms, self.n_features))), 1

    def _is_usual(self, x: FloatArray) -> bool:
        """Whether all rows are finite and no longer than they should be; in little time, for most are."""
        if x.ndim == 1:
            return bool(np.abs(x).max() <= self._usual and x.dot(x) <= self._usual**2)
        return bool(np.einsum("kd,kd->k", x, x).max() <= self._usual**2)

    def batch(self, X: Any, n_arms: int) -> FloatArray:
        """Many contexts: (n, d) that the arms share, or (n, K, d). Not copied, and not looked through, where that is
        possible: what is computed from them will show whether they are finite.
        """
        values = self._plain("X", X)
        if isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim in (2, 3):
            wanted = (self.n_features,) if values.ndim == 2 else (n_arms, self.n_features)
            if values.shape[1:] == wanted and len(values):
                return self._bounded("X", np.ascontiguousarray(values))
        shape = ("n", self.n_features) if np.ndim(values) < 3 else ("n", n_arms, self.n_features)
        return self._bounded("X", self._array("X", values, shape))

    def _bounded(self, name: str, rows: FloatArray) -> FloatArray:
        """Rows (…, d) no longer than they should be, or what the agent does about it."""
        bound, how = self._settings.feature_bound, self._settings.long_contexts
        if bound is None:
            return rows
        with np.errstate(invalid="ignore", over="ignore"):
            lengths = np.sqrt(np.einsum("...d,...d->...", rows, rows))
        long = lengths > bound * (1 + 1e-9)
        if not long.any():
            return rows
        longest = float(lengths[long].max())
        if how == "raise":
            raise InvalidParameter(f"{name} must be at most feature_bound = {bound:g} long, got length {longest:.6g}")
        if not self.too_long:
            done = "shortened to it" if how == "clip" else "used as it is; theory's bounds do not hold for it"
            LOGGER.warning("%s is longer than feature_bound = %g: length %.6g, %s", name, bound, longest, done)
        self.too_long += int(long.sum())
        if how == "clip" and np.isfinite(longest):
            rows = np.where(long[..., None], rows * (bound / np.where(long, lengths, 1.0))[..., None], rows)
        return rows

    @property
    def looks_at_sizes(self) -> bool:
        """Whether the sizes of features are still of interest, where looking at each context takes time."""
        return not self._unequal and (self._sizes is None or self._sizes.total < LOOKED_AT)

    def add_sizes(self, rows: FloatArray) -> None:
        """Take the sizes of features in a batch (n, d) into account, and warn as `compare_sizes` does."""
        self._sizes = Sizes.of(rows, np.ones(len(rows))).joined(self._sizes)
        self.compare_sizes(self._sizes)

    def compare_sizes(self, sizes: "Sizes") -> None:
        """Warn, once, where features differ much in size: learnt exploration takes them for one.

        A feature that has not varied yet is left out, unless it is 1 and so, most likely, an intercept.
        """
        if self._unequal or sizes.total < FEWEST:
            return
        largest = np.maximum(np.abs(sizes.low), np.abs(sizes.high))
        told = (sizes.low < sizes.high) | (largest == 1)
        times = apart(largest[told], sizes.squares[told] / sizes.total)
        if times > UNEQUAL:
            self._unequal = True
            LOGGER.warning(
                "the largest feature is %.3g times the smallest, and exploration that follows the residuals expects "
                "about one size: it may lose several times as much as it needs to; divide each by its largest size",
                times,
            )

    def _array(self, name: str, value: Any, shape: Sequence[int | str]) -> FloatArray:
        """Finite numbers with finite squares, writable because kernels are compiled for that."""
        result = _validate.array(name, value, shape=shape)
        if np.abs(result).max() >= self.largest / self.n_features:
            raise InvalidParameter(f"{name} must be small enough, below {self.largest:g} in length")
        result.flags.writeable = True
        return result

    def _plain(self, name: str, x: Any) -> Any:
        """Frames, series and mappings as arrays in the order of the feature names."""
        self._pending = None
        if isinstance(x, Mapping):
            self._check(name, list(x))
            if any(np.ndim(value) for value in x.values()):
                raise InvalidParameter(f"{name} must map every feature to a number, got {x!r:.60}")
            return _row(name, x, self.feature_names or x)
        if is_frame(x):
            return frame_values(name, x, list(self._check(name, list(x.columns))))
        labels = getattr(getattr(x, "index", None), "tolist", None)
        if labels is not None and hasattr(x, "to_numpy"):  # a row of a pandas frame
            names = list(self._check(name, labels()))
            plain = isinstance(x.dtype, np.dtype) and x.dtype.kind in "biuf"  # others may have no number for a feature
            return x[names].to_numpy() if plain else _row(name, x, names)
        _validate.unmasked(name, x)
        try:
            np.ndim(x)
        except ValueError:  # lists of unequal length
            raise InvalidParameter(f"{name} must be an array of numbers, got {x!r:.60}") from None
        return x.data if isinstance(x, np.ma.MaskedArray) else x

    def _check(self, name: str, given: list[Any]) -> Sequence[Any]:
        """The features' names in order, or those given where there are none yet."""
        if self.feature_names is None:
            self._pending = tuple(given) if len(given) == self.n_features else None
            return given
        unknown = [feature for feature in given if feature not in self.feature_names]
        missing = [feature for feature in self.feature_names if feature not in given]
        if unknown or missing:
            wrong = f"lacks {missing[0]!r}" if missing else f"has {unknown[0]!r}"
            raise InvalidParameter(
                f"{name} must have the features {', '.join(map(str, self.feature_names))}; it {wrong}"
            )
        return self.feature_names


def _row(name: str, x: Any, features: Iterable[Any]) -> FloatArray:
    """The features of one context, by their names."""
    labels = list(features)
    given = [x[feature] for feature in labels]
    _validate.unmasked(name, given)
    values = np.array(given)
    if values.dtype.kind in "biuf" and values.ndim == 1:
        return values
    rules = [f"{name} must have a number for feature {feature!r}" for feature in labels]
    if values.dtype.kind == "c" and values.ndim == 1:  # of a row that is complex as a whole, say which number is
        which = int(np.argmax(values.imag != 0))
        number(rules[which], given[which])
    return np.array([number(rule, value) for rule, value in zip(rules, given, strict=True)])
