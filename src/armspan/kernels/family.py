"""What a family is: a kind of knowledge, declared by its fields, and the kernels that use it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Never

import numpy as np

from armspan._typing import FloatArray
from armspan.errors import NotApplicable


@dataclass(frozen=True)
class Field:
    """One array of what is learnt in a run, or of its scratch.

    shape : letters K, d and n for arms, features and contexts, A for models, others as the policy says; one to three of
    them where GPUs run the family. sums : whether it adds up over what was seen, so that knowledge can be merged, and
    single precision is not enough for it; if not, it follows from those that do.
    """

    name: str
    shape: str
    sums: bool = False
    dtype: type = np.float64

    def size(self, **sizes: int) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(sizes[letter] for letter in self.shape)


@dataclass(frozen=True, eq=False)
class Seen:
    """What is seen of every arm (K,) before a choice: estimate, width, index, and its probability."""

    mean: FloatArray
    width: FloatArray
    index: FloatArray
    share: FloatArray


@dataclass(frozen=True, eq=False)
class Family:
    """A kind of knowledge and how it is used. One that is much like another is made by `derived`.

    state : a NamedTuple with one array (R, …) per field. scratch : what a run needs beside it while it lives. fresh :
    writes what is known before anything is seen, given the state and the policy's numbers. choose, learn : functions
    of one run, see `life`. advance : the kernel for K arms and d features, `life.live` or what does the same faster.
    choose_once, learn_once : the kernels of agents, see `life`. seen : what an agent can say of its arms, given a state
    of one run, a block of one step, and its knobs. knobs : what a policy must give for every step, in the kernel's
    order. tidy, every : what is done to a state every so many steps; tidy_run(own, scratch, K, d) : the same for one
    run. on_gpu : False if `choose`, `learn` or `tidy_run` do more than index arrays and call inlined functions and
    parts: then no GPU can run them. explains : whether its steps are those of the paper's proof.
    marks : where a reward is learnt by what its choice was, how that is kept until it comes, see `marked`. late : the
    kernel where rewards come late, see `late`; None if nothing is learnt. merges : False if fields that add up are not
    enough to merge what two agents know.
    """

    name: str
    fields: tuple[Field, ...]
    scratch: tuple[Field, ...]
    state: Callable[..., Any]
    fresh: Callable[[Any, Mapping[str, float]], None]
    choose: Callable[..., int]
    learn: Callable[..., None]
    advance: Callable[[int, int], Callable[..., None]]
    choose_once: Callable[..., int]
    learn_once: Callable[..., None]
    seen: Callable[[Any, Any, Sequence[float]], Seen]
    knobs: tuple[str, ...] = ("alpha",)
    tidy: Callable[[Any], None] | None = None
    tidy_run: Callable[..., None] | None = None
    every: int = 1
    on_gpu: bool = True
    explains: bool = False
    marks: Callable[["Family"], Any] | None = None
    late: Callable[..., None] | None = None
    merges: bool = True

    def group(self, K: int, d: int) -> tuple[int, int]:
        """How many runs the kernel for this size takes together fastest, and from how many on that pays."""
        together: tuple[int, int] = getattr(self.advance(K, d), "group", (1, 1))
        return together

    def empty(self, n_runs: int, **sizes: int) -> Any:
        """A state of so many runs, all 0."""
        return self.state(**{f.name: np.zeros((n_runs, *f.size(**sizes)), f.dtype) for f in self.fields})


FOLLOWS = {
    "fields": ("state", "fresh", "tidy", "tidy_run"),
    "choose": ("advance", "choose_once", "seen", "marks"),
    "learn": ("advance", "learn_once", "marks"),
}
"""What cannot stay another family's where one of these is a family's own."""


def derived(base: Family, *, name: str, **own: Any) -> Family:
    """A family that differs from another one in what is given.

    What would then still be the other one's and do what that does must be given too, or is refused: see FOLLOWS. It has
    no kernel for late rewards, and its steps are not those of the paper's proof, unless that is given.
    """
    for part, others in FOLLOWS.items():
        missing = [other for other in others if other not in own and getattr(base, other) is not None]
        if part in own and missing:
            raise TypeError(f"the family {name} has {part} of its own, so it needs its own {', '.join(missing)}")
    return replace(base, **{"late": None, "explains": False, **own}, name=name)


def no_agent(*_: Any) -> Never:
    """Of families that only simulations run: how an agent would choose, or what it would see."""
    raise NotApplicable("only simulations run this family")


def usual_sizes(K: int, d: int, n: int, other: Mapping[str, int] | None = None) -> dict[str, int]:
    """What letters of shapes stand for: arms, features, contexts, and A models, one per arm unless said otherwise."""
    return {"K": K, "d": d, "n": n, "A": K} | dict(other or {})
