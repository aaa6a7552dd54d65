"""Data frames as arrays of numbers, of whatever library they are; what is not a number is refused by its column."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from armspan._typing import FloatArray
from armspan.errors import InvalidParameter


def is_frame(x: Any) -> bool:
    """Whether it has columns with names, as a frame of pandas has."""
    return hasattr(x, "columns") and hasattr(x, "to_numpy")


def frame_values(name: str, frame: Any, columns: Sequence[Any]) -> Any:
    """Columns of a frame as an array (n, d); True and False are 1 and 0, and what is missing is not a number."""
    there = list(frame.columns)
    if len(set(there)) < len(there):
        raise InvalidParameter(f"{name} must have columns with different names, got {', '.join(map(str, there))}")
    values = frame[columns].to_numpy()
    if values.dtype.kind in "biuf" or not len(values):
        return values
    return np.column_stack([_column(name, label, frame[label]) for label in columns])


def _column(name: str, label: Any, column: Any) -> FloatArray:
    """A column of a frame as numbers: of whatever type, but numbers, True or False, and none missing."""
    kind = getattr(getattr(column, "dtype", None), "kind", None)  # of pandas, its own and Arrow's types included
    if kind is not None and kind in "biuf":
        try:
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        except TypeError:
            return np.asarray(column.to_numpy(), dtype=np.float64)
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([number(f"{name} must have numbers in column {label!r}", value) for value in values])


def number(rule: str, value: Any) -> float:
    """One entry; rule : what is said of one that is not a number, such as "x must have numbers in column 'a'"."""
    if isinstance(value, numbers.Real | np.bool_) and not isinstance(value, np.timedelta64):
        try:
            return float(value)
        except OverflowError:
            pass
    advice = "; turn words into one column of 0 and 1 per category" if isinstance(value, str) else ""
    raise InvalidParameter(f"{rule}, got {_short(value)}{advice}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
