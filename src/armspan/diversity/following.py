"""Did the policy that logged follow single groups? If so, a log shows its arms as better than they are.

Rows of one visitor may share a taste. A policy that learns it takes the arm more often that this visitor likes. Then an
arm has more rows of those who like it, and a line through them is too high, however many there are. Such a policy
gives itself away: what an arm earns, beyond its line, goes with how often its group was given it.
"""

import math

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.diversity.fits import Fits, added
from armspan.diversity.quantiles import f_quantile
from armspan.diversity.sample import Sample


def followed(sample: Sample, arms: IntArray, rewards: FloatArray, fits: Fits, alpha: float) -> int | None:
    """The arm for which that shows most, at level alpha over all arms; None if it does for none."""
    if sample.groups.numbers is None:
        return None
    known, most, which = np.flatnonzero(fits.known), 1.0, None
    for a in known:
        mine = arms == a
        share = sample.groups.means(mine.astype(np.float64))[mine]
        found = added(np.column_stack([sample.z[mine], share]), rewards[mine], sample.groups.some(mine))
        freedom = int(fits.freedom[a]) - 1
        if found is None or freedom < 1:
            continue
        needed = f_quantile(1 - alpha / len(known), 1, freedom)
        seen = found[0] ** 2 / (needed * found[1]) if found[1] > 0 else math.inf * abs(found[0])
        if seen > most:
            most, which = seen, int(a)
    return which
