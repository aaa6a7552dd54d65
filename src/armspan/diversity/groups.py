"""Rows of a log that belong together, such as the visits of one visitor: where errors are measured, they count as one.

Rows are often not independent: a visitor who comes ten times brings about the same context ten times, and a taste that
no feature tells. Groups are taken to be independent, and rows of one group may depend on each other in any way.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from armspan import _validate
from armspan._frames import is_frame
from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.errors import InvalidParameter


@dataclass(frozen=True, eq=False)
class Groups:
    """Which of n rows belong together. numbers : (n,) of each row's group; None where each row stands for itself."""

    rows: int
    numbers: IntArray | None = None

    @cached_property
    def count(self) -> int:
        """How many groups there are."""
        return self.rows if self.numbers is None else len(self._sorted[1])

    @cached_property
    def _sorted(self) -> tuple[IntArray, IntArray]:
        """The rows in order of their groups, and where each group begins among them."""
        assert self.numbers is not None
        order = np.argsort(self.numbers, kind="stable")
        return order, np.unique(self.numbers[order], return_index=True)[1]

    def sums(self, values: FloatArray) -> FloatArray:
        """The sum of each group's values (n, …)."""
        if self.numbers is None:
            return values
        order, first = self._sorted
        return np.asarray(np.add.reduceat(values[order], first, axis=0))

    def totals(self, values: FloatArray) -> FloatArray:
        """For each row, the sum of its group's values (n, …)."""
        return values if self.numbers is None else self.sums(values)[self._place]

    def some(self, rows: "BoolArray | slice") -> "Groups":
        """The groups of some of the rows."""
        if self.numbers is None:
            return Groups(int(np.count_nonzero(rows)) if isinstance(rows, np.ndarray) else len(range(self.rows)[rows]))
        kept = self.numbers[rows]
        return Groups(len(kept), kept)

    def present(self, rows: BoolArray) -> IntArray:
        """The places, among all groups, of those that some of the rows belong to."""
        return np.flatnonzero(np.bincount(self._place[rows], minlength=self.count))

    @cached_property
    def halves(self) -> tuple[IntArray, IntArray]:
        """Two halves of the rows, drawn at random, because rows may alternate; always the same. No group is in both."""
        if self.numbers is None:
            return halves(self.rows)
        here = np.isin(self._place, halves(self.count)[0])
        return np.flatnonzero(here), np.flatnonzero(~here)

    @cached_property
    def _place(self) -> IntArray:
        """The place of each row's group among all groups."""
        assert self.numbers is not None
        return np.asarray(np.unique(self.numbers, return_inverse=True)[1])

    @cached_property
    def worth(self) -> float:
        """What a row is worth as a context, from 0 to 1: so many times n independent rows show as much.

        That is for rows of a group that are all alike: whatever else their contexts share cannot be known, as it may
        show in any function of them, or in groups that are not there.
        """
        return self.rows / float((self.sums(np.ones(self.rows)) ** 2).sum())

    def largest(self, values: FloatArray) -> IntArray:
        """The row of each group with the largest of the values (n,)."""
        if self.numbers is None:
            return np.arange(self.rows)
        first = self._sorted[1]
        by_value = np.lexsort((values, self.numbers))
        return by_value[np.append(first[1:], self.rows) - 1]

    def starts(self, edges: IntArray) -> IntArray:
        """Edges between rows, moved back to where a stretch of rows of one group begins."""
        if self.numbers is None:
            return edges
        begins = np.concatenate([[0], np.flatnonzero(np.diff(self.numbers)) + 1, [self.rows]])
        return np.unique(begins[np.searchsorted(begins, edges, side="right") - 1])


@lru_cache(maxsize=4)
def halves(n: int) -> tuple[IntArray, IntArray]:
    """Two halves of n numbers, drawn at random; always the same ones."""
    order = np.random.default_rng(0).permutation(n)
    return np.sort(order[::2]), np.sort(order[1::2])


def numbered(labels: Any, rows: int) -> IntArray:
    """The number of each row's group, from its label: a name, a number or a date.

    Raises
    ------
    InvalidParameter
        If there is not one label for each row, if one is missing, or if all are the same.
    """
    labels = labels.to_pylist() if hasattr(labels, "to_pylist") else labels  # pyarrow's own nulls would be a label
    flat = hasattr(labels, "__len__") and getattr(labels, "ndim", 1) == 1
    if not flat or is_frame(labels) or isinstance(labels, str | bytes | Mapping | Set):
        raise InvalidParameter(f"by must be a sequence of labels, one per row of X, got {_shown(labels)}")
    if len(labels) != rows:
        raise InvalidParameter(f"by must have {rows} entries, one per row of X, got {len(labels)}")
    _validate.unmasked("by", labels)
    places, truths = dict[Any, int](), 0
    numbers = np.empty(rows, dtype=np.int64)
    for row, label in enumerate(labels):
        try:
            missing = any(map(_is_missing, label if isinstance(label, tuple) else (label,)))
            numbers[row] = places.setdefault(label, len(places))
        except (TypeError, ValueError, ArithmeticError):
            raise InvalidParameter(f"by must be names, numbers or dates, got {_shown(label)} in row {row}") from None
        if missing:
            raise InvalidParameter(f"by must not be missing, got {label!r:.60} in row {row}")
        truths += isinstance(label, bool | np.bool_)
    if 0 < truths < rows:
        raise InvalidParameter("by must not mix True and False with other labels, since True equals 1")
    if len(places) < 2:
        raise InvalidParameter(f"by must name at least 2 groups of rows, got {len(places)}")
    return numbers


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ in ("NAType", "NaTType") or bool(label != label)  # NA refuses to say


def _shown(given: Any) -> str:
    return " ".join(repr(given).split())[:60]
