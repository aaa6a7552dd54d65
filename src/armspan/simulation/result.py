"""What a simulation returns: regret curves as named arrays, with a summary, a table, and a file format."""

import html
import json
import math
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armspan import _validate
from armspan._files import as_path, whole_file
from armspan._text import counted
from armspan._typing import FloatArray, IntArray
from armspan.errors import BadFile, InvalidParameter, MissingExtra, NotApplicable
from armspan.events.events import Events
from armspan.simulation import octaves
from armspan.simulation.comparison import Comparison, compared
from armspan.simulation.growth import Growth, growth
from armspan.simulation.student import half_width
from armspan.simulation.summary import Summary, SummaryRow

if TYPE_CHECKING:
    import pandas as pd

    from armspan.plots import Axes

FORMAT = "armspan result"
VERSION = 3
_ARRAYS = ("runs", "checkpoints", "pseudo_regret", "noise")
_WORDS = ("policies", "environment", "fingerprint", "horizon", "seed", "engine")
_MOST_PACKED = 20
"""How many times larger than its file a result may be: `save` packs nothing, its first version did."""
_SMALL = 2**24
"""Bytes that any file may unpack to."""
_SHADES = {"interval": ", shaded: 95 % interval of the mean", "sd": ", shaded: ± 2 standard deviations", "": ""}


