"""Rows of a log, dealt out to their arms in the order in which they lie in memory."""

from armspan.kernels._compile import kernel


@kernel
def deal(X, arms, rewards, start, dealt, filled):
    """Copy rows X (n, d) from `start` on to their arms until one has no room left. Changes dealt and filled.

    dealt : (K, R, d + 1) the rows of each arm, with the reward at the end. filled : (K,) how many each has.
    Returns the number of the first row that was not dealt.
    """
    room, d = dealt.shape[1], X.shape[1]
    for i in range(start, X.shape[0]):
        k = arms[i]
        row = filled[k]
        for j in range(d):
            dealt[k, row, j] = X[i, j]
        dealt[k, row, d] = rewards[i]
        filled[k] = row + 1
        if row + 1 == room:
            return i + 1
    return X.shape[0]
