"""The slow, obvious oracle: Wu, Yang and Shen (AISTATS 2020) written out literally, one formula at a time.

Nothing here is shared with the package. Arms and contexts are numbered from 0, time from 1. A label in brackets, such
as (eqn:reg), is the paper's own LaTeX label; "Algorithm 1, line 5" counts as the paper's listing does.
"""

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Words2 = tuple[int, int]
Words4 = tuple[int, int, int, int]


# ---------------------------------------------------------------------------------------------------------------------
# Exploration schedule
# ---------------------------------------------------------------------------------------------------------------------


def f(t: float) -> float:
    """1 + t log^2 t, natural logarithm (Section 3, above Algorithm 1); it is 1 at t = 1."""
    return 1.0 + t * math.log(t) ** 2


def alpha(t: int, d: int, l: float, s: float, R: float = 1.0) -> float:
    """alpha_t = l s + R sqrt((2 + d) log f(t)) (Algorithm 1, line 3; the paper has R = 1)."""
    return l * s + R * math.sqrt((2 + d) * math.log(f(t)))


# ---------------------------------------------------------------------------------------------------------------------
# Policies
# ---------------------------------------------------------------------------------------------------------------------


class NaiveLinUCBd:
    """LinUCB-d for a finite, known set of contexts (Algorithm 1).

    The paper's matrices grow as contexts appear; here every context has its column from the start, with N = 0 until it
    is played, which changes nothing: such a column adds nothing to V and its beta entry is 0.
    """

    def __init__(self, features: Array, l: float, alpha: Callable[[int], float]) -> None:
        """Algorithm 1, line 1: features is (K, n, d), l the bound on ||x||, alpha maps t to alpha_t."""
        self.K, self.n, self.d = features.shape
        self.features = np.array(features, dtype=np.float64)
        self.l = float(l)
        self.alpha = alpha
        self.N: list[Array] = []
        self.S: list[Array] = []
        self.X: list[Array] = []
        for a in range(self.K):
            N = np.zeros(self.n + self.d)
            X = np.zeros((self.d, self.n + self.d))
            for c in range(self.n):
                X[:, c] = self.features[a, c]
            for j in range(self.d):  # the dummy contexts: x(a, n + j) = l e_j, counted once, reward 0
                N[self.n + j] = 1.0
                X[j, self.n + j] = self.l
            self.N.append(N)
            self.S.append(np.zeros(self.n + self.d))
            self.X.append(X)

    def estimates(self, c: int) -> tuple[Array, Array, list[Array]]:
        """r_hat_t(a), sigma_hat_t(a) and beta_t(a) of every arm in context c (Algorithm 1, lines 4 to 7)."""
        means = np.zeros(self.K)
        widths = np.zeros(self.K)
        betas: list[Array] = []
        for a in range(self.K):
            N = np.diag(self.N[a])
            N_inverse = np.zeros_like(N)  # the pseudo-inverse: only the non-zero entries are flipped
            for i in range(self.n + self.d):
                if self.N[a][i] > 0.0:
                    N_inverse[i, i] = 1.0 / self.N[a][i]
            X = self.X[a]
            V = X @ N @ X.T
            beta = N @ X.T @ np.linalg.inv(V) @ self.features[a, c]
            means[a] = self.S[a] @ N_inverse @ beta
            widths[a] = math.sqrt(beta @ N_inverse @ beta)
            betas.append(beta)
        return means, widths, betas

    def index(self, c: int, t: int) -> Array:
        """r_hat_t(a) + alpha_t sigma_hat_t(a) of every arm (Algorithm 1, line 8)."""
        means, widths, _ = self.estimates(c)
        return means + self.alpha(t) * widths

    def update(self, a: int, c: int, y: float) -> None:
        """Count the pull and add its reward (Algorithm 1, line 9)."""
        self.N[a][c] += 1.0
        self.S[a][c] += y


class NaiveLinUCB:
    """LinUCB: one ridge regression per arm on its whole history (Appendix B; the paper's equivalence has ridge l^2)."""

    def __init__(self, n_arms: int, n_features: int, ridge: float) -> None:
        self.K = n_arms
        self.d = n_features
        self.ridge = float(ridge)
        self.history: list[list[tuple[Array, float]]] = [[] for _ in range(n_arms)]

    def estimates(self, x: Array) -> tuple[Array, Array]:
        """theta_hat(a)^T x(a) and ||x(a)||_{V(a)^-1} (Appendix B, (eqn:sigma)); x is (K, d), all from scratch."""
        means = np.zeros(self.K)
        widths = np.zeros(self.K)
        for a in range(self.K):
            V = self.ridge * np.eye(self.d)
            b = np.zeros(self.d)
            for past_x, past_y in self.history[a]:
                V = V + np.outer(past_x, past_x)
                b = b + past_y * past_x
            V_inverse = np.linalg.inv(V)
            theta_hat = V_inverse @ b
            means[a] = theta_hat @ x[a]
            widths[a] = math.sqrt(x[a] @ V_inverse @ x[a])
        return means, widths

    def update(self, a: int, x: Array, y: float) -> None:
        """Store one more (x, y) of arm a; x is (d,)."""
        self.history[a].append((np.array(x, dtype=np.float64), float(y)))


