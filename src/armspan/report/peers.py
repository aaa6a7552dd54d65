"""Other packages in problems of the arena: what `python -m benchmarks.peers arena` found, for the page."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armspan._text import table
from armspan._typing import FloatArray
from armspan.errors import BadFile
from armspan.experiments.standing import LEAST, Ratio, interval, redrawn_means
from armspan.report import page

FILE = "peers.json"
FORMAT = "armspan peers"
OWN = "armspan"
"""What rows of armspan's own agents have for a package; the first of them is what others are compared with."""
HEAD = ("package", "settings", "mean regret", "regret / first row's", "µs per step", "time / first row's")


class Entrant(NamedTuple):
    """A package in one problem: its settings, final regret (R,) of each run, and microseconds per step."""

    package: str
    settings: str
    regret: FloatArray
    microseconds: float


class PeerBout(NamedTuple):
    """One problem: its key, its size, and who raced, armspan's agents first."""

    key: str
    n_arms: int
    n_features: int
    entrants: tuple[Entrant, ...]


class Peers(NamedTuple):
    """All of it. how : when and where it was measured. left_out : packages that could not run, and why."""

    steps: int
    runs: int
    how: str
    bouts: tuple[PeerBout, ...]
    left_out: dict[str, str]


def load(folder: Path) -> Peers | None:
    """What is kept in the folder; None if there is nothing."""
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadFile(f"cannot read {path}: {error}") from None
    try:
        return _checked(content)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadFile(
            f"{path} is not what python -m benchmarks.peers arena writes; delete it, or make it again"
        ) from None


def _checked(content: dict[str, Any]) -> Peers:
    if content["format"] != FORMAT:
        raise ValueError
    runs = int(content["runs"])
    bouts = []
    for key, bout in content["problems"].items():
        entrants = tuple(
            Entrant(
                str(row["package"]),
                str(row["settings"]),
                np.array(row["regret"], dtype=np.float64).reshape(runs),
                float(row["microseconds"]),
            )
            for row in bout["rows"]
        )
        if not entrants or entrants[0].package != OWN:
            raise ValueError
        bouts.append(PeerBout(str(key), int(bout["n_arms"]), int(bout["n_features"]), entrants))
    how = f"{content['date']}, armspan {content['armspan']}, {content['machine']}"
    left_out = {str(name): str(why) for name, why in content["left_out"].items()}
    return Peers(int(content["steps"]), runs, how, tuple(bouts), left_out)


def rows(bout: PeerBout) -> list[list[str]]:
    """One row per contestant, as in `HEAD`."""
    first, ratios = bout.entrants[0], beside(bout)
    return [
        [
            entrant.package,
            entrant.settings,
            f"{entrant.regret.mean():,.1f}",
            str(ratio) if entrant is not first else "1",
            f"{entrant.microseconds:,.{1 if entrant.microseconds < 100 else 0}f}",
            f"{entrant.microseconds / first.microseconds:,.2f}",
        ]
        for entrant, ratio in zip(bout.entrants, ratios, strict=True)
    ]


def beside(bout: PeerBout) -> list[Ratio]:
    """Mean regret of each, in units of the first one's."""
    final = np.array([entrant.regret for entrant in bout.entrants])
    means, drawn = np.maximum(final.mean(axis=1), LEAST), np.maximum(redrawn_means(final, bout.key), LEAST)
    return [
        Ratio(float(means[i] / means[0]), *interval(drawn[:, i] / drawn[:, 0], final.shape[1]))
        for i in range(len(final))
    ]


def words(bout: PeerBout) -> str:
    """Who loses less than armspan's first, who more, and how long steps take."""
    told: dict[str, list[str]] = {"less": [], "as much, as far as these runs can tell": [], "more": []}
    less, same, more = told
    own = [entrant.microseconds for entrant in bout.entrants if entrant.package == OWN]
    others = [entrant.microseconds for entrant in bout.entrants if entrant.package != OWN]
    if not others:
        return "No other package ran."
    for entrant, ratio in zip(bout.entrants, beside(bout), strict=True):
        if entrant.package != OWN:
            told[less if ratio.high < 1 else more if ratio.low > 1 else same].append(entrant.package)
    who = "; ".join(f"{_list(names)} lose{'s' * (len(names) == 1)} {kind}" for kind, names in told.items() if names)
    times = f"A step takes them {_range(others)} µs, and armspan's agents {_range(own)} µs."
    return f"Beside armspan's {bout.entrants[0].settings}, {who}. {times}"


def section(peers: Peers) -> list[str]:
    """The part of the arena's page."""
    parts = [
        page.heading("Beside other packages"),
        page.paragraph(
            f"{peers.runs} runs of {peers.steps:,} steps in problems of the arena; all meet the same contexts and the "
            "same noise. Packages have the settings that their documentation recommends, armspan's agents are those "
            "of the docs' page on agents. Packages that know one context for all arms get the features of all arms "
            "side by side where these differ. A step is one choice and one reward, asked for from Python, on one core."
        ),
        page.paragraph(f"Measured by python -m benchmarks.peers arena: {peers.how}.", "small"),
    ]
    for bout in peers.bouts:
        parts += [
            page.paragraph(f"{bout.key} ({bout.n_arms} arms, {bout.n_features} features). {words(bout)}"),
            page.table(HEAD, rows(bout)),
        ]
    return parts + [page.paragraph(f"{name} {why.partition(':')[0]}.") for name, why in peers.left_out.items()]


def summary(peers: Peers) -> dict[str, Any]:
    """The same for machines."""
    return {
        bout.key: [
            {
                "package": entrant.package,
                "settings": entrant.settings,
                "regret": float(entrant.regret.mean()),
                "microseconds": entrant.microseconds,
            }
            for entrant in bout.entrants
        ]
        for bout in peers.bouts
    }


def text(peers: Peers) -> str:
    """The same for the terminal."""
    lines = [f"{peers.runs} runs of {peers.steps:,} steps; {peers.how}"]
    for bout in peers.bouts:
        lines += ["", f"{bout.key}: {bout.n_arms} arms, {bout.n_features} features"]
        lines += [*table(HEAD, rows(bout), words=(0, 1)), words(bout)]
    return "\n".join([*lines, *(f"{name} {why}" for name, why in peers.left_out.items())])


def _range(values: list[float]) -> str:
    low, high = (f"{value:,.{1 if value < 10 else 0}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
