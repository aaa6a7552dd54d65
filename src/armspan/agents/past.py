"""What an agent was told, reward by reward: for agents whose knowledge is nothing but that."""

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.agents import container


class Contexts:
    """Contexts by number, in the order of their first coming. They are the same if all their numbers are."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, rows: FloatArray, *, remember: bool) -> int:
        """Which of the known contexts rows (K, d) are; a new one has the first free number."""
        rows = rows[:1] if (rows == rows[0]).all() else rows
        key = (rows + 0.0).tobytes()  # which makes -0.0 0.0
        number = self._numbers.get(key, len(self._numbers))
        if remember:
            self._numbers[key] = number
        return number

    def rows(self, width: int) -> list[FloatArray]:
        """Each of them, (1, width) where all arms share it, or (K, width)."""
        return [np.frombuffer(key).reshape(-1, width) for key in self._numbers]

    def arrays(self) -> dict[str, Any]:
        """For a file."""
        sizes = np.array([len(key) // 8 for key in self._numbers], dtype=np.int64)
        return {"contexts": np.frombuffer(b"".join(self._numbers)), "context_sizes": sizes}

    @staticmethod
    def from_arrays(arrays: dict[str, Any]) -> "Contexts":
        """What `arrays` gave; raises one of `container.DAMAGE` for anything else."""
        contexts, sizes = arrays["contexts"], arrays["context_sizes"]
        container.demand(contexts.dtype == np.float64 and contexts.ndim == 1 and bool(np.isfinite(contexts).all()))
        container.demand(sizes.dtype == np.int64 and sizes.ndim == 1 and bool((sizes > 0).all()))
        container.demand(int(sizes.sum()) == contexts.size)
        keys = [row.tobytes() for row in np.split(contexts, np.cumsum(sizes)[:-1])] if sizes.size else []
        known = Contexts()
        known._numbers = {key: number for number, key in enumerate(keys)}
        container.demand(len(known) == len(keys))
        return known


class Past:
    """All the rewards learnt, in order: the context, the row of the arm, the reward, and the mark if it has one.

    A mark is the probabilities (K,) that the arms had when they were drawn.
    """

    def __init__(self) -> None:
        self._contexts = Contexts()
        self._which, self._arms, self._values = array("q"), array("q"), array("d")
        self._marks: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        return len(self._values)

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept."""
        kept = (*self._contexts.arrays().values(), *self._marks.values())
        return 24 * len(self) + sum(part.nbytes for part in kept)

    def add(self, arm: int, rows: FloatArray, value: float, mark: FloatArray | None = None) -> None:
        """One more; rows (K, width) : the features that it is learnt from."""
        if mark is not None:
            self._marks[len(self)] = mark
        self._which.append(self._contexts.number(rows, remember=True))
        self._arms.append(arm)
        self._values.append(value)

    def entries(self, width: int) -> Iterator[tuple[int, FloatArray, float, FloatArray | None]]:
        """The row of the arm, features (1, width) or (K, width), the reward, and its mark, one after the other."""
        rows = self._contexts.rows(width)
        kept = enumerate(zip(self._which, self._arms, self._values, strict=True))
        return ((arm, rows[c], value, self._marks.get(i)) for i, (c, arm, value) in kept)

    def continued(self, width: int, rows: IntArray, *, shared: bool) -> "Past":
        """The same for other arms, of which rows (K,) tells the present ones, -1 for none.

        Rewards of an arm that is gone are gone too. But where arms share all that is learnt, they stay, as arm 0's.
        """
        place = {int(row): k for k, row in enumerate(rows) if row >= 0}
        result = Past()
        for arm, features, value, _ in self.entries(width):  # whose arms come and go has no marks
            if shared or arm in place:
                result.add(place.get(arm, 0), features, value)
        return result

    def arrays(self) -> dict[str, Any]:
        """For a file."""
        lists = {"past_contexts": self._which, "past_arms": self._arms}
        whole = {name: np.array(values, dtype=np.int64) for name, values in lists.items()}
        marks = np.array(list(self._marks), dtype=np.int64), np.array(list(self._marks.values()), dtype=np.float64)
        real = {"past_rewards": np.array(self._values, dtype=np.float64), "past_marks": marks[1]}
        return {**self._contexts.arrays(), **whole, "past_marked": marks[0], **real}

    @staticmethod
    def from_arrays(arrays: dict[str, Any], n_arms: int, width: int) -> "Past":
        """What `arrays` gave; raises one of `container.DAMAGE` for anything else."""
        past = Past()
        past._contexts = Contexts.from_arrays(arrays)
        container.demand(all(size in (width, n_arms * width) for size in arrays["context_sizes"]))
        which, arms, values = (arrays[name] for name in ("past_contexts", "past_arms", "past_rewards"))
        container.demand(which.shape == arms.shape == values.shape == (len(values),))
        container.demand(which.dtype == arms.dtype == np.int64 and values.dtype == np.float64)
        for numbers, size in ((which, len(past._contexts)), (arms, n_arms)):
            container.demand(bool(((numbers >= 0) & (numbers < size)).all()))
        container.demand(bool(np.isfinite(values).all()))
        marked, marks = arrays["past_marked"], arrays["past_marks"]
        container.demand(marked.dtype == np.int64 and marks.dtype == np.float64 and marked.ndim == 1)
        container.demand(marks.shape == ((marked.size, n_arms) if marked.size else (0,)))
        container.demand(bool((np.diff(marked, prepend=-1, append=len(values)) > 0).all()))
        if marked.size:
            container.demand(bool((marks >= 0).all() and (marks[np.arange(marked.size), arms[marked]] > 0).all()))
            container.demand(bool(np.isfinite(marks).all()))
        past._marks = dict(zip(marked.tolist(), marks, strict=True))
        past._which, past._arms, past._values = array("q", which), array("q", arms), array("d", values)
        return past
