"""An experiment described in a TOML or JSON file: environment, policies and size. Unknown keys are refused."""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

from armspan import _validate
from armspan.environments import (
    Bernoulli,
    BoxContexts,
    Environment,
    FiniteContexts,
    Gaussian,
    MarkovContexts,
    Rademacher,
    diversity_dial,
    paper_1a,
    paper_1b,
    paper_1c,
)
from armspan.environments.noise import Noise
from armspan.errors import BadFile, InvalidParameter
from armspan.policies import POLICIES, Policy

Make = Callable[..., Environment]

ENVIRONMENTS: Mapping[str, tuple[Make, tuple[str, ...], tuple[str, ...]]] = {
    # kind: what makes it, the keys it needs, the keys it may have
    "finite": (FiniteContexts, ("features", "theta"), ("probabilities", "noise")),
    "markov": (MarkovContexts, ("features", "theta", "transition"), ("noise",)),
    "box": (BoxContexts, ("theta",), ("low", "high", "gap", "noise")),
    "paper_1a": (paper_1a, (), ()),
    "paper_1b": (paper_1b, (), ()),
    "paper_1c": (paper_1c, (), ("seed",)),
    "diversity_dial": (diversity_dial, ("level",), ()),
}
NOISES: Mapping[str, type[Noise]] = {"gaussian": Gaussian, "rademacher": Rademacher, "bernoulli": Bernoulli}


@dataclass(frozen=True)
class Spec:
    """A described experiment."""

    name: str
    env: Environment
    policies: tuple[Policy, ...]
    horizon: int
    runs: int
    seed: int


def load_spec(path: str | PathLike[str]) -> Spec:
    """Read a spec file; the docs' page “Experiments in a file” lists its keys."""
    return parse_spec(read_content(path), default_name=Path(path).stem)


def read_content(path: str | PathLike[str]) -> Mapping[str, Any]:
    """What a file holds: JSON if its name ends in .json, or else TOML."""
    is_json = Path(path).suffix == ".json"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # some editors put a mark in front
        content = json.loads(text) if is_json else tomllib.loads(text)
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # what both parsers and the decoder raise
        raise BadFile(f"{path} is not valid {'JSON' if is_json else 'TOML'}: {error}") from None
    if not isinstance(content, dict):
        raise BadFile(f"{path} must hold an object, got {type(content).__name__}")
    return content


def parse_spec(content: Mapping[str, Any], *, default_name: str = "experiment") -> Spec:
    """A spec from what a TOML file holds."""
    if "environments" in content and "environment" not in content:
        raise InvalidParameter("the spec has environments, not one environment, so it is for `armspan sweep`")
    check_keys("the spec", content, needs=("horizon", "environment", "policies"), may=("name", "runs", "seed"))
    policies = tables("policies", content["policies"])
    return Spec(
        name=text("name", content.get("name", default_name)),
        env=as_environment("environment", content["environment"]),
        policies=tuple(as_policy(f"policy {number}", entry) for number, entry in enumerate(policies, 1)),
        horizon=_validate.whole("horizon", content["horizon"], at_least=1),
        runs=_validate.whole("runs", content.get("runs", 100), at_least=1),
        seed=_validate.whole("seed", content.get("seed", 0), at_least=0),
    )


def text(key: str, value: Any) -> str:
    """A text that is not blank, or a refusal."""
    if not isinstance(value, str):
        raise InvalidParameter(f"{key} must be text, got {value!r:.60}")
    if not value.strip():
        raise InvalidParameter(f"{key} must not be blank, got {value!r:.60}")
    return value


def tables(key: str, value: Any) -> list[dict[str, Any]]:
    """A list of tables that is not empty."""
    if not isinstance(value, list) or not value or not all(isinstance(entry, dict) for entry in value):
        raise InvalidParameter(f"{key} must be one or more [[{key}]] tables")
    return value


def as_environment(where: str, entry: Any) -> Environment:
    """An environment from its table."""
    if not isinstance(entry, dict) or "kind" not in entry:
        raise InvalidParameter(f"{where} must be a table with a kind: {', '.join(ENVIRONMENTS)}")
    kind = _validate.one_of(f"{where} kind", entry["kind"], tuple(ENVIRONMENTS))
    make, needs, may = ENVIRONMENTS[kind]
    check_keys(f"{where} {kind}", entry, needs=("kind", *needs), may=may)
    options = {key: value for key, value in entry.items() if key != "kind"}
    if isinstance(options.get("noise"), dict):
        options["noise"] = _noise(options["noise"])
    return make(**options)


def _noise(entry: Mapping[str, Any]) -> Noise:
    if "kind" in entry:
        _validate.one_of("noise kind", entry["kind"], tuple(NOISES))
    noise = NOISES[entry.get("kind", "gaussian")]
    check_keys("noise", entry, needs=("kind",), may=() if noise.clicks else ("scale",))
    return noise(**{key: value for key, value in entry.items() if key != "kind"})


def as_policy(where: str, entry: Mapping[str, Any]) -> Policy:
    """A policy from its table."""
    if "kind" not in entry:
        raise InvalidParameter(f"{where} must have a kind: {', '.join(POLICIES)}")
    policy = POLICIES[_validate.one_of(f"kind of {where}", entry["kind"], tuple(POLICIES))]
    check_keys(f"{where}, {entry['kind']},", entry, needs=("kind",), may=tuple(field.name for field in fields(policy)))
    if "label" in entry:
        text(f"label of {where}", entry["label"])
    return policy(**{key: value for key, value in entry.items() if key != "kind"})


def check_keys(where: str, entry: Mapping[str, Any], *, needs: tuple[str, ...], may: tuple[str, ...]) -> None:
    """Refuse a key that is unknown, and the lack of one that is needed."""
    for key in entry:
        if key not in needs and key not in may:
            raise InvalidParameter(f"{where} has an unknown key {key!r}; known are {', '.join((*needs, *may))}")
    for key in needs:
        if key not in entry:
            raise InvalidParameter(f"{where} lacks the key {key!r}")
