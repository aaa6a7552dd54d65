"""RandomizedUCB (Dudík et al. 2011): the distribution over policies of least regret whose estimates stay sharp."""

from dataclasses import dataclass
from typing import Any, ClassVar

from armspan.policies.iltcb import EnumeratedPolicy
from armspan.policies.references.enumerated import RandomizedUCBReference


@dataclass(frozen=True, kw_only=True)
class RandomizedUCB(EnumeratedPolicy):
    """RandomizedUCB: at every step the best distribution P over policies that leaves none of them unexplored.

    Among the distributions that keep every policy's estimate sharp it takes the one of least estimated regret, up to a
    slack of K. Then it draws from (1 - Kμ_t)P + μ_t.

        minimise ΣP(π)R̂eg(π) such that for all distributions Q
        ΣQ(π)Ê[1/((1 - Kμ_t)P(π(x)|x) + μ_t)] <= max(4K, (t - 1)(ΣQ(π)R̂eg(π))²/(180 C_{t-1}))
        C_t = 2 log(Nt/δ),   μ_t = min(1/(2K), √(C_t/(2Kt)))

    ILTCB does nearly as well with log T programs in place of T.

    Notes
    -----
    Use it as a yardstick: it solves a program at every step, by cutting planes.

    References
    ----------
    Dudík, Hsu, Kale, Karampatziakis, Langford, Reyzin and Zhang (2011): Efficient optimal learning for contextual
    bandits.
    """

    title: ClassVar[str] = "RandomizedUCB"
    promise: ClassVar[str] = "√(KT log N)"
    assumes: ClassVar[str] = "independent contexts, rewards in reward_range; regret against the best of N policies"

    def reference(self, env: Any) -> Any:
        return RandomizedUCBReference(**self.among(env))
