"""The table of a sweep as a picture: final regret against what was varied."""

from typing import TYPE_CHECKING, Any

import numpy as np

from armspan import _validate
from armspan._typing import FloatArray
from armspan.errors import InvalidParameter

if TYPE_CHECKING:
    import pandas as pd

    from armspan.plots import Axes

_NEEDED = ("environment", "policy", "horizon", "runs", "mean", "low", "high")


def plot_sweep(
    table: "pd.DataFrame", x: str | None = None, *, log: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the mean final pseudo-regret of every cell of a sweep, with its 95 % interval.

    Parameters
    ----------
    table : pandas.DataFrame
        What `armspan.sweep` returned, or some of its rows.
    x : str, optional
        The column that is drawn from left to right. Its numbers must tell the cells of a line apart. Lines are
        policies, or environments if x is a parameter of the policies. If left out, it is the first varied parameter
        whose numbers do so, else λ₀, else the names of the environments. Rows without a number in x are left out.
    log : {"", "x", "y", "xy"}, optional
        Which axes are logarithmic. If left out, those whose numbers differ by more than a factor of 30. On a
        logarithmic x axis, 0 stands to the left of a break.
    ax : matplotlib.axes.Axes, optional
        Where to draw. A new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.
    """
    missing = [name for name in _NEEDED if name not in getattr(table, "columns", ())]
    if missing or not len(table):
        what = f"one without {missing[0]}" if missing else "no rows"
        raise InvalidParameter(f"table must be what armspan.sweep returned, got {what}")
    if log is not None:
        _validate.one_of("log", log, ("", "x", "y", "xy"))
    if x is not None:
        _validate.one_of("x", x, [str(name) for name in table.columns])
    x = x or next(column for column in _candidates(table) if _tells_apart(table, column))
    if not _tells_apart(table, x):
        raise InvalidParameter(
            f"x must have a number in some rows, and different ones in all rows of a line, got {x!r}; "
            "give another column, or some of the rows"
        )
    return _draw(table, x, log, ax)


def _candidates(table: "pd.DataFrame") -> list[str]:
    """What x may be, the best first."""
    varied = [str(name) for name in table.columns if str(name).startswith(("environment.", "policy."))]
    one = table["environment"].nunique() == 1
    varied.sort(key=lambda name: name.startswith("environment.") == one)  # those of policies, where only these vary
    return [*varied, *(["policy"] if one else ["lambda_0"]), "environment"]


def _lines(x: str) -> str:
    """The column whose values are the lines."""
    return "environment" if x == "policy" or x.startswith("policy.") else "policy"


def _numbers(table: "pd.DataFrame", x: str) -> FloatArray:
    """The places of all rows from left to right; nan where there is none."""
    if x in ("environment", "policy"):
        places = {name: float(place) for place, name in enumerate(dict.fromkeys(table[x]))}
        return np.array([places[name] for name in table[x]])
    try:
        return np.asarray(table[x], dtype=np.float64)
    except (TypeError, ValueError):
        return np.full(len(table), np.nan)


def _tells_apart(table: "pd.DataFrame", x: str) -> bool:
    """Whether rows of one line have different numbers, and there are any."""
    if x not in table.columns:
        return False
    numbers, lines = _numbers(table, x), np.asarray(table[_lines(x)], dtype=object)
    there = np.isfinite(numbers)
    pairs = list(zip(lines[there], numbers[there], strict=True))
    return bool(pairs) and len(set(pairs)) == len(pairs)


def _draw(table: "pd.DataFrame", x: str, log: str | None, ax: Any) -> "Axes":
    from armspan.plots import points
    from armspan.plots.canvas import canvas, legend
    from armspan.plots.curves import Curves
    from armspan.plots.labels import plain
    from armspan.plots.looks import looks

    numbers, named = _numbers(table, x), x in ("environment", "policy")
    there = np.isfinite(numbers)
    lines = np.array([str(name) for name in table[_lines(x)]], dtype=object)
    names = list(dict.fromkeys(lines[there]))
    logs = log if log is not None else ("" if named else _far("x", numbers)) + _far("y", table["mean"].to_numpy())
    scale = points.LogScale(numbers[there]) if "x" in logs else None
    with canvas(ax) as axes:
        for name, own in zip(names, looks(names), strict=True):
            rows = np.flatnonzero((lines == name) & there)
            rows = rows[np.argsort(numbers[rows], kind="stable")]
            columns = (table[part].to_numpy(dtype=np.float64)[None, rows] for part in ("mean", "low", "high"))
            points.draw(axes, Curves([name], numbers[rows], *columns), [own], scale, joined=not named)
        if scale is not None:
            scale.mark(axes)
        if named:
            values = list(dict.fromkeys(table[x]))
            axes.set_xticks(range(len(values)), [plain(value) for value in values], rotation=20, ha="right")
        if "y" in logs:
            axes.set_yscale("log")
        elif not (table["low"] < 0).any():
            axes.set_ylim(bottom=0)
        axes.set_xlabel(_words(x) + (" (log scale)" if "x" in logs else ""))
        steps, runs = int(table["horizon"].iloc[0]), int(table["runs"].iloc[0])
        axes.set_ylabel(f"pseudo-regret after {steps:,} steps" + (" (log scale)" if "y" in logs else ""))
        legend(axes, f"mean of {runs:,} runs, bars: 95 % interval" if runs > 1 else "one run")
    return axes


def _far(axis: str, values: FloatArray) -> str:
    """The axis, if positive values differ so much that a log scale is better."""
    positive = values[np.isfinite(values) & (values > 0)]
    return axis if positive.size > 1 and positive.max() > 30 * positive.min() and not (values < 0).any() else ""


def _words(x: str) -> str:
    return {"lambda_0": "λ₀, the diversity of the contexts", "gap": "Δ, the gap"}.get(x, x.replace(".", "'s ", 1))