class NaiveContextUCB:
    """UCB for individual contexts with alpha_t = R sqrt(2 log f(t)) (Section 6.1, baseline 1; the paper has R = 1)."""

    def __init__(self, n_contexts: int, n_arms: int, R: float = 1.0) -> None:
        self.K = n_arms
        self.R = float(R)
        self.rewards: list[list[list[float]]] = [[[] for _ in range(n_arms)] for _ in range(n_contexts)]

    def index(self, c: int, t: int) -> Array:
        """Sample mean + alpha_t / sqrt(pulls) of every arm in context c; an untried arm has infinity."""
        alpha_t = self.R * math.sqrt(2.0 * math.log(f(t)))
        result = np.zeros(self.K)
        for a in range(self.K):
            past = self.rewards[c][a]
            if len(past) == 0:
                result[a] = np.inf
            else:
                result[a] = sum(past) / len(past) + alpha_t / math.sqrt(len(past))
        return result

    def update(self, a: int, c: int, y: float) -> None:
        """Store one more reward of arm a in context c."""
        self.rewards[c][a].append(float(y))


# ---------------------------------------------------------------------------------------------------------------------
# Context diversity
# ---------------------------------------------------------------------------------------------------------------------


def mean_rewards(features: Array, theta: Array) -> Array:
    """r(a, c) = theta(a)^T x(a, c) (eqn:reward), as an (n, K) table."""
    K, n, _ = features.shape
    means = np.zeros((n, K))
    for c in range(n):
        for a in range(K):
            means[c, a] = theta[a] @ features[a, c]
    return means


def optimal_contexts(features: Array, theta: Array) -> list[list[int]]:
    """C_a of every arm a: the contexts in which it is strictly best (Section 2, the definition of C_a)."""
    means = mean_rewards(features, theta)
    n, K = means.shape
    result: list[list[int]] = []
    for a in range(K):
        result.append([c for c in range(n) if all(means[c, a] > means[c, b] for b in range(K) if b != a)])
    return result


def lambda_0(features: Array, theta: Array) -> float:
    """lambda_0 = min_a max_Phi lambda_min(Phi^T Phi), Phi having d distinct contexts of C_a as columns (Section 4).

    It is 0 where an arm has fewer than d such contexts.
    """
    d = features.shape[2]
    smallest = math.inf
    for a, contexts in enumerate(optimal_contexts(features, theta)):
        best = 0.0  # Phi^T Phi has no negative eigenvalue
        for subset in combinations(contexts, d):
            Phi = np.column_stack([features[a, c] for c in subset])
            best = max(best, float(np.linalg.eigvalsh(Phi.T @ Phi)[0]))
        smallest = min(smallest, best)
    return smallest


def gap(features: Array, theta: Array) -> float:
    """Delta: the smallest regret of a pull that has any, over contexts and arms (Assumption 1.2); 0 if none has.

    Arms that tie for best, up to 1e-9, have none.
    """
    means = mean_rewards(features, theta)
    smallest = math.inf
    for row in means:
        for mean in row:
            if max(row) - mean > 1e-9:
                smallest = min(smallest, float(max(row) - mean))
    return smallest if smallest < math.inf else 0.0


def second_moment_min_eigenvalue(features: Array, theta: Array, probabilities: Array) -> Array:
    """lambda_min(E[x(a,c) x(a,c)^T | c in C_a]) of every arm (Assumption 1.5); 0 for an arm that is never best."""
    K, _, d = features.shape
    result = np.zeros(K)
    for a, contexts in enumerate(optimal_contexts(features, theta)):
        mass = sum(float(probabilities[c]) for c in contexts)
        if mass > 0.0:
            moment = np.zeros((d, d))
            for c in contexts:
                moment = moment + probabilities[c] / mass * np.outer(features[a, c], features[a, c])
            result[a] = max(0.0, float(np.linalg.eigvalsh(moment)[0]))
    return result


