"""What a family is: a kind of knowledge, declared by its fields, and the kernels that use it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armspan._typing import FloatArray


@dataclass(frozen=True)
class Field:
    """One array of what is learnt in a run.

    shape : letters K, d and n for arms, features and contexts. sums : whether it adds up over what was seen, so that
    knowledge can be merged; if not, it follows from those that do.
    """

    name: str
    shape: str
    sums: bool = False
    dtype: type = np.float64


@dataclass(frozen=True, eq=False)
class Family:
    """A kind of knowledge and how it is used.

    state : a NamedTuple with one array (R, …) per field. fresh : writes what is known before anything is seen, given
    the state and the policy's numbers. advance : the kernel for K arms and d features, `life.live` or what does the
    same faster. choose_once, score_once, learn_once : the kernels of agents, see `life`. shares : from the estimate and
    width (K,) of each arm and the knobs of a step, its probability (K,), and the index (K,) that says why. knobs : what
    a policy must give for every step, in the kernel's order. tidy, every : what is done to a state every so many steps.
    on_gpu : the name of its form there, or none. explains : whether its steps are those of
    the paper's proof.
    """

    name: str
    fields: tuple[Field, ...]
    state: Callable[..., Any]
    fresh: Callable[[Any, Mapping[str, float]], None]
    advance: Callable[[int, int], Callable[..., None]]
    choose_once: Callable[..., int]
    score_once: Callable[..., None]
    learn_once: Callable[..., None]
    shares: Callable[[FloatArray, FloatArray, Sequence[float]], tuple[FloatArray, FloatArray]]
    knobs: tuple[str, ...] = ("alpha",)
    tidy: Callable[[Any], None] | None = None
    every: int = 1
    on_gpu: str | None = None
    explains: bool = False

    def empty(self, n_runs: int, **sizes: int) -> Any:
        """A state of so many runs, all 0."""
        shapes = {field: [sizes[letter] for letter in field.shape] for field in self.fields}
        return self.state(**{f.name: np.zeros((n_runs, *shape), f.dtype) for f, shape in shapes.items()})
