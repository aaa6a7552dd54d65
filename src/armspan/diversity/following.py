"""Did the policy that logged follow single groups? If so, a log shows its arms as better than they are.

Rows of one visitor may share a taste. A policy that learns it takes the arm more often that this visitor likes. Then an
arm has more rows of those who like it, and a line through them is too high, however many there are. Such a policy
gives itself away: what an arm earns, beyond its line, goes with how often its group was given it.
"""

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.diversity.fits import Fits, added
from armspan.diversity.quantiles import f_quantile
from armspan.diversity.sample import Sample


def followed(sample: Sample, arms: IntArray, rewards: FloatArray, fits: Fits, alpha: float) -> int | None:
    """The arm for which that shows most, at level alpha over all arms; None if it does for none.

    How often a group was given the arm is taken over its other rows: over all of them, or, since a group may like an
    arm in some contexts and dislike it in others, over those that are like the row's own.
    """
    groups, z = sample.groups, sample.z
    if groups.numbers is None:
        return None
    sizes = groups.totals(np.ones(len(z)))
    known, most, which = np.flatnonzero(fits.known), 1.0, None
    for a in known:
        mine = arms == a
        own, part, freedom = z[mine], groups.some(mine), max(int(fits.freedom[a]) - 1, 1)
        needed = f_quantile(1 - alpha / (2 * len(known)), 1, freedom)
        others = groups.totals(z * mine[:, None])[mine] - own
        shares = groups.totals(mine.astype(np.float64))[mine] - 1, (others * own).sum(axis=1)
        for often in shares:
            found = added(np.column_stack([own, often / sizes[mine]]), rewards[mine], part)
            if found is None or not found[1] > 0:
                continue
            seen = found[0] ** 2 / (needed * found[1])
            if seen > most:
                most, which = seen, int(a)
    return which