# ---------------------------------------------------------------------------------------------------------------------
# Regret
# ---------------------------------------------------------------------------------------------------------------------


def pseudo_regret(means: Array, contexts: Integers, arms: Integers) -> Array:
    """(eqn:reg) with y_t replaced by r(a_t, c_t) (Section 6.1), after every step; means is (n, K)."""
    result = np.zeros(len(contexts))
    total = 0.0
    for t in range(len(contexts)):
        total += float(max(means[contexts[t]]) - means[contexts[t], arms[t]])
        result[t] = total
    return result


def regret(means: Array, contexts: Integers, arms: Integers, rewards: Array) -> Array:
    """R_T = sum_t r(a*_t, c_t) - sum_t y_t (eqn:reg), after every step; means is (n, K).

    The arms enter only through the rewards y_t that they gave.
    """
    if not len(contexts) == len(arms) == len(rewards):
        raise ValueError("contexts, arms and rewards must have one entry per step")
    result = np.zeros(len(contexts))
    best_total = 0.0
    reward_total = 0.0
    for t in range(len(contexts)):
        best_total += float(max(means[contexts[t]]))
        reward_total += float(rewards[t])
        result[t] = best_total - reward_total
    return result


# ---------------------------------------------------------------------------------------------------------------------
# Random numbers
# ---------------------------------------------------------------------------------------------------------------------

# (key, counter, answer): the Philox4x32-10 lines of Random123's kat_vectors
PHILOX_KNOWN_ANSWERS: list[tuple[Words2, Words4, Words4]] = [
    (
        (0x00000000, 0x00000000),
        (0x00000000, 0x00000000, 0x00000000, 0x00000000),
        (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ),
    (
        (0xFFFFFFFF, 0xFFFFFFFF),
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0xA4093822, 0x299F31D0),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox4x32_10(key: Words2, counter: Words4) -> Words4:
    """Philox4x32 with 10 rounds (Salmon, Moraes, Dror and Shaw, SC 2011; Random123's philox.h), on plain integers."""
    mask = 0xFFFFFFFF
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for round_number in range(10):
        if round_number > 0:  # the Weyl sequence of the key
            k0 = (k0 + 0x9E3779B9) & mask
            k1 = (k1 + 0xBB67AE85) & mask
        product0 = 0xD2511F53 * c0
        product1 = 0xCD9E8D57 * c2
        high0, low0 = product0 >> 32, product0 & mask
        high1, low1 = product1 >> 32, product1 & mask
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


# ---------------------------------------------------------------------------------------------------------------------
# Proposition 1
# ---------------------------------------------------------------------------------------------------------------------


def minimise_beta(X: Array, N: Array, x: Array) -> Array:
    """Minimise beta^T N^-1 beta subject to X beta = x (Proposition 1, (eqn:beta)) by a general-purpose solver (SLSQP).

    X is (d, m), N the m counts, all above 0, x is (d,). With beta = sqrt(N) gamma the objective is |gamma|^2 and the
    constraint A gamma = x with A = X sqrt(N). The rows of the constraint and the size of x are scaled to 1. The
    relative accuracy in beta is about 1e-6 or better; a solution that misses the constraint raises.
    """
    from scipy.optimize import minimize

    if not np.all(N > 0.0):
        raise ValueError("pass only the columns with N > 0")
    d, m = X.shape
    A = np.zeros((d, m))
    for i in range(m):
        A[:, i] = X[:, i] * math.sqrt(N[i])
    size = math.sqrt(sum(float(v) ** 2 for v in x))
    if size == 0.0:
        return np.zeros(m)
    rows = np.sqrt((A**2).sum(axis=1))
    rows[rows == 0.0] = 1.0
    A_scaled = A / rows[:, np.newaxis]
    target = x / size / rows
    unit = math.sqrt(float((target**2).sum()))  # brings gamma to the order of 1
    target = target / unit

    gamma = np.zeros(m)
    for _ in range(3):  # a restart from the last answer polishes it
        answer = minimize(
            lambda g: 0.5 * float(g @ g),
            gamma,
            jac=lambda g: g,
            constraints=[{"type": "eq", "fun": lambda g: A_scaled @ g - target, "jac": lambda g: A_scaled}],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        gamma = np.array(answer.x, dtype=np.float64)
    if float(np.abs(A_scaled @ gamma - target).max()) > 1e-8:
        raise RuntimeError(f"SLSQP missed the constraint: {answer.message}")
    beta = np.zeros(m)
    for i in range(m):
        beta[i] = gamma[i] * unit * size * math.sqrt(N[i])
    return beta
