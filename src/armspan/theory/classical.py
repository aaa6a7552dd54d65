"""The classical bounds to compare with: LinUCB, SupLinUCB, and the least that a dominated arm costs."""

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.theory.theorems import ProblemNumbers, problem_alpha


def linucb_bound(t: IntArray, problem: ProblemNumbers) -> FloatArray:
    """The classical shape O(d√t), with its constants: 2α_t √(2 t K d log(1 + t/(d K))), K regressions side by side.

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    """
    K, d = problem.n_arms, problem.n_features
    return 2 * problem_alpha(t, problem) * np.sqrt(2 * t * K * d * np.log1p(t / (d * K)))


def suplinucb_shape(t: IntArray, problem: ProblemNumbers) -> FloatArray:
    """The shape √(d t log³(K t log t)) of SupLinUCB (Chu et al. 2011), times R; its constant is not given.

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    """
    K, d = problem.n_arms, problem.n_features
    inner = np.log(np.maximum(K * t * np.log(np.maximum(t, 2)), 2.0))
    return problem.noise_scale * np.sqrt(d * t * inner**3)


def dominated_arm_shape(t: IntArray, problem: ProblemNumbers) -> FloatArray:
    """2R² log t/Δ: the least that it costs to tell a dominated arm apart in the long run (Lai and Robbins' shape).

    Parameters
    ----------
    t : array
        Step numbers 1, 2, ….
    problem : ProblemNumbers
        The problem.
    """
    return 2 * problem.noise_scale**2 * np.log(np.maximum(t, 1)) / problem.gap
