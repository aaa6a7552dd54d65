"""What the proof counts in a run: contexts, or meta-contexts (Section 5) where contexts do not recur."""

from dataclasses import dataclass

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.diversity import basis_contexts, best_basis, meta_of
from armspan.environments import Environment
from armspan.environments.custom import CustomEnvironment
from armspan.environments.table import TableEnvironment
from armspan.errors import NotApplicable
from armspan.kernels.block import Block
from armspan.kernels.events import meta_regions


@dataclass(frozen=True, eq=False)
class Regions:
    """The n regions of contexts in which pulls are counted.

    Attributes
    ----------
    basis : (K, n) array
        Which regions belong to each arm's basis; none for an arm without one.
    p : float
        How often the rarest of those comes.
    bases : (K, d, d) array or None
        The vectors of the bases as rows, where the regions are meta-contexts; None for finite contexts.
    radius : float
        Size of the balls around them.
    """

    basis: BoolArray
    p: float
    bases: FloatArray | None = None
    radius: float = 0.0

    def of(self, block: Block) -> IntArray:
        """The region of each row of the block's tables.

        Parameters
        ----------
        block : Block
            A block of steps.
        """
        if self.bases is None:
            return np.arange(len(block.x))
        regions = np.empty(len(block.x), dtype=np.int64)
        meta_regions(block.x, block.losses, *self.balls(block.x.shape[2]), regions)
        return regions

    def balls(self, d: int) -> tuple[FloatArray, FloatArray, float]:
        """The bases, the same with length 1, and the radius; nothing of use for finite contexts.

        Parameters
        ----------
        d : int
            The number of features.
        """
        bases = np.zeros((1, d, d)) if self.bases is None else self.bases
        return bases, bases / np.maximum(np.linalg.norm(bases, axis=2, keepdims=True), 1e-300), float(self.radius)


def regions_of(env: Environment) -> Regions:
    """The contexts of a finite set; otherwise 2Kd meta-contexts, those in the balls of the bases and those outside.

    If there is no basis, p is as if all regions came equally often, and frames are judged by it alone.

    Parameters
    ----------
    env : Environment
        The environment.
    """
    if isinstance(env, CustomEnvironment):
        raise NotApplicable(f"events need an environment that knows its truth, but {env.name} is written in Python")
    if env.outside_theory is not None:
        raise NotApplicable(f"events are those of the paper's proof, but {env.outside_theory}")
    K, d = env.n_arms, env.n_features
    if isinstance(env, TableEnvironment):
        basis = np.zeros((K, env.n_contexts), dtype=np.bool_)
        optimal = [env.optimal_contexts(a) for a in range(K)]
        bases = [X[list(best_basis(X).rows)] for X in map(env.optimal_features, range(K))]
        found = basis_contexts(np.swapaxes(env.features, 0, 1), env.probabilities, optimal, bases)
        for a in range(K):
            basis[a, found.contexts[a]] = True
        return Regions(basis, found.p or 1 / env.n_contexts)
    basis, meta = np.zeros((K, 2 * K * d), dtype=np.bool_), meta_of(env)
    if meta is None:
        return Regions(basis, 1 / (2 * K * d), np.zeros((K, d, d)), -1.0)
    for a in range(K):
        basis[a, 2 * a * d : 2 * (a + 1) * d : 2] = True
    return Regions(basis, meta.p, meta.bases, meta.radius)
