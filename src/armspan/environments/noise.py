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
        """Refuse mean rewards that cannot have such noise.

        Parameters
        ----------
        what : str
            What the sentence calls them.
        lowest, highest : float
            The range of the mean rewards.
        """


class Gaussian(Noise):
    """Normal noise with mean 0 and standard deviation `scale`.

    Parameters
    ----------
    scale : float, default 1
        The standard deviation, which is also R: the noise is scale-subgaussian.
    """

    code = 0  # kernels.draws.GAUSSIAN


class Rademacher(Noise):
    """Noise that is +scale or -scale, each with probability ½.

    Parameters
    ----------
    scale : float, default 1
        How large the noise is, which is also R: it is scale-subgaussian.
    """

    code = 1  # kernels.draws.RADEMACHER


class Bernoulli(Noise):
    """Clicks: a reward is 1 with its mean as the probability, and 0 otherwise. It is ½-subgaussian around the mean."""

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
