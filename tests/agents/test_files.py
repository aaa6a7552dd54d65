"""Agents on disk: they go on bit for bit, nothing is ever lost, and no file can do harm."""

import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armspan
from armspan import Greedy, LinUCB, LinUCBd
from armspan.errors import BadFile, NotApplicable
from armspan.kernels import agent_layout as layout

MAGIC = b"armspan agent 1\n"


def experienced(policy: Any = None, steps: int = 60, **options: Any) -> Any:
    """An agent with something to lose."""
    policy = policy or LinUCBd(feature_bound=1.0, parameter_bound=1.0)
    agent = policy.agent(arms=["tea", 3, ("a", 1)], n_features=9, seed=2**63 + 5, **options)
    live(agent, steps, seed=0)
    return agent


def live(agent: Any, steps: int, seed: int) -> list[Any]:
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(steps):
        x = np.round(rng.normal(size=9), 1)
        chosen.append(agent.choose(x))
        agent.update(chosen[-1], x, float(rng.normal()))
    return chosen


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        (None, {}),
        (None, {"epsilon": 0.3, "memory": 8}),
        (None, {"half_life": 20, "intercept": True}),
        (None, {"window": 15}),
        (None, {"dtype": "float32"}),
        (LinUCB(ridge=0.1, alpha=[0.5] * 500), {}),
        (Greedy(feature_bound=1.0), {"ties": "first", "memory": 0}),
        (LinUCB(alpha="practical", feature_bound=4.0), {}),
    ],
)
def test_a_loaded_agent_goes_on_bit_for_bit(policy: Any, options: Any, tmp_path: Path) -> None:
    agent = experienced(policy, **options)
    agent.save(tmp_path / "agent")
    loaded = armspan.load_agent(tmp_path / "agent")
    assert repr(loaded) == repr(agent)
    assert loaded.get_params() == agent.get_params()
    assert live(loaded, 150, seed=1) == live(agent, 150, seed=1)
    for part, kept in zip(loaded._state.parts, agent._state.parts, strict=True):
        np.testing.assert_array_equal(part, kept)
    x = np.ones(9)
    assert str(loaded.explain(x, "tea")) == str(agent.explain(x, "tea"))


def test_a_file_is_as_small_as_what_was_learnt(tmp_path: Path) -> None:
    """Triangles: K·d² doubles for arms with many pulls, next to nothing for arms with few."""
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=20, n_features=64, memory=0)
    agent.save(tmp_path / "fresh")
    assert (tmp_path / "fresh").stat().st_size < 25_000
    X = np.random.default_rng(0).normal(size=(2000, 64))
    agent.update(list(np.arange(2000) % 20), X, np.ones(2000))
    agent.save(tmp_path / "full")
    assert (tmp_path / "full").stat().st_size < 20 * 64**2 * 8 * 1.07


def test_what_a_file_cannot_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    policy = LinUCBd(feature_bound=1.0, parameter_bound=1.0)
    policy.agent(2, 2).save(path)
    before = path.read_bytes()
    for agent, sentence in (
        (policy.agent(arms=[frozenset()], n_features=2), "names in a file must be texts, numbers or tuples of them"),
        (LinUCB(ridge=1.0, alpha=lambda t: 1.0).agent(2, 2), "alpha is a function cannot be saved"),
    ):
        with pytest.raises(NotApplicable, match=sentence):
            agent.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(BadFile, match="cannot write"):
        policy.agent(2, 2).save(tmp_path / "no" / "folder")


def test_other_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    for content, sentence in (
        (b"", "is not an armspan agent"),
        (b"PK\x03\x04 something else", "is not an armspan agent"),
        (b"armspan agent 9\n and more", "another version of armspan"),
        (MAGIC, "checksum is wrong"),
    ):
        path.write_bytes(content)
        with pytest.raises(BadFile, match=sentence):
            armspan.load_agent(path)
    with pytest.raises(BadFile, match="cannot read"):
        armspan.load_agent(tmp_path / "none")


