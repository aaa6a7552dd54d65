"""Four problems of the arena, armspan's agents and other packages beside each other: same contexts, same noise."""

import argparse
import datetime
import platform
import sys
import tempfile
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from armspan._files import write_text
from armspan._json import as_json
from armspan.environments import Environment
from armspan.experiments.arena import PROBLEMS
from armspan.policies import Greedy, LinUCB, LinUCBd, Policy
from armspan.report import peers as page
from benchmarks.machine import processor
from benchmarks.peers.entrants import ENTRANTS
from benchmarks.peers.packages import PEERS, NotMeasured
from benchmarks.peers.race import Course, race
from benchmarks.peers.task import Agent

KEYS = ("1b", "markov", "wine", "bent")
STEPS, RUNS, SEED = 3000, 10, 0
FOLDER = Path("out") / "arena"
"""Where the arena's page looks, if it is written there too."""


def course(env: Environment, steps: int, runs: int) -> Course:
    """What a simulation with this seed meets, for packages that armspan cannot run."""
    block = env.stream(SEED, np.arange(runs)).draw(0, steps)
    return Course(block.x, block.means, block.contexts[:, :steps], block.noise[:, :steps])


def own(env: Environment) -> list[Policy]:
    """Who races for armspan: practice, the constant that most packages have, the paper, and no exploration."""
    l, s, R = env.feature_bound, env.parameter_bound, env.noise_scale
    return [
        LinUCB(alpha="practical", feature_bound=l),
        LinUCB(alpha=R or 0.1, feature_bound=l, label="LinUCB, α = R"),
        LinUCBd(feature_bound=l, parameter_bound=s, noise_scale=R),
        Greedy(feature_bound=l),
    ]


def enter(policy: Any, course: Course, seed: int) -> Agent:
    """An agent of armspan."""
    agent = policy.agent(course.n_arms, course.n_features, seed=seed)
    return Agent(agent.choose, agent.update, np.ascontiguousarray)


def ours(env: Environment, facts: Course) -> list[dict[str, Any]]:
    """The rows of armspan; a first race of one run compiles."""
    rows = []
    first = Course(facts.x, facts.means, facts.contexts[:1], facts.noise[:1])
    for policy in own(env):
        race(partial(enter, policy), first)
        rows.append({"package": page.OWN, "settings": policy.name, **race(partial(enter, policy), facts)})
    return rows


def theirs(files: list[Path]) -> tuple[list[list[dict[str, Any]]], dict[str, str]]:
    """The rows of every package, file by file; and why some were left out."""
    rows: list[list[dict[str, Any]]] = [[] for _ in files]
    left_out = {}
    for peer in PEERS:
        if peer.name not in ENTRANTS:
            continue
        print(f"{peer.name} {peer.version} ...", file=sys.stderr)
        who = {"package": f"{peer.name} {peer.version}", "settings": ENTRANTS[peer.name].settings}
        try:
            peer.install()
            for row, found in zip(rows, peer.race(files), strict=True):
                row.append(who | found)
        except NotMeasured as problem:
            left_out[who["package"]] = str(problem)
            print(f"{peer.name} is left out: {problem}", file=sys.stderr)
    return rows, left_out


def measured(steps: int, runs: int) -> dict[str, Any]:
    """All of it, as `armspan.report.peers` reads it."""
    envs = {problem.key: problem.make() for problem in PROBLEMS if problem.key in KEYS}
    courses = {key: course(envs[key], steps, runs) for key in KEYS}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{key}.npz" for key in KEYS]
        for file, facts in zip(files, courses.values(), strict=True):
            facts.save(file)
        others, left_out = theirs(files)
    print(f"armspan {version('armspan')} ...", file=sys.stderr)
    return {
        "format": page.FORMAT,
        "armspan": version("armspan"),
        "date": str(datetime.date.today()),
        "machine": f"Python {platform.python_version()}, {processor()}",
        "steps": steps,
        "runs": runs,
        "seed": SEED,
        "problems": {
            key: {
                "n_arms": facts.n_arms,
                "n_features": facts.n_features,
                "rows": ours(envs[key], facts) + rows,
            }
            for (key, facts), rows in zip(courses.items(), others, strict=True)
        },
        "left_out": left_out,
    }


def main(options: list[str]) -> None:
    """Measure, print, and keep it where the arena's page finds it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers arena", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path, default=FOLDER, help=f"the folder of {page.FILE} (default {FOLDER})")
    given = parser.parse_args(options)
    given.out.mkdir(parents=True, exist_ok=True)
    write_text(given.out / page.FILE, as_json(measured(given.steps, given.runs)) + "\n")
    found = page.load(given.out)
    assert found is not None
    print(page.text(found))
    print(f"{given.out / page.FILE} has it; armspan reproduce arena --out {given.out} shows it on its page.")