@dataclass(frozen=True, eq=False)
class Result:
    """Regret of P policies in R runs at C checkpoints. `armspan.simulate` returns one.

    Attributes
    ----------
    policies : tuple of str
        P names.
    runs : (R,) array
        Numbers of the runs.
    checkpoints : (C,) array
        Step numbers.
    pseudo_regret : (P, R, C) array
        What was lost compared with the best arm, in mean rewards.
    noise : (R, C) array
        The sum of the noise so far, which is the same for all policies; (P, R, C) for clicks, whose noise depends on
        the arm.
    environment : str
        Name of the environment.
    fingerprint : str
        Digits that change with any number in the environment and the policies, and with your own code in them.
    horizon, seed : int
        As they were given to `simulate`.
    engine : str
        The engine that computed it.
    events : dict
        For each policy that was watched (`simulate(..., events=True)`), the error events of the proof.
    suboptimal_pulls : (P, R, B, K) array or None
        Pulls of each arm that cost something, in the B bins of time of `armspan.simulation.octaves`, the last one
        first; None in a result that an older version saved.
    switched_at : dict
        For each policy that can switch from one rule to another, as `GreedyFirst` can, an array (R,): the number of
        rewards after which each run did so; 0 if it never did.
    """

    policies: tuple[str, ...]
    runs: IntArray
    checkpoints: IntArray
    pseudo_regret: FloatArray
    noise: FloatArray
    environment: str
    fingerprint: str
    horizon: int
    seed: int
    engine: str
    events: dict[str, Events] = field(default_factory=dict)
    suboptimal_pulls: NDArray[np.uint32] | None = None
    switched_at: dict[str, IntArray] = field(default_factory=dict)

    @cached_property
    def regret(self) -> FloatArray:
        """Regret (P, R, C) with the rewards as they came, noise included, which is the paper's definition."""
        return self.pseudo_regret - self.noise

    def curves(self, policy: str) -> FloatArray:
        """Pseudo-regret (R, C) of one policy.

        Parameters
        ----------
        policy : str
            Its name.
        """
        if policy not in self.policies:
            raise InvalidParameter(f"policy must be one of {', '.join(self.policies)}, got {policy!r}")
        return self.pseudo_regret[self.policies.index(policy)]

    def only(self, policies: Sequence[str]) -> "Result":
        """The result with only some of the policies.

        Parameters
        ----------
        policies : list of str
            Their names, in the order that you want.
        """
        if not len(policies):
            raise InvalidParameter("policies must name at least one policy, got none")
        rows = [self.policies.index(name) for name in policies if self.curves(name) is not None]
        pulls = self.suboptimal_pulls
        return replace(
            self,
            policies=tuple(policies),
            pseudo_regret=self.pseudo_regret[rows],
            noise=self.noise[rows] if self.noise.ndim == 3 else self.noise,
            suboptimal_pulls=None if pulls is None else pulls[rows],
            events={name: events for name, events in self.events.items() if name in policies},
            switched_at={name: steps for name, steps in self.switched_at.items() if name in policies},
        )

    def mean(self) -> FloatArray:
        """Mean pseudo-regret (P, C) over the runs."""
        return self.pseudo_regret.mean(axis=1)

    def sd(self) -> FloatArray:
        """Standard deviation (P, C) of the pseudo-regret over the runs; nan for a single run."""
        if self.runs.size < 2:
            return np.full(self.pseudo_regret.shape[::2], math.nan)
        return self.pseudo_regret.std(axis=1, ddof=1)

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """The 95 % interval of the mean over the runs, by Student's t; nan for a single run.

        It is exact if the regret of the runs is normally distributed. Where a few runs lose far more than the others,
        as with greedy, it is too narrow: use 30 runs or more.

        Returns
        -------
        low, high : (P, C) arrays
            The ends of the interval.
        """
        mean, half = self.mean(), half_width(self.sd(), self.runs.size)
        return mean - half, mean + half

    def growth(self, policy: str) -> Growth:
        """How the regret of one policy grows; `armspan.simulation.growth` states the rule.

        Parameters
        ----------
        policy : str
            Its name.

        Returns
        -------
        Growth
            The verdict, with the numbers that it rests on.
        """
        curves, pulls = self.curves(policy), self.suboptimal_pulls
        whole = pulls is not None and self.checkpoints[-1] == self.horizon
        return growth(
            self.checkpoints, curves, pulls[self.policies.index(policy)] if whole and pulls is not None else None
        )

    def summary(self) -> Summary:
        """One row per policy: mean, standard deviation, interval and growth verdict at the last checkpoint.

        Returns
        -------
        Summary
            The rows; they print as a table.
        """
        low, high = self.interval()
        mean, sd, least, most = (column[:, -1].tolist() for column in (self.mean(), self.sd(), low, high))
        rows = [
            SummaryRow(name, mean[p], sd[p], least[p], most[p], self.growth(name), self.switched_at.get(name))
            for p, name in enumerate(self.policies)
        ]
        return Summary(rows, steps=int(self.checkpoints[-1]), runs=self.runs.size)

    def compare(self, first: str, second: str) -> Comparison:
        """Which of two policies loses less at the last checkpoint, by how much, and how sure that is.

        Both met the same contexts and noise, so their difference, taken run by run, is known better than their means.
        Print the comparison to get a sentence.

        Parameters
        ----------
        first, second : str
            Their names.

        Returns
        -------
        Comparison
            The difference, its interval, and `better`, which is None where the interval leaves it open.
        """
        final = (self.curves(first)[:, -1], self.curves(second)[:, -1])
        return compared((first, second), int(self.checkpoints[-1]), *final)

    def to_frame(self) -> "pd.DataFrame":
        """A tidy pandas table with one row per policy, run and checkpoint."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("to_frame needs pandas: pip install 'armspan[lab]'") from None
        P, R, C = self.pseudo_regret.shape
        return pd.DataFrame(
            {
                "policy": np.repeat(np.array(self.policies, dtype=object), R * C),
                "run": np.tile(np.repeat(self.runs, C), P),
                "step": np.tile(self.checkpoints, P * R),
                "pseudo_regret": self.pseudo_regret.ravel(),
                "regret": self.regret.ravel(),
            }
        )

    def plot(
        self,
        policies: Sequence[str] | None = None,
        *,
        log: str | None = None,
        shade: str = "interval",
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Draw mean pseudo-regret against the step, one line per policy.

        Parameters
        ----------
        policies : sequence of str, optional
            Whose curves to draw, in this order. All of them if left out.
        log : {"", "x", "y", "xy"}, optional
            Which axes are logarithmic. If left out, x is, and so is y where the curves end far apart or still grow.
        shade : {"interval", "sd", ""}, default "interval"
            What is shaded: the 95 % interval of the mean, two standard deviations of the runs on either side, or
            nothing. A single run has neither.
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if left out.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the plot.
        """
        shown = self if policies is None else self.only([policies] if isinstance(policies, str) else policies)
        if log is not None:
            _validate.one_of("log", log, ("", "x", "y", "xy"))
            without = [name for name, end in zip(shown.policies, shown.mean()[:, -1], strict=True) if end <= 0]
            if "y" in log and without:
                raise InvalidParameter(f'log must be "" or "x", as {without[0]} has no regret, got {log!r}')
        _validate.one_of("shade", shade, tuple(_SHADES))
        from armspan.plots import curves, looks
        from armspan.plots.canvas import canvas, legend

        with canvas(ax) as axes:
            lines = curves.Curves(shown.policies, shown.checkpoints, shown.mean(), *shown._band(shade))
            curves.draw(axes, lines, looks.looks(shown.policies))
            curves.scales(axes, lines, log)
            legend(axes, f"mean of {self.runs.size:,} runs{_SHADES[shade]}" if self.runs.size > 1 else "one run")
        return axes

    def plot_events(self, policy: str | None = None, what: str = "regret", *, ax: "Axes | None" = None) -> "Axes":
        """Draw what the paper's proof counts in the runs of one policy; it needs `simulate(..., events=True)`.

        Parameters
        ----------
        policy : str, optional
            Which one. The first that was watched if left out.
        what : {"regret", "end", "knowledge", "pulls"}, default "regret"
            Mean regret by event and frame; the share of runs without a suboptimal pull after step t; how well each
            arm is known in its weakest direction, λ_min(V), averaged over the runs; or how often it was pulled in the
            rarest context of its basis. The last two grow in proportion to t where contexts are diverse.
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if left out.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the plot.
        """
        if not self.events:
            raise NotApplicable(
                "plot_events needs a result with events: simulate(..., events=True), with a policy whose events are "
                "counted, such as LinUCB-d"
            )
        policy = _validate.one_of("policy", next(iter(self.events)) if policy is None else policy, list(self.events))
        _validate.one_of("what", what, ("regret", "end", "knowledge", "pulls"))
        from armspan.plots import proof
        from armspan.plots.canvas import canvas, legend
        from armspan.plots.labels import plain

        events, t = self.events[policy], self.checkpoints
        with canvas(ax) as axes:
            if what == "regret":
                proof.by_event(axes, events.regret.mean(axis=0))
            elif what == "end":
                proof.exploration_over(axes, events.last_suboptimal, self.horizon)
            elif what == "knowledge":
                proof.by_arm(axes, t, events.eigenvalues.mean(axis=0), "λ_min(V)")
                axes.set_title("knowledge of the weakest direction")
            else:
                proof.by_arm(axes, t, events.basis_pulls.mean(axis=0), "pulls")
                axes.set_title("pulls in the rarest context of each arm's basis")
            axes.set_title(plain(f"{policy}: {axes.get_title()}, {counted(self.runs.size, 'run')}"))
            if axes.get_legend_handles_labels()[0]:
                legend(axes)
        return axes

    def _band(self, shade: str) -> tuple[FloatArray, FloatArray]:
        """The edges (P, C) of what is shaded; nan where nothing is."""
        if shade == "interval":
            return self.interval()
        mean, half = self.mean(), 2 * self.sd() if shade == "sd" else math.nan
        return mean - half, mean + half

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, a NumPy .npz archive with a JSON header; `armspan.load_result` reads it.

        Parameters
        ----------
        path : str or path
            The file. An older one with this name stays in place until the new one is complete.
        """
        header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "events": list(self.events)}
        header |= {name: getattr(self, name) for name in _WORDS} | {"switched_at": list(self.switched_at)}
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if self.suboptimal_pulls is not None:
            arrays["suboptimal_pulls"] = self.suboptimal_pulls
        for number, events in enumerate(self.events.values()):
            arrays |= {f"events {number} {name}": array for name, array in events.arrays().items()}
        arrays |= {f"switched_at {number}": steps for number, steps in enumerate(self.switched_at.values())}
        with whole_file(path) as file:
            np.savez(file, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.environment)}</p>{self.summary()._repr_html_()}"

    def __repr__(self) -> str:
        return (
            f"<Result: {', '.join(self.policies)} in {self.environment}, "
            f"{counted(self.runs.size, 'run')} of {counted(self.horizon, 'step')}, "
            f"{counted(self.checkpoints.size, 'checkpoint')}>"
        )


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read what `Result.save` wrote; anything else is refused with a message, and no code in it is ever run.

    It never allocates more memory than the file's size justifies.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Result
        The result that was saved.
    """
    try:
        with as_path(path).open("rb") as file, zipfile.ZipFile(file) as archive:
            size, unpacked = os.fstat(file.fileno()).st_size, sum(entry.file_size for entry in archive.infolist())
            if unpacked > max(_MOST_PACKED * size, _SMALL):
                raise BadFile(f"{path} is not an armspan result: its {size:,} bytes would unpack to {unpacked:,}")
            header = json.loads(_array(archive, "header").tobytes())
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ValueError
            if header.get("version") not in range(1, VERSION + 1):
                raise BadFile(f"{path} has format version {header.get('version')}; this armspan reads 1 to {VERSION}")
            result = _checked(header, *_content(archive, header), _switches(archive, header))
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or error}") from None
    except BadFile:
        raise
    except Exception:  # a damaged archive can fail anywhere inside zipfile, zlib, NumPy and json
        raise BadFile(f"{path} is not an armspan result, or is damaged") from None
    if result is None:
        raise BadFile(f"{path} is damaged: its parts do not fit together")
    return result


