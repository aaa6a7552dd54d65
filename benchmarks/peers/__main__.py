"""Measure armspan and every package, print one table, and keep it in results.md; or, with `arena`, see arena.py."""

import datetime
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.machine import processor
from benchmarks.peers.packages import ONE_THREAD, PEERS, NotMeasured, Peer

Cells = list[tuple[float, float]]


def ours() -> Cells:
    """The agent of armspan, in this process."""
    import armspan  # BLAS counts its threads when it is imported, so this must come after ONE_THREAD
    from benchmarks.peers.task import ALPHA, RIDGE, Agent, measure

    def make(n_arms: int, n_features: int) -> Agent:
        agent = armspan.LinUCB(ridge=RIDGE, alpha=ALPHA).agent(n_arms=n_arms, n_features=n_features)
        return Agent(agent.choose, agent.update)

    return measure(make)


def theirs() -> tuple[dict[Peer, Cells], dict[Peer, str]]:
    """Every package that can be installed and run, and why the others were left out."""
    measured: dict[Peer, Cells] = {}
    left_out: dict[Peer, str] = {}
    for peer in PEERS:
        print(f"{peer.name} {peer.version} ...", file=sys.stderr)
        try:
            peer.install()
            measured[peer] = peer.measure()
        except NotMeasured as problem:
            left_out[peer] = str(problem)
            print(f"{peer.name} is left out: {problem}", file=sys.stderr)
    return measured, left_out


def table(armspan: Cells, peers: dict[Peer, Cells]) -> str:
    """Microseconds per step and, in brackets, the ratio to NumPy in the same process; as Markdown."""
    from benchmarks.peers.task import CELLS

    rows = [
        ("", [f"K = {n_arms}, d = {n_features}" for n_arms, n_features in CELLS]),
        ("---", ["---:"] * len(CELLS)),
        (f"**armspan {version('armspan')}**", [entry(*cell) for cell in armspan]),
        (f"NumPy {version('numpy')} by hand", [entry(numpys, numpys) for _, numpys in armspan]),
        *((peer.title, [entry(*cell) for cell in cells]) for peer, cells in peers.items()),
    ]
    return "\n".join("| " + " | ".join((title, *entries)) + " |" for title, entries in rows)


def entry(microseconds: float, numpys: float) -> str:
    """As in 1,276 (15) and 2.1 (0.08)."""
    ratio = microseconds / numpys
    return f"{microseconds:,.{1 if microseconds < 10 else 0}f} ({f'{ratio:.2g}' if ratio < 10 else f'{ratio:,.0f}'})"


def verdict(armspan: Cells, peers: dict[Peer, Cells]) -> str:
    """In which cells armspan is faster than each package, by the ratios to NumPy; within a tenth nobody is."""
    from benchmarks.peers.task import CELLS

    own = [microseconds / numpys for microseconds, numpys in armspan]
    sentences = []
    for peer, cells in peers.items():
        times = [microseconds / numpys / ratio for (microseconds, numpys), ratio in zip(cells, own, strict=True)]
        won = [f"({K}, {d})" for (K, d), factor in zip(CELLS, times, strict=True) if factor > 1.1]
        even = [f"({K}, {d})" for (K, d), factor in zip(CELLS, times, strict=True) if 1 / 1.1 <= factor <= 1.1]
        where = "every cell" if len(won) == len(CELLS) else ", ".join(won) or "no cell"
        also = f", about even in {', '.join(even)}" if even else ""
        sentences.append(f"{peer.name} in {where}{also} ({min(times):.2g}x to {max(times):,.0f}x)")
    return "By these ratios, armspan is faster than " + "; ".join(sentences) + "." if sentences else ""


def main() -> None:
    """What is asked for, in one thread."""
    os.environ.update(ONE_THREAD)
    asked, *options = sys.argv[1:] or ["steps"]
    if asked == "arena":
        from benchmarks.peers import arena  # imports armspan, which must come after ONE_THREAD

        arena.main(options)
    elif asked == "steps" and not options:
        steps()
    else:
        sys.exit(f"peers must be asked for steps or arena, got {' '.join(sys.argv[1:])!r}")


def steps() -> None:
    """What a step costs, in all cells."""
    print(f"armspan {version('armspan')} ...", file=sys.stderr)
    armspan = ours()
    peers, left_out = theirs()
    from benchmarks.peers.task import MOST_STEPS, ROUNDS

    parts = [
        "A step is `choose` for one context that all arms share and `update` with one reward. Microseconds per step, "
        "and in brackets the ratio to LinUCB written by hand in NumPy, measured in the same process; one thread. "
        f"Medians of {ROUNDS} rounds of at most {MOST_STEPS:,} steps, as many as fit in two seconds; contexts never "
        "recur. What armspan takes depends on how much it has learnt, because it passes over arms that cannot win.",
        table(armspan, peers),
        verdict(armspan, peers),
        *(f"{peer.name} {peer.version} {why.partition(':')[0]}." for peer, why in left_out.items()),
    ]
    text = "\n\n".join(part for part in parts if part)
    print(text)
    when = f"{datetime.date.today()}, Python {platform.python_version()}, {processor()}. `make bench-peers` made this."
    Path(__file__).with_name("results.md").write_text(f"# armspan beside other packages\n\n{when}\n\n{text}\n")


main()
