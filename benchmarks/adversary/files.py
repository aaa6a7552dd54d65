"""Saved agents with damaged bytes: each must be refused in a sentence."""

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import armspan
from armspan.agents import Agent
from benchmarks.adversary import Report, demand

SEAL = 32
"""Bytes of the checksum at the end."""


def samples(rng: Any) -> list[bytes]:
    """Agents of many kinds, saved."""
    kinds: list[dict[str, Any]] = [{}, {"dtype": "float32"}, {"window": 20}, {"half_life": 30.0}, {"intercept": True}]
    contents = []
    for options in kinds:
        for d, names in ((1, [0]), (3, ["a", "b", ("c", 1)]), (12, list(range(5)))):
            policy = armspan.LinUCBd(feature_bound=4.0, parameter_bound=1.0, noise_scale=0.5)
            agent = policy.agent(arms=names, n_features=d, memory=8, epsilon=0.1, **options)
            for _ in range(30):
                x = rng.uniform(-1, 1, size=d)
                agent.update(agent.choose(x), x, rng.random())
            contents.append(agent.to_bytes())
    return contents


def damaged(content: bytes, rng: Any) -> bytes:
    """The bytes with a flip, a cut, an insertion, or two parts swapped; half of it in the first 1,000, the header."""
    most = len(content) if rng.random() < 0.5 else min(len(content), 1000)
    start = int(rng.integers(most))
    length = int(min(rng.integers(1, 2 ** rng.integers(1, 10)), len(content) - start))
    kind = rng.integers(5)
    changed = bytearray(content)
    if kind == 0:
        changed[start] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        changed[start] = int(rng.choice(list(b'0123456789-.,"[]{}eE\\ntf\x00\xff')))
    elif kind == 2:
        del changed[start : start + length]
    elif kind == 3:
        changed[start:start] = content[start : start + length] if rng.random() < 0.5 else rng.bytes(length)
    else:
        other = int(rng.integers(most))
        first, second = sorted((start, other))
        length = min(length, second - first, len(content) - second)
        changed[first : first + length] = content[second : second + length]
        changed[second : second + length] = content[first : first + length]
    return bytes(changed)


def use(agent: Agent) -> None:
    """What a loaded agent must be able to do without any exception but armspan's own."""
    x = np.full(agent.settings.n_features, 0.1)
    arm = agent.choose(x)
    agent.update(arm, x, 1.0)
    agent.update([arm] * 3, [x] * 3, [1.0] * 3)
    agent.scores(x)
    agent.explain(x, arm)
    agent.diversity()
    agent.add_arm("fresh")
    Agent.from_bytes(agent.to_bytes())


def attack(contents: list[bytes], folder: Path, seed: int, report: Report) -> None:
    """Damage one file; where its checksum was made anew, it may load, and then must work."""
    rng = np.random.default_rng(seed)
    content = contents[rng.integers(len(contents))]
    sealed = rng.random() < 0.5
    wrong = damaged(content[:-SEAL] if sealed else content, rng)
    if sealed:
        wrong += hashlib.sha256(wrong).digest()
    if wrong == content:
        return
    try:
        if rng.random() < 0.1:
            (folder / "agent").write_bytes(wrong)
            agent = armspan.load_agent(folder / "agent")
        else:
            agent = Agent.from_bytes(wrong)
    except armspan.ArmspanError:
        return
    demand(sealed, "a damaged file was loaded")
    report.count("with a new checksum that loaded")
    try:
        use(agent)
    except armspan.ArmspanError as error:
        report.count("of them refused later")
        demand(str(error), "refused without a sentence")


def run(n: int, seed: int) -> Report:
    """Damage with these seeds."""
    report, contents = Report("files"), samples(np.random.default_rng(0))
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for one in range(seed, seed + n):
            report.attack(one, attack, contents, Path(folder), one, report)
    return report
