"""Other packages beside armspan: all meet what a simulation meets, and what was found is read back and said."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.peers import arena, packages
from benchmarks.peers.race import Course, race

from armspan.environments import paper_1b
from armspan.errors import BadFile
from armspan.policies import LinUCB
from armspan.report import peers
from armspan.simulation import simulate


def test_a_race_has_the_contexts_and_the_noise_of_a_simulation(tmp_path: Path) -> None:
    env = paper_1b()
    policy = LinUCB(alpha=1.0, feature_bound=env.feature_bound)
    arena.course(env, 300, 3).save(tmp_path / "1b.npz")
    found = race(partial(arena.enter, policy), Course.load(tmp_path / "1b.npz"))
    result = simulate(env, policy, horizon=300, runs=3, seed=arena.SEED, engine="cpu")
    np.testing.assert_allclose(found["regret"], result.pseudo_regret[0, :, -1])
    assert found["microseconds"] > 0


@pytest.fixture
def content(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is measured where no package can be installed, and then one row of another package."""

    def fails(*_: Any) -> None:
        raise packages.NotMeasured("could not be installed: no network")

    monkeypatch.setattr(packages.Peer, "install", fails)
    content = arena.measured(steps=40, runs=3)
    for bout in content["problems"].values():
        regret = [2 * own + 1 for own in bout["rows"][0]["regret"]]
        bout["rows"].append({"package": "other 1.0", "settings": "usual", "regret": regret, "microseconds": 7e3})
    return content


def test_what_was_measured_is_shown(content: Any, tmp_path: Path) -> None:
    (tmp_path / peers.FILE).write_text(json.dumps(content), encoding="utf-8")
    found = peers.load(tmp_path)
    assert found is not None
    assert tuple(bout.key for bout in found.bouts) == arena.KEYS
    said = peers.text(found)
    assert said.count("other 1.0 loses more. A step takes them 7,000 µs") == 4
    assert "mabwiser 2.7.4 could not be installed: no network" in said
    html = "\n".join(peers.section(found))
    assert html.count("<table>") == 4
    assert "no network" not in html
    assert "mabwiser 2.7.4 could not be installed." in html
    assert set(peers.summary(found)) == set(arena.KEYS)


def test_nothing_is_shown_where_nothing_was_measured(tmp_path: Path) -> None:
    assert peers.load(tmp_path) is None


@pytest.mark.parametrize("damage", ["{", "[]", '{"format": "armspan peers"}', "null"])
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    (tmp_path / peers.FILE).write_text(damage)
    with pytest.raises(BadFile, match=r"peers\.json"):
        peers.load(tmp_path)
