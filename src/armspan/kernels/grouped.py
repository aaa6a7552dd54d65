"""A kernel in two forms: groups of runs in lanes, and the runs that are left over, one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from armspan.kernels.block import Block, Tally
from armspan.kernels.vectors import EIGHT


@dataclass(frozen=True, eq=False)
class Grouped:
    """A family's `advance` in both forms, which agree to the last bit.

    least : from how many runs on a group is faster than the same runs one by one. steps_per_context : how many steps a
    block must have for each context, for lanes to pay. models : how many a state must have for lanes; None: any number.
    """

    alone: Callable[..., None]
    together: Callable[..., None]
    least: int
    steps_per_context: int = 0
    models: int | None = None

    @property
    def group(self) -> tuple[int, int]:
        """The runs of a group, and from how many on lanes pay."""
        return EIGHT, self.least

    def fits(self, block: Block, state: Any) -> bool:
        """Whether lanes can be used, and pay."""
        enough = block.contexts.shape[1] >= self.steps_per_context * len(block.means)
        return enough and self.models in (None, state[0].shape[1])

    def __call__(self, block: Block, knobs: Any, marks: Any, state: Any, regret: Any, curve: Any, tally: Tally) -> None:
        R, rest = len(regret), len(regret) % EIGHT
        end = (R if rest >= self.least else R - rest) if self.fits(block, state) else 0
        for advance, part in ((self.together, slice(0, end)), (self.alone, slice(end, R))):
            if part.stop - part.start == R:
                advance(block, knobs, marks, state, regret, curve, tally)
            elif part.start < part.stop:
                runs = {name: getattr(block, name)[part] for name in ("runs", "contexts", "noise")}
                own, pulls = type(state)(*(array[part] for array in state)), Tally(tally.bins, tally.pulls[part])
                advance(block._replace(**runs), knobs, marks, own, regret[part], curve[part], pulls)
