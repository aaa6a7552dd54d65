"""Rows of a log, dealt out to their arms in the order in which they lie in memory."""

from armspan.kernels._compile import kernel


@kernel
def deal(X, arms, rewards, dealt, start, end, places):
    """Copy rows X[start:end] (n, d) to `dealt`, arm by arm, each with its reward at the end. Changes dealt.

    dealt : (n, d + 1). places : (K,) where in it the next row of each arm goes.
    """
    d, places = X.shape[1], places.copy()
    for i in range(start, end):
        row = places[arms[i]]
        for j in range(d):
            dealt[row, j] = X[i, j]
        dealt[row, d] = rewards[i]
        places[arms[i]] = row + 1
