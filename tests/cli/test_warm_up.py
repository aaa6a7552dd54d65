"""armspan warm-up says what it compiled, how long that took, and where it is."""

import json

import pytest

from armspan.cli.main import main
from armspan.kernels import _compile
from armspan.kernels._compile import Compiled
from armspan.simulation import warm_up


def pretend(monkeypatch: pytest.MonkeyPatch, folder: str | None = "/cache") -> None:
    done = warm_up.WarmUp((Compiled("agent.choose", 3.26), Compiled("agent.learn", 2.0)), 5.31, folder)
    monkeypatch.setattr(warm_up, "warm_up", lambda progress: done)


def test_it_prints_kernels_seconds_and_the_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch)
    assert main(["warm-up"]) == 0
    _, first, second, total, cache = capsys.readouterr().out.splitlines()
    assert first.split() == ["agent.choose", "3.3"]
    assert second.split() == ["agent.learn", "2.0"]
    assert total == "2 kernels compiled in 5.3 s"
    assert cache == "cache: /cache"


def test_without_a_folder_an_image_build_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch, folder=None)
    assert main(["warm-up"]) == 1
    assert "no folder can be written" in capsys.readouterr().out


def test_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"compiled", "seconds", "folder"}
    assert told["folder"] == _compile._FOLDER
