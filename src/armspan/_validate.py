"""Checks at the border: each returns the value in its normal form or raises one sentence; inside, nothing checks."""

import math
import operator
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.errors import InvalidParameter

MOST_AXES = 3
"""Of all that users give as numbers."""


def array(name: str, value: Any, *, shape: Sequence[int | str]) -> FloatArray:
    """A read-only, C-contiguous float64 copy with finite entries.

    shape : integers are required sizes, strings are names for free ones, e.g. ("arms", "features").
    """
    wanted = "(" + ", ".join(str(size) for size in shape) + ("," if len(shape) == 1 else "") + ")"
    unmasked(name, value)
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biuf":  # words, complex numbers, lists of unequal length, integers beyond 64 bits
            raise ValueError
        with np.errstate(over="ignore"):  # of long doubles
            result = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(f"{name} must be an array of numbers of shape {wanted}, got {_uneven(value)}") from None
    fits = result.ndim == len(shape) and result.size > 0
    fits = fits and all(want == have for want, have in zip(shape, result.shape, strict=True) if isinstance(want, int))
    if result.size == 0 and result.ndim == len(shape):
        raise InvalidParameter(f"{name} must not be empty, got shape {result.shape}")
    if not fits:
        raise InvalidParameter(f"{name} must have shape {wanted}, got shape {result.shape}")
    if not np.isfinite(result).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        raise InvalidParameter(f"{name} must be finite, got {result[where]} at {list(where)}")
    result.flags.writeable = False
    return result


def unmasked(name: str, value: Any) -> None:
    """Refuse masked entries, also in lists: whatever stands below a mask is not a number."""
    if not isinstance(value, np.ma.MaskedArray | list | tuple) or not _has_masks([value], MOST_AXES):
        return
    where = _masked_at(value)
    if where is not None:
        raise InvalidParameter(f"{name} must have no masked entries, got one" + (f" at {where}" if where else ""))


def _has_masks(parts: list[Any], axes: int) -> bool:
    """Whether masked arrays are among these or in lists there; lists of one depth are looked at as one, for speed."""
    kinds = set(map(type, parts))
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        return True
    if not axes or not any(issubclass(kind, list | tuple) for kind in kinds):
        return False
    lists = [part for part in parts if isinstance(part, list | tuple)]
    return _has_masks(list(chain.from_iterable(lists)), axes - 1)


def _masked_at(value: Any, axes: int = MOST_AXES) -> list[int] | None:
    """Where the first masked entry of an array is, or of a list of so many axes; None if there is none."""
    if isinstance(value, np.ma.MaskedArray):
        return next(iter(np.argwhere(np.ma.getmaskarray(value)).tolist()), None)
    for place, part in enumerate(value if axes and isinstance(value, list | tuple) else ()):
        where = _masked_at(part, axes - 1)
        if where is not None:
            return [place, *where]
    return None


def real(name: str, value: Any, *, above: float = -math.inf, at_least: float = -math.inf) -> float:
    """A finite float in the stated domain."""
    domain = f"> {above:g}" if above > -math.inf else f">= {at_least:g}" if at_least > -math.inf else "a finite number"
    unmasked(name, value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool | str) or not math.isfinite(number) or number <= above or number < at_least:
        finite = "finite and " if number == math.inf and domain.startswith(">") else ""
        raise InvalidParameter(f"{name} must be {finite}{domain}, got {_short(value)}")
    return number


def whole(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """An int in the stated domain; True and 2.0 are not ints."""
    domain = f"an integer >= {at_least}" if at_most is None else f"an integer from {at_least} to {at_most}"
    try:
        number = operator.index(value)
    except TypeError:
        number = at_least - 1
    if isinstance(value, bool) or number < at_least or (at_most is not None and number > at_most):
        raise InvalidParameter(f"{name} must be {domain}, got {_short(value)}")
    return number


def distribution(name: str, value: Any, *, shape: Sequence[int | str]) -> FloatArray:
    """Non-negative numbers whose last axis sums to 1 (to 1e-9), then normalised exactly."""
    result = array(name, value, shape=shape)
    if (result < 0).any():
        where = tuple(int(i) for i in np.argwhere(result < 0)[0])
        raise InvalidParameter(f"{name} must be >= 0, got {result[where]:g} at {list(where)}")
    totals = result.sum(axis=-1, keepdims=True)
    if (abs(totals - 1) > 1e-9).any():
        row = int(np.argmax(abs(totals - 1).ravel()))
        which = "" if result.ndim == 1 else f" in row {row}"
        raise InvalidParameter(f"{name} must sum to 1{which}, got {totals.ravel()[row]:.12g}")
    result = result / totals
    result.flags.writeable = False
    return result


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of the allowed words."""
    if value not in allowed:
        words = ", ".join(word or '""' for word in allowed)
        raise InvalidParameter(f"{name} must be one of {words}, got {_short(value)}")
    return str(value)


def _uneven(value: Any) -> str:
    """Which rows differ in length, if some do; otherwise the value itself."""
    rows = value if isinstance(value, list | tuple) else ()
    lengths = [len(row) for row in rows if isinstance(row, list | tuple)]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
    if odd and len(lengths) == len(rows):
        return f"rows of unequal length: row 0 has {lengths[0]} entries, row {odd} has {lengths[odd]}"
    return _short(value)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
