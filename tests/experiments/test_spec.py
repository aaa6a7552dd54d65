"""Spec files: every key known or refused in a sentence, and the example in the repo runs."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armspan.environments import BoxContexts, FiniteContexts, Gaussian, MarkovContexts, Rademacher
from armspan.errors import ArmspanError
from armspan.experiments.spec import ENVIRONMENTS, load_spec, parse_spec
from armspan.policies import POLICIES, ContextUCB, Greedy, LinTS, LinUCB, LinUCBd

ROOT = Path(__file__).parents[2]
TABLE = {"features": [[[1.0], [2.0]], [[2.0], [1.0]]], "theta": [[1.0], [1.0]]}
GOOD: dict[str, Any] = {
    "horizon": 10,
    "environment": {"kind": "finite", **TABLE},
    "policies": [{"kind": "LinUCBd"}],
}


def test_the_example_in_the_repo() -> None:
    spec = load_spec(ROOT / "examples" / "offers.toml")
    assert isinstance(spec.env, FiniteContexts)
    assert spec.env.noise == Rademacher(0.5)
    assert [policy.name for policy in spec.policies] == ["LinUCB-d", "LinUCB, constant α", "greedy"]
    assert (spec.horizon, spec.runs, spec.seed) == (100_000, 50, 0)


def test_every_kind_of_environment() -> None:
    entries: dict[str, dict[str, Any]] = {
        "finite": {**TABLE, "probabilities": [0.5, 0.5], "noise": 2},
        "markov": {**TABLE, "transition": [[0.5, 0.5], [0.5, 0.5]], "noise": {"kind": "gaussian", "scale": 0.5}},
        "box": {"theta": [[1.0], [2.0]], "low": -1, "high": [1.0], "gap": 0.1},
        "paper_1a": {},
        "paper_1b": {},
        "paper_1c": {"seed": 4},
        "diversity_dial": {"level": 0.5},
    }
    assert set(entries) == set(ENVIRONMENTS)
    made = {kind: parse_spec(GOOD | {"environment": {"kind": kind, **entry}}).env for kind, entry in entries.items()}
    assert isinstance(made["markov"], MarkovContexts)
    assert made["markov"].noise == Gaussian(0.5)
    assert isinstance(made["box"], BoxContexts)
    assert made["paper_1c"].name == "paper 1c, seed 4"


def test_every_kind_of_policy() -> None:
    entries = [
        {"kind": "LinUCBd", "feature_bound": 1.0, "parameter_bound": 2.0, "noise_scale": 0.5},
        {"kind": "LinUCB", "ridge": 0.1, "alpha": [1.0, 0.5], "label": "fading"},
        {"kind": "Greedy", "feature_bound": 3},
        {"kind": "ContextUCB", "alpha": 0.3},
        {"kind": "LinTS", "scale": 0.5, "ridge": 2},
    ]
    others = [kind for kind in POLICIES if kind not in {entry["kind"] for entry in entries}]
    entries += [{"kind": kind} for kind in others]
    assert parse_spec(GOOD | {"policies": entries}).policies == (
        LinUCBd(feature_bound=1.0, parameter_bound=2.0, noise_scale=0.5),
        LinUCB(ridge=0.1, alpha=[1.0, 0.5], label="fading"),
        Greedy(feature_bound=3),
        ContextUCB(alpha=0.3),
        LinTS(scale=0.5, ridge=2),
        *(POLICIES[kind]() for kind in others),
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"horizons": 5}, "the spec has an unknown key 'horizons'; known are horizon, environment, policies, name"),
        ({"horizon": None}, "the spec lacks the key 'horizon'"),
        ({"horizon": 0}, "horizon must be an integer >= 1, got 0"),
        ({"runs": "many"}, "runs must be an integer >= 1, got 'many'"),
        ({"environment": 3}, "environment must be a table with a kind: finite, markov"),
        ({"environment": {"kind": "casino"}}, "environment kind must be one of finite, markov"),
        ({"environment": {"kind": "paper_1a", "noise": 2}}, "environment paper_1a has an unknown key 'noise'"),
        ({"environment": {"kind": "box"}}, "environment box lacks the key 'theta'"),
        ({"environment": {"kind": "finite", **TABLE, "noise": {"kind": "pink"}}}, "noise kind must be one of gaussian"),
        ({"environment": {"kind": "finite", **TABLE, "noise": {"scale": 1}}}, "noise lacks the key 'kind'"),
        ({"name": 3}, "name must be text, got 3"),
        ({"name": ""}, "name must not be blank, got ''"),
        ({"policies": [{"kind": "Greedy", "label": " "}]}, "label of policy 1 must not be blank, got ' '"),
        ({"policies": []}, "policies must be one or more [[policies]] tables"),
        ({"policies": [{"kind": "LinUCBd"}, {}]}, "policy 2 must have a kind: "),
        ({"policies": [{"kind": "UCB0"}]}, "kind of policy 1 must be one of "),
        ({"policies": [{"kind": "Greedy", "alpha": 1}]}, "policy 1, Greedy, has an unknown key 'alpha'"),
    ],
)
def test_bad_specs(change: dict[str, Any], sentence: str) -> None:
    content = copy.deepcopy(GOOD) | change
    content = {key: value for key, value in content.items() if value is not None}
    with pytest.raises(ArmspanError) as caught:
        parse_spec(content)
    assert str(caught.value).startswith(sentence)


def test_files_that_are_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    with pytest.raises(ArmspanError, match=r"cannot read .*spec.toml: No such file"):
        load_spec(path)
    path.write_text("horizon = = 5")
    with pytest.raises(ArmspanError, match=r"spec.toml is not valid TOML"):
        load_spec(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ArmspanError, match=r"spec.toml is not valid TOML"):
        load_spec(path)


@pytest.mark.parametrize("kind", ["toml", "json"])
def test_a_mark_in_front_of_a_file_does_not_count(kind: str, tmp_path: Path) -> None:
    """Some editors put a byte order mark there."""
    path = tmp_path / f"spec.{kind}"
    toml = 'horizon = 7\nenvironment.kind = "paper_1a"\npolicies = [{kind = "Greedy"}]\n'
    json = '{"horizon": 7, "environment": {"kind": "paper_1a"}, "policies": [{"kind": "Greedy"}]}'
    path.write_text(toml if kind == "toml" else json, encoding="utf-8-sig")
    assert load_spec(path).horizon == 7


def test_alpha_in_a_file_is_an_array_over_t() -> None:
    policy = parse_spec(GOOD | {"policies": [{"kind": "LinUCB", "alpha": [2.0] * 10}]}).policies[0]
    assert isinstance(policy, LinUCB)
    np.testing.assert_array_equal(policy.schedule(parse_spec(GOOD).env)(np.arange(1, 11)), 2.0)
