"""How often the contexts of the bases arrive, for the proof of Theorem 1 and for its events in a run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armspan._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class BasisContexts:
    """The contexts of a finite set that Theorem 1 counts on.

    Contexts may be merged: all that have a basis vector then count as one. `armspan.theory.t_1` says what that costs;
    it costs nothing where every arm has the same features in them.

    Attributes
    ----------
    contexts : tuple of arrays
        For each arm and each vector of its basis, the context that has it most often; empty without a basis.
    p : float
        How often the rarest of those comes, each counted by itself; 0 if some arm has no basis.
    merged_p : float
        How often the rarest basis vector comes, if all contexts that have it count as one.
    merged : int
        How many different contexts then count as one, at most.
    """

    contexts: tuple[IntArray, ...]
    p: float
    merged_p: float
    merged: int


def basis_contexts(
    x: FloatArray, weights: FloatArray, optimal: Sequence[IntArray], bases: Sequence[FloatArray]
) -> BasisContexts:
    """Find the contexts of a finite set that Theorem 1 counts on.

    Parameters
    ----------
    x : (n, K, d) array
        Features.
    weights : (n,) array
        Probabilities of the contexts.
    optimal : list of arrays
        For each arm the numbers of the contexts in which it alone is best.
    bases : list of (d, d) arrays
        For each arm its basis, as rows of its features there; empty if it has none.
    """
    contexts, together, merged = [], [], [1]
    for a, basis in enumerate(bases):
        sharing = [optimal[a][(x[optimal[a], a] == vector).all(axis=1)] for vector in basis]
        contexts.append(np.array([same[np.argmax(weights[same])] for same in sharing], dtype=np.int64))
        together.append(min((float(weights[same].sum()) for same in sharing), default=0.0))
        merged += [len(np.unique(x[same].reshape(len(same), -1), axis=0)) for same in sharing]
    apart = min(float(weights[rows].min(initial=1.0)) if rows.size else 0.0 for rows in contexts)
    return BasisContexts(tuple(contexts), apart, min(together), max(merged))
