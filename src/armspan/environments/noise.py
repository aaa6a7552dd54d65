"""Noise on rewards: a kind and a scale R for which it is R-subgaussian."""

from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate


@dataclass(frozen=True)
class Noise:
    """Noise with mean 0 that is `scale`-subgaussian."""

    scale: float = 1.0
    code: ClassVar[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _validate.real("noise scale", self.scale, at_least=0))


class Gaussian(Noise):
    """N(0, scale²)."""

    code = 0  # kernels.draws.GAUSSIAN


class Rademacher(Noise):
    """+scale or -scale, each with probability ½."""

    code = 1  # kernels.draws.RADEMACHER


def as_noise(noise: Any) -> Noise:
    """A number is the standard deviation of Gaussian noise."""
    return noise if isinstance(noise, Noise) else Gaussian(_validate.real("noise", noise, at_least=0))