SAVED: dict[str, bytes] = {}


def saved(tmp: Path) -> bytes:
    if not SAVED:
        experienced(window=5).save(tmp / "a")
        SAVED["a"] = (tmp / "a").read_bytes()
    return SAVED["a"]


@given(data=st.data())
@settings(max_examples=150)
def test_damage_never_goes_unnoticed(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bytes changed, cut off or added: one sentence, every time."""
    folder = tmp_path_factory.getbasetemp()
    content = bytearray(saved(folder))
    kind = data.draw(st.sampled_from(["flip", "cut", "add"]))
    if kind == "flip":
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        if bytes(content) == saved(folder):
            return
    elif kind == "cut":
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        content += data.draw(st.binary(min_size=1, max_size=50))
    path = folder / "fuzzed"
    path.write_bytes(content)
    with pytest.raises(BadFile):
        armspan.load_agent(path)


@given(data=st.data())
@settings(max_examples=200)
def test_hostile_files_with_a_right_checksum_do_no_harm(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Header and arrays are changed and signed anew: it is refused, or it is an agent that can choose and learn."""
    folder = tmp_path_factory.getbasetemp()
    content = saved(folder)
    length = int.from_bytes(content[16:24], "little")
    header, body = json.loads(content[24 : 24 + length]), bytearray(content[24 + length : -32])
    values: Any = st.sampled_from([-1, 0, 1, 2, 7, 10**9, -(10**18), 1.5, 1e308, "x", None, [], {}, True, [1, [2]]])
    for _ in range(data.draw(st.integers(1, 3))):
        kind = data.draw(st.sampled_from(["settings", "policy", "arms", "arrays", "body", "top"]))
        if kind == "settings" and isinstance(header["settings"], dict):
            header["settings"][data.draw(st.sampled_from(sorted(header["settings"])))] = data.draw(values)
        elif kind == "policy" and isinstance(header["policy"], dict):
            header["policy"][data.draw(st.sampled_from(["kind", "params"]))] = data.draw(values)
        elif kind == "arms":
            header["arms"] = data.draw(st.lists(values, max_size=4))
        elif kind == "arrays" and isinstance(header["arrays"], list) and len(header["arrays"]) == 8:
            entry = header["arrays"][data.draw(st.integers(0, 7))]
            entry[1] = data.draw(st.sampled_from(["<f8", "|O", "<i8", "<U9"]))
            entry[2] = data.draw(st.lists(st.sampled_from([0, 1, 3, 9, 10**12, -1]), max_size=3))
        elif kind == "body":
            start = 8 * data.draw(st.integers(0, len(body) // 8 - 1))
            number = data.draw(st.sampled_from([np.nan, np.inf, -1.0, 2.0, 1e300, 0.5]))
            body[start : start + 8] = np.float64(number).tobytes()
        else:
            header[data.draw(st.sampled_from(sorted(header)))] = data.draw(values)
    text = json.dumps(header).encode()
    signed = MAGIC + len(text).to_bytes(8, "little") + text + bytes(body)
    path = folder / "hostile"
    path.write_bytes(signed + hashlib.sha256(signed).digest())
    try:
        agent = armspan.load_agent(path)
    except BadFile:
        return
    x = np.ones(agent.settings.n_features)
    with np.errstate(all="ignore"), suppress(armspan.ArmspanError):
        arm = agent.decide(x).arm
        agent.update(arm, x, 1.0)
        agent.explain(x, arm)


def signed_anew(content: bytes, path: Path, **changes: Any) -> None:
    """The file with other settings, under a right checksum."""
    length = int.from_bytes(content[16:24], "little")
    header = json.loads(content[24 : 24 + length])
    header["settings"] |= changes
    text = json.dumps(header).encode()
    signed = MAGIC + len(text).to_bytes(8, "little") + text + content[24 + length : -32]
    path.write_bytes(signed + hashlib.sha256(signed).digest())


@pytest.mark.parametrize("changes", [{"half_life": 5.0}, {"window": 5}, {"dtype": "float32"}, {"n_features": 6000}])
def test_settings_that_do_not_fit_the_arrays_are_refused_before_room_is_made(changes: Any, tmp_path: Path) -> None:
    """Each of these asks for some 288 MB, and the file has 48 kB or less."""
    path, d = tmp_path / "agent", 6000 if "n_features" not in changes else 3
    LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=1, n_features=d, memory=0).save(path)
    signed_anew(path.read_bytes(), path, **changes)
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match="is damaged: its parts do not fit together"):
            armspan.load_agent(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux how much memory is used")
def test_room_for_what_is_not_yet_learnt_costs_nothing(tmp_path: Path) -> None:
    """A fresh agent of 6,000 features has a file of 100 kB, and room for 288 MB that nobody has used."""
    path = tmp_path / "agent"
    LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=1, n_features=6000, memory=0).save(path)
    assert path.stat().st_size < 100_000

    def used() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = used()
    agent = armspan.load_agent(path)
    assert used() - before < 50_000_000
    x = np.ones(6000)
    agent.update(agent.choose(x), x, 1.0)
    assert agent.rewards == 1


def test_an_agent_that_may_remember_much_and_has_seen_little_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    agent = LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=3, n_features=9, memory=100_000)
    live(agent, 20, seed=0)
    agent.save(path)
    assert path.stat().st_size < 20_000
    x = np.ones(9)
    assert str(armspan.load_agent(path).explain(x, 0)) == str(agent.explain(x, 0))


