"""Sweeps in a file: grids in tables, in TOML and JSON, and what is refused."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from armspan.errors import ArmspanError
from armspan.experiments.sweep_spec import load_sweep, parse_sweep
from armspan.policies import Greedy, LinUCB

ROOT = Path(__file__).parents[2]
GOOD: dict[str, Any] = {
    "horizon": 50,
    "environments": [{"kind": "diversity_dial", "level": {"grid": [0.1, 0.2]}}, {"kind": "paper_1a"}],
    "policies": [
        {"kind": "LinUCB", "alpha": {"grid": [0.5, 1.0]}, "ridge": {"grid": [1, 2]}, "label": "bold"},
        {"kind": "Greedy", "label": "believer"},
    ],
}


def test_every_combination_has_a_name_and_its_parameters(tmp_path: Path) -> None:
    spec = parse_sweep(GOOD)
    assert list(spec.environments) == ["diversity_dial(level=0.1)", "diversity_dial(level=0.2)", "paper 1a"]
    assert spec.environments.parameters["diversity_dial(level=0.2)"] == {"level": 0.2}
    assert len(spec.policies) == 5
    assert spec.policies["bold(alpha=0.5, ridge=2)"] == LinUCB(alpha=0.5, ridge=2)
    assert spec.policies["believer"] == Greedy()
    assert (spec.name, spec.horizon, spec.runs, spec.seed) == ("sweep", 50, 100, 0)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(GOOD))
    loaded = load_sweep(path)
    assert (loaded.name, loaded.policies) == ("mine", spec.policies)


def test_the_example_is_one() -> None:
    assert len(load_sweep(ROOT / "examples" / "dial.toml").environments) == 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"environment": 1}, "the sweep has an unknown key 'environment'; known are horizon, environments, policies"),
        ({"horizon": 0}, "horizon must be an integer >= 1, got 0"),
        ({"environments": {"kind": "paper_1a"}}, "environments must be one or more [[environments]] tables"),
        ({"policies": []}, "policies must be one or more [[policies]] tables"),
        ({"environments": [{"kind": "casino"}]}, "environment 1 kind must be one of finite"),
        ({"environments": [{"kind": "diversity_dial", "level": {"grid": []}}]}, "level of environment 1 must have a"),
        ({"environments": [{"kind": "diversity_dial", "level": {"grid": 3}}]}, "level of environment 1 must have a"),
        ({"environments": [{"kind": "paper_1a"}, {"kind": "paper_1a"}]}, "environment 2 must have a name of its own"),
        ({"policies": [{"kind": "Greedy", "alpha": {"grid": [1]}}]}, "policy 1, Greedy, has an unknown key 'alpha'"),
        ({"policies": [{"kind": "Greedy", "label": 3}]}, "label of policy 1 must be text, got 3"),
        ({"policies": [{"kind": "Greedy", "label": ""}]}, "label of policy 1 must not be blank, got ''"),
        ({"environments": [{"kind": "paper_1a", "label": ""}]}, "label of environment 1 must not be blank"),
        ({"policies": [{"kind": {"grid": ["Greedy", "LinUCBx"]}}]}, "kind of policy 1 must be one of "),
    ],
)
def test_bad_sweeps(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArmspanError) as caught:
        parse_sweep(copy.deepcopy(GOOD) | change)
    assert str(caught.value).startswith(sentence)


def test_files_that_are_no_json(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text("{")
    with pytest.raises(ArmspanError, match=r"spec.json is not valid JSON"):
        load_sweep(path)
    path.write_text("[1]")
    with pytest.raises(ArmspanError, match=r"spec.json must hold an object, got list"):
        load_sweep(path)
