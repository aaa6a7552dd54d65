"""How rewards scatter around their means: a kind of noise and a scale R for which it is R-subgaussian."""

from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.errors import InvalidParameter

SLACK = 1e-12
"""By how much rounding may take a mean reward beyond 0 and 1."""


@dataclass(frozen=True)
class Noise:
    """Noise with mean 0 that is `scale`-subgaussian."""

    scale: float = 1.0
    code: ClassVar[int]
    clicks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _validate.real("noise scale", self.scale, at_least=0))

    def check(self, what: str, lowest: float, highest: float) -> None:
        """Refuse mean rewards in this range, if they cannot have such noise."""


class Gaussian(Noise):
    """N(0, scale²)."""

    code = 0  # kernels.draws.GAUSSIAN


class Rademacher(Noise):
    """+scale or -scale, each with probability ½."""

    code = 1  # kernels.draws.RADEMACHER


class Bernoulli(Noise):
    """Clicks: a reward is 1 with a probability that is its mean, else 0. That is ½-subgaussian around the mean."""

    code = 2  # kernels.draws.BERNOULLI
    clicks = True

    def __init__(self) -> None:
        super().__init__(0.5)

    def check(self, what: str, lowest: float, highest: float) -> None:
        if not (lowest >= -SLACK and highest <= 1 + SLACK):
            wrong = lowest if lowest < -SLACK else highest
            raise InvalidParameter(f"{what} must be from 0 to 1 where rewards are clicks, got {wrong:.6g}")


def as_noise(noise: Any) -> Noise:
    """A number is the standard deviation of Gaussian noise."""
    return noise if isinstance(noise, Noise) else Gaussian(_validate.real("noise", noise, at_least=0))