def test_a_file_without_end_is_no_agent() -> None:
    with pytest.raises(BadFile, match="/dev/zero is not an armspan agent"):
        armspan.load_agent("/dev/zero")


FORKER = """
import os, random, signal, sys, time
import numpy as np
import armspan
path, times = sys.argv[1], int(sys.argv[2])
agent = armspan.LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=3, n_features=40)
for i in range(300):
    agent.update(i % 3, np.ones(40) * (i % 7), 1.0)
agent.save(path)
for _ in range(times):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        while True:
            agent.update(0, np.ones(40), 1.0)
            agent.save(path)
            os.write(write, b"%12d" % agent.rewards)
    time.sleep(random.uniform(0.002, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(write)
    said = b""
    while chunk := os.read(read, 1 << 16):
        said += chunk
    os.close(read)
    print(int(said[-12:]) if said else 0, flush=True)
    sys.stdin.readline()  # the parent looks at the file meanwhile
"""


def test_a_kill_while_saving_loses_nothing(tmp_path: Path) -> None:
    """Killed 200 times at any moment: the file is whole, and holds what was last said to be saved, or the next."""
    path, kills = tmp_path / "agent", 0
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", FORKER, str(path), "200"], **pipes) as process:
        for line in process.stdout or ():
            agent = armspan.load_agent(path)
            assert agent.rewards >= int(line)
            assert sum(agent.statistics(arm).pulls for arm in agent.arms) == agent.rewards
            kills += 1
            print(file=process.stdin, flush=True)
    assert kills == 200
    assert {entry.suffix for entry in tmp_path.iterdir()} <= {"", ".part"}
    agent.save(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("pulls", [2, 30])
def test_numbers_that_nobody_could_have_learnt_are_refused(pulls: int) -> None:
    """Whether an arm has rows or matrices: their squares would be no numbers."""
    agent = LinUCBd(feature_bound=4.0, parameter_bound=1.0).agent(n_arms=2, n_features=12, seed=0)
    for step in range(pulls):
        agent.update(1, np.eye(12)[step % 12], 1.0)
    assert (agent._state.arms[1, layout.MODE] >= 0) == (pulls == 2)
    assert armspan.Agent.from_bytes(agent.to_bytes()).rewards == pulls
    agent._state.store[1, 13] = 1e170 if pulls == 2 else 1e210
    with pytest.raises(BadFile):
        armspan.Agent.from_bytes(agent.to_bytes())
