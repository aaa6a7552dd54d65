"""The evidence behind an agent's estimate as bars: which past contexts carry the mean, and which the width."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from armspan.agents import Explanation
from armspan.plots.labels import plain
from armspan.plots.looks import COLOURS, SETTINGS

MOST_BARS = 12


def evidence_figure(why: Explanation) -> Figure:
    """Bars of each remembered context's part in the mean and in the squared width; the rest and the prior below."""
    shown, rest = why.evidence[:MOST_BARS], why.evidence[MOST_BARS:]
    rows = [
        (f"({', '.join(f'{value:.2g}' for value in row.x[:3])}{', …' if row.x.size > 3 else ''}) × {row.pulls:.4g}",
         row.mean_part, row.variance_part)
        for row in shown
    ]  # fmt: skip
    if rest:
        parts = sum(row.mean_part for row in rest), sum(row.variance_part for row in rest)
        rows.append((f"{len(rest)} more contexts", *parts))
    if why.other_variance or why.other_mean:
        rows.append(("not remembered", why.other_mean, why.other_variance))
    rows.append(("the prior", 0.0, why.prior_variance))
    names, means, variances = zip(*rows, strict=True)
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(9, 1.6 + 0.32 * len(rows)), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        places, colours = np.arange(len(rows)), [COLOURS[0]] * len(rows)
        colours[-1] = COLOURS[1]
        left.barh(places, means, color=colours)
        left.axvline(0, color="0.3", linewidth=0.8)
        left.set_yticks(places, names)
        left.invert_yaxis()
        left.set(xlabel="part of the mean (β × mean reward)", ylabel="context × pulls")
        right.barh(places, np.array(variances) / max(why.width**2, 1e-300), color=colours)
        right.set(xlabel="share of the squared width", xlim=(0, 1))
        figure.suptitle(plain(f"arm {why.arm}: mean {why.mean:.4g}, width {why.width:.3g}"))
    return figure
