"""What users give as contexts, in whatever form, as arrays for kernels; feature names are kept and checked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray
from armspan.errors import InvalidParameter


class Inputs:
    """Reads contexts of n_features features. Names are those given, or those of the first frame that comes."""

    def __init__(self, n_features: int, largest: float, feature_names: Sequence[Any] | None = None) -> None:
        self.n_features, self.largest = n_features, largest
        if feature_names is not None and (isinstance(feature_names, str) or not isinstance(feature_names, Sequence)):
            raise InvalidParameter(f"feature_names must be a sequence of names, got {feature_names!r:.60}")
        self.feature_names = None if feature_names is None else tuple(feature_names)
        self._pending: tuple[Any, ...] | None = None
        if self.feature_names is not None:
            if len(self.feature_names) != n_features:
                raise InvalidParameter(f"feature_names must have {n_features} entries, got {len(self.feature_names)}")
            if len(set(self.feature_names)) != n_features:
                raise InvalidParameter("feature_names must differ from each other")

    def context(self, x: Any, n_arms: int) -> tuple[FloatArray, int]:
        """One context as rows: (1, d) and 0 if the arms share it, (K, d) and 1 if each has its own."""
        values = self._plain("x", x)
        if np.ndim(values) == 1 or (_is_frame(x) and np.shape(values)[0] == 1):
            values = self._array("x", values, (self.n_features,) if np.ndim(values) == 1 else (1, self.n_features))
            return values.reshape(1, self.n_features), 0
        if np.ndim(values) != 2:
            wanted = f"({self.n_features},) or ({n_arms}, {self.n_features})"
            raise InvalidParameter(f"x must have shape {wanted}, got shape {np.shape(values)}")
        return self._array("x", values, (n_arms, self.n_features)), 1

    def batch(self, X: Any, n_arms: int) -> FloatArray:
        """Many contexts: (n, d) that the arms share, or (n, K, d). Not copied, and not looked through, where that is
        possible: what is computed from them will show whether they are finite.
        """
        values = self._plain("X", X)
        if isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim in (2, 3):
            wanted = (self.n_features,) if values.ndim == 2 else (n_arms, self.n_features)
            if values.shape[1:] == wanted and len(values):
                self.feature_names = self._pending or self.feature_names
                return np.ascontiguousarray(values)
        shape = ("n", self.n_features) if np.ndim(values) < 3 else ("n", n_arms, self.n_features)
        return self._array("X", values, shape)

    def _array(self, name: str, value: Any, shape: Sequence[int | str]) -> FloatArray:
        """Finite numbers with finite squares, writable because kernels are compiled for that."""
        result = _validate.array(name, value, shape=shape)
        if np.abs(result).max() >= self.largest / self.n_features:
            raise InvalidParameter(f"{name} must be small enough, below {self.largest:g} in length")
        result.flags.writeable = True
        self.feature_names = self._pending or self.feature_names  # names of good input alone are kept
        return result

    def _plain(self, name: str, x: Any) -> Any:
        """Frames, series and mappings as arrays in the order of the feature names."""
        self._pending = None
        if isinstance(x, Mapping):
            self._check(name, list(x))
            if any(np.ndim(value) for value in x.values()):
                raise InvalidParameter(f"{name} must map every feature to a number, got {x!r:.60}")
            return np.array([x[feature] for feature in self.feature_names or x])
        if _is_frame(x):
            self._check(name, list(x.columns))
            return x[list(self.feature_names or x.columns)].to_numpy()
        labels = getattr(getattr(x, "index", None), "tolist", None)
        if labels is not None and hasattr(x, "to_numpy"):  # a row of a pandas frame
            self._check(name, labels())
            return x[list(self.feature_names or labels())].to_numpy()
        try:
            np.ndim(x)
        except ValueError:  # lists of unequal length
            raise InvalidParameter(f"{name} must be an array of numbers, got {x!r:.60}") from None
        return x

    def _check(self, name: str, given: list[Any]) -> None:
        if self.feature_names is None:
            self._pending = tuple(given) if len(given) == self.n_features else None
            return
        unknown = [feature for feature in given if feature not in self.feature_names]
        missing = [feature for feature in self.feature_names if feature not in given]
        if unknown or missing:
            wrong = f"lacks {missing[0]!r}" if missing else f"has {unknown[0]!r}"
            raise InvalidParameter(
                f"{name} must have the features {', '.join(map(str, self.feature_names))}; it {wrong}"
            )


def _is_frame(x: Any) -> bool:
    return hasattr(x, "columns") and hasattr(x, "to_numpy")