def _content(archive: zipfile.ZipFile, header: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """All arrays by their names, and those of the events by policies."""
    arrays = {name: _array(archive, name) for name in _ARRAYS[:3]}
    if header["version"] == 1:  # it kept the regret instead of the noise
        regret = _array(archive, "regret")
        if regret.shape != arrays["pseudo_regret"].shape:
            raise ValueError
        arrays["noise"] = arrays["pseudo_regret"][0] - regret[0]
    else:
        arrays["noise"] = _array(archive, "noise")
    if "suboptimal_pulls.npy" in archive.namelist():
        arrays["suboptimal_pulls"] = _array(archive, "suboptimal_pulls")
    events = {
        name: {part: _array(archive, f"events {number} {part}") for part in Events.parts()}
        for number, name in enumerate(header.get("events", []))
    }
    return arrays, events


def _switches(archive: zipfile.ZipFile, header: dict[str, Any]) -> dict[str, Any]:
    """When runs switched, by policies; older versions did not save it."""
    return {name: _array(archive, f"switched_at {number}") for number, name in enumerate(header.get("switched_at", []))}


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array, if it is as large as its own header says: NumPy makes room for what that claims."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError
    with archive.open(entry) as file:
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.kind not in "biuf" or math.prod(shape) * dtype.itemsize != entry.file_size - file.tell():
            raise ValueError
    with archive.open(entry) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _checked(
    header: dict[str, Any], arrays: dict[str, Any], events: dict[str, dict[str, Any]], switches: dict[str, Any]
) -> Result | None:
    """The result, if its parts fit together."""
    names, horizon = header["policies"], header["horizon"]
    words = isinstance(names, list) and all(isinstance(name, str) for name in names)
    words = words and all(isinstance(header[name], str) for name in ("fingerprint", "engine"))
    if not words or not _is_whole(horizon, 1, 2**63) or not _is_whole(header["seed"], 0, 2**64):
        return None
    shape = (len(names), arrays["runs"].size, arrays["checkpoints"].size)
    whole = all(arrays[name].dtype == np.int64 and arrays[name].ndim == 1 for name in ("runs", "checkpoints"))
    real = all(arrays[name].dtype == np.float64 for name in ("pseudo_regret", "noise"))
    real = real and arrays["pseudo_regret"].shape == shape and arrays["noise"].shape in (shape, shape[1:])
    watched = {name: Events(**parts) for name, parts in events.items()}
    fit = whole and real and min(shape) > 0 and all(name in names for name in watched)
    fit = fit and all(entry.fits(*shape[1:], horizon) for entry in watched.values())
    fit = fit and all(name in names for name in switches)
    fit = fit and all(steps.dtype == np.int64 and steps.shape == shape[1:2] for steps in switches.values())
    pulls = arrays.get("suboptimal_pulls")
    if fit and pulls is not None:
        bins = octaves.count(horizon)
        fit = pulls.dtype == np.uint32 and pulls.ndim == 4 and pulls.shape[:3] == (*shape[:2], bins)
    if not fit:
        return None
    words_of = {name: header[name] for name in _WORDS} | {"policies": tuple(names)}
    return Result(**words_of, **arrays, events=watched, switched_at=switches)


def _is_whole(value: Any, first: int, end: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and first <= value < end


def concatenate(results: Sequence[Result]) -> Result:
    """Join results of different runs of the same simulation.

    Parameters
    ----------
    results : list of Result
        Results that differ only in their runs.

    Returns
    -------
    Result
        All runs, in the order given.
    """
    if not isinstance(results, Sequence) or not all(isinstance(result, Result) for result in results):
        raise InvalidParameter(f"results must be a list of results, got {results!r:.60}")
    if not results:
        raise InvalidParameter("results must hold at least one result, got none")
    first = results[0]
    for other in results[1:]:
        for name in ("policies", "environment", "horizon", "seed", "fingerprint"):
            if getattr(first, name) != getattr(other, name):
                raise InvalidParameter(
                    f"results must have the same {name}, got {getattr(first, name)!r} and {getattr(other, name)!r}"
                )
        if not np.array_equal(first.checkpoints, other.checkpoints):
            raise InvalidParameter("results must have the same checkpoints")
        if first.events.keys() != other.events.keys():
            watched = (", ".join(result.events) or "none" for result in (first, other))
            raise InvalidParameter(f"results must have events of the same policies, got {' and '.join(watched)}")
    runs = np.concatenate([result.runs for result in results])
    if np.unique(runs).size != runs.size:
        raise InvalidParameter("results must hold different runs")
    return replace(
        first,
        events={name: Events.joined([result.events[name] for result in results]) for name in first.events},
        runs=runs,
        pseudo_regret=np.concatenate([result.pseudo_regret for result in results], axis=1),
        noise=np.concatenate([result.noise for result in results], axis=-2),
        suboptimal_pulls=_joined([result.suboptimal_pulls for result in results]),
        switched_at={
            name: np.concatenate([result.switched_at[name] for result in results])
            for name in first.switched_at
            if all(name in result.switched_at for result in results)  # an older version did not save it
        },
    )


def _joined(parts: Sequence[NDArray[np.uint32] | None]) -> NDArray[np.uint32] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known, axis=1) if len(known) == len(parts) else None
