"""What users give: frames of every numeric type, masked arrays, names that are kept only of good input."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from armspan import LinUCB
from armspan.agents import Agent
from armspan.errors import InvalidParameter


def fresh(d: int = 2, **options: Any) -> Agent:
    return LinUCB(ridge=1.0, alpha=0.5, feature_bound=1.0).agent(2, d, **options)


TYPES = {
    "bool": pd.Series([True, False, True]),
    "Int64": pd.Series([1, 0, 1], dtype="Int64"),
    "Float64": pd.Series([1.0, 0.0, 1.0], dtype="Float64"),
    "boolean": pd.Series([True, False, True], dtype="boolean"),
    "int8": pd.Series([1, 0, 1], dtype="int8"),
    "objects": pd.Series([1, 0.0, True], dtype=object),
}


@pytest.mark.parametrize("column", TYPES.values(), ids=TYPES.keys())
def test_frames_and_rows_of_any_numeric_type_are_read(column: Any) -> None:
    frame = pd.DataFrame({"a": [0.5, 0.25, 0.0], "b": column})
    plain = np.array([[0.5, 1.0], [0.25, 0.0], [0.0, 1.0]])
    one, other = fresh(), fresh()
    one.update([0, 1, 0], frame, [1.0, 2.0, 3.0])
    other.update([0, 1, 0], plain, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(one.scores_many(frame).index, other.scores_many(plain).index)
    np.testing.assert_array_equal(one.scores(frame.iloc[1]).index, other.scores(plain[1]).index)
    one.update(1, frame.iloc[0], 1.0)
    assert one.feature_names == ("a", "b")


@pytest.mark.parametrize(
    "column",
    [["x", "y", "z"], ["1", "2", "3"], pd.to_datetime(["2020-01-01"] * 3), pd.Series([1, None, 3], dtype=object)],
)
def test_what_is_not_a_number_is_refused_by_its_column(column: Any) -> None:
    frame, agent = pd.DataFrame({"a": [0.5, 0.25, 0.0], "b": column}), fresh()
    with pytest.raises(InvalidParameter, match="'b'"):
        agent.update([0, 1, 0], frame, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidParameter, match="'b'"):
        agent.choose(frame.iloc[1])
    assert (agent.rewards, agent.feature_names) == (0, None)


def test_a_missing_number_is_refused() -> None:
    frame = pd.DataFrame({"a": [0.5, 0.25], "b": pd.Series([1, None], dtype="Int64")})
    with pytest.raises(InvalidParameter, match="finite"):
        fresh().update([0, 1], frame, [1.0, 2.0])


def test_masked_entries_are_refused_by_position() -> None:
    agent, X = fresh(), np.ma.MaskedArray([[0.1, 0.2], [99.0, 0.3]], mask=[[False, False], [True, False]])
    with pytest.raises(InvalidParameter, match=r"X must have no masked entries, got one at \[1, 0\]"):
        agent.update([0, 1], X, [1.0, 1.0])
    with pytest.raises(InvalidParameter, match=r"x must have no masked entries, got one at \[0\]"):
        agent.choose(X[1])
    with pytest.raises(InvalidParameter, match=r"reward must have no masked entries"):
        agent.update([0, 1], X.data, np.ma.MaskedArray([1.0, 99.0], mask=[False, True]))
    with pytest.raises(InvalidParameter, match="reward must have no masked entries"):
        agent.update(0, [0.1, 0.2], np.ma.masked)
    assert agent.rewards == 0
    agent.update([0, 1], np.ma.MaskedArray(X.data), [1.0, 1.0])  # nothing is masked
    assert agent.rewards == 2


def test_an_array_of_one_number_is_a_reward() -> None:
    agent = fresh()
    agent.update(0, np.array([0.1, 0.2]), np.array(1.0))
    assert agent.rewards == 1
    assert agent.statistics(0).moment.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("arm", "reward"), [("nobody", 1.0), (0, float("nan")), ([0, 9], [1.0, 1.0]), ([0, 1], [1.0, float("inf")])]
)
def test_refused_input_pins_no_names(arm: Any, reward: Any) -> None:
    agent = fresh()
    wrong = pd.DataFrame({"foo": [0.1, 0.2], "bar": [0.3, 0.4]})
    with pytest.raises(InvalidParameter):
        agent.update(arm, wrong if isinstance(arm, list) else wrong.iloc[0], reward)
    assert agent.feature_names is None
    agent.update(0, {"a": 0.1, "b": 0.2}, 1.0)
    assert agent.feature_names == ("a", "b")


def test_statistics_of_single_precision_are_a_prior() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        other = LinUCB(ridge=1.0, alpha=1.0, feature_bound=1.0).agent(1, 10, dtype="float32")
        other.update([0] * 400, rng.normal(size=(400, 2)) @ rng.normal(size=(2, 10)), rng.normal(size=400))
        agent = fresh(10)
        agent.add_arm("like theirs", prior=other.statistics(0))
        assert agent.statistics("like theirs").pulls == 400


@pytest.mark.parametrize("names", [[["a"], ["b"]], [{}, {}]])
def test_names_must_be_names(names: Any) -> None:
    with pytest.raises(InvalidParameter, match="feature_names must be hashable"):
        fresh(feature_names=names)


def test_more_arms_than_fit_into_memory_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="n_arms must be an integer from 1 to"):
        LinUCB(ridge=1.0, alpha=0.5, feature_bound=1.0).agent(10**12, 2)
