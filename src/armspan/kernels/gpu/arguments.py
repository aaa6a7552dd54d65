"""What kernels on a GPU are given: each takes told, world, carried, written and watched."""

from typing import Any, NamedTuple


class Told(NamedTuple):
    """What one launch is to do.

    seed, runs : the random streams, and (R,) numbers of the runs. scale : of the noise. unit : how large rewards are,
    roughly. ends : (B + 1,) edges of the bins of time, from the horizon down.
    first, steps : the first step, from 0 (a multiple of 4), and how many. knobs : (steps,) arrays. marks : (M + 1,)
    steps of the launch, from 0, after which curves are taken down; the last is beyond the steps.
    """

    seed: Any
    runs: Any
    scale: Any
    unit: Any
    ends: Any
    first: Any = None
    steps: Any = None
    knobs: Any = None
    marks: Any = None


class Table(NamedTuple):
    """A world of contexts that recur: tables as in `draws.pick` and `Block`."""

    threshold: Any
    alias: Any
    x: Any
    means: Any
    losses: Any


class Box(NamedTuple):
    """A world of features in a box, as in `draws.features`."""

    low: Any
    high: Any
    theta: Any
    gap: Any


class Drawn(NamedTuple):
    """One context of a box, as row 0 of tables, and scratch for its numbers in (0, 1)."""

    x: Any
    means: Any
    losses: Any
    u: Any


class Carried(NamedTuple):
    """What goes on in the next launch, so that its length changes nothing.

    regret, noise_sums : (R,) so far. at : (R,) where each run's chain stands. knowledge : tuples of arrays, of which
    the first holds what was learnt; the form says which.
    """

    regret: Any
    noise_sums: Any
    at: Any
    knowledge: Any


class Written(NamedTuple):
    """Where results go.

    curve, noise_curve : (R, M) pseudo-regret and noise so far, after the marks. keeps_noise : whether noise_curve
    counts. suboptimal : (B, K, R) pulls that cost something.
    """

    curve: Any
    noise_curve: Any
    keeps_noise: Any
    suboptimal: Any


class Watched(NamedTuple):
    """What is counted where the events of the proof are; else `watched` is False.

    counted : `EventCounts`. bases, units, radius : those of `meta_region`, for a box. grams, rarest : as of
    `advance_counting`.
    """

    counted: Any
    bases: Any
    units: Any
    radius: Any
    grams: Any = None
    rarest: Any = None


class Here(NamedTuple):
    """What a family's `choose` uses of a `Block`."""

    x: Any
    unit: Any
    seed: Any
