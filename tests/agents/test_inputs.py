"""What users give: frames of every numeric type, masked arrays, names that are kept only of good input."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from armspan import EXP4, KernelUCB, LinTS, LinUCB
from armspan.agents import Agent
from armspan.environments import FiniteContexts
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
    [
        ["x", "y", "z"],
        ["1", "2", "3"],
        pd.to_datetime(["2020-01-01"] * 3),
        pd.to_timedelta([1, 2, 3], unit="s"),
        pd.Series([1, None, 3], dtype=object),
        pd.Series([1, pd.NA, 3], dtype=object),
        [1j, 2j, 3j],
    ],
)
def test_what_is_not_a_number_is_refused_by_its_column(column: Any) -> None:
    frame, agent = pd.DataFrame({"a": [0.5, 0.25, 0.0], "b": column}), fresh()
    with pytest.raises(InvalidParameter, match="'b'"):
        agent.update([0, 1, 0], frame, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidParameter, match="'b'"):
        agent.choose(frame.iloc[1])
    assert (agent.rewards, agent.feature_names) == (0, None)


@pytest.mark.parametrize("named", [{}, {"feature_names": ["device", "age"]}])
def test_a_feature_that_is_not_a_number_is_named(named: dict[str, Any]) -> None:
    agent = fresh(**named)
    for given in ({"age": 0.3, "device": "phone"}, pd.Series({"age": 0.3, "device": "phone"})):
        with pytest.raises(InvalidParameter) as error:
            agent.choose(given)
        assert str(error.value) == (
            "x must have a number for feature 'device', got 'phone'; turn words into one column of 0 and 1 per category"
        )
    for value in (None, 10**400, 1j):
        with pytest.raises(InvalidParameter, match="x must have a number for feature 'device', got "):
            agent.choose({"age": 0.3, "device": value})
    agent.choose({"age": 0.3, "device": True})


@pytest.mark.parametrize(
    "row", [pd.Series([0.5, pd.NA], dtype="Float64"), pd.Series([0.5, pd.NA]), pd.Series([0.5, 1j])]
)
def test_a_row_without_a_number_for_a_feature_is_refused_by_its_name(row: Any) -> None:
    agent = fresh()
    with pytest.raises(InvalidParameter, match="x must have a number for feature 'b', got "):
        agent.choose(row.set_axis(["a", "b"]))
    with pytest.raises(InvalidParameter, match="x must have a number for feature 'a', got "):
        agent.choose(pd.Series([0.1, 0.2], index=["a", "a"], dtype="Float64"))
    agent.choose(pd.Series([0.1, 0.2], index=["a", "b"], dtype="Float64"))


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


AGENTS: dict[str, Callable[[], Any]] = {
    "tuned": fresh,
    "single": lambda: fresh(dtype="float32"),
    "LinTS": lambda: LinTS().agent(2, 2),
    "KernelUCB": lambda: KernelUCB(eta=1.0).agent(2, 2),
}
MASKED = np.ma.MaskedArray([0.1, 99.0], mask=[False, True])
ARMS = np.ma.MaskedArray([0, 1], mask=[False, True])


@pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS.keys())
@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda agent: agent.update([0], [MASKED], [1.0]), r"X .* at \[0, 1\]"),
        (lambda agent: agent.update([0, 1], [[0.1, 0.2]] * 2, [1.0, np.ma.masked]), r"reward .* at \[1\]"),
        (lambda agent: agent.update(0, np.zeros(2), np.ma.masked), "reward "),
        (lambda agent: agent.update(0, np.zeros(2), np.ma.MaskedArray(1.0, mask=True)), "reward "),
        (lambda agent: agent.update(ARMS, np.ones((2, 2)), [1, 1]), r"arm .* at \[1\]"),
        (lambda agent: agent.choose([MASKED, MASKED]), r"x .* at \[0, 1\]"),
        (lambda agent: agent.choose([0.1, np.ma.masked]), r"x .* at \[1\]"),
        (lambda agent: agent.choose({"a": np.ma.masked, "b": 0.1}), r"x .* at \[0\]"),
        (lambda agent: agent.scores((np.zeros(2), MASKED)), r"x .* at \[1, 1\]"),
        (lambda agent: agent.choose_many([MASKED]), r"X .* at \[0, 1\]"),
        (lambda agent: agent.scores_many([[[0.1, 0.2], MASKED]]), r"X .* at \[0, 1, 1\]"),
    ],
)
def test_masked_entries_in_lists_are_refused_by_position(
    make: Callable[[], Any], call: Callable[[Any], Any], where: str
) -> None:
    agent = make()
    with pytest.raises(InvalidParameter, match=f"^{where}".replace(".*", "must have no masked entries, got one")):
        call(agent)
    assert (agent.rewards, agent.decisions, agent.feature_names) == (0, 0, None)


def test_lists_of_masked_arrays_without_masked_entries_are_read() -> None:
    whole = np.ma.MaskedArray([0.1, 0.2])
    for agent in (make() for make in AGENTS.values()):
        agent.update([0, 1], [whole, [0.3, 0.4]], np.ma.MaskedArray([1.0, 0.5]))
        agent.update(0, np.array([0.1, 0.2]), np.ma.MaskedArray(1.0))
        agent.choose((whole, whole))
        assert agent.rewards == 3


def test_environments_refuse_masked_entries_in_lists() -> None:
    with pytest.raises(InvalidParameter, match=r"features must have no masked entries, got one at \[0, 0, 1\]"):
        FiniteContexts([[MASKED], [MASKED]], [[0.1, 0.2], [0.2, 0.1]])


@pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS.keys())
@pytest.mark.parametrize("kind", [">f8", ">f4", "<f2", ">i4", np.longdouble, np.float64])
def test_arrays_of_any_numbers_are_read(make: Callable[[], Any], kind: Any) -> None:
    one, other, x = make(), make(), np.array([1.0, 2.0])
    for agent, given in ((one, x.astype(kind)), (other, x.tolist())):
        agent.update(0, given, np.array([1.0], dtype=kind)[0])
        agent.update([1], given[None] if isinstance(given, np.ndarray) else [given], [2.0])
    assert one.choose(x.astype(kind)) == other.choose(x.tolist())
    np.testing.assert_array_equal(one.scores(x.astype(kind)).index, other.scores(x).index)


def askew(x: Any) -> Any:
    """The same numbers one byte beside where processors expect them."""
    return np.frombuffer(b"." + x.tobytes(), dtype=x.dtype, offset=1).reshape(x.shape)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "every other one": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    "column by column": np.asfortranarray,
    "part of a wider table": lambda x: np.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 2)])[..., 1:-2],
    "askew": askew,
    "bytes the other way round": lambda x: x.astype(">f8"),
    "not to be written": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "broadcast": lambda x: np.broadcast_to(x, (5, *x.shape))[3],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (1,), (2, 1)])
def test_contexts_of_any_layout_are_the_same_contexts(
    layout: Callable[[Any], Any], dtype: str, shape: tuple[int, ...]
) -> None:
    """Compiled code looks at memory alone, so that every way in which numbers may lie there is tried."""
    one, other = fresh(shape[-1], dtype=dtype), fresh(shape[-1], dtype=dtype)
    for seed in range(6):
        x = np.random.default_rng(seed).uniform(-0.5, 0.5, shape)
        assert one.choose(x) == other.choose(layout(x))
        one.update(seed % 2, x, 0.5 * seed)
        other.update(seed % 2, layout(x), np.float64(0.5 * seed))
        np.testing.assert_array_equal(one.scores(x).index, other.scores(x).index)


@pytest.mark.parametrize("shape", [(), (4,), (3, 3), (2, 2, 3), (0,), (0, 3), (1,) * 64])
def test_contexts_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    agent = fresh(3)
    for x in (np.ones(3), np.ones((2, 3))):  # now both are compiled
        agent.update(agent.choose(x), x, 1.0)
    with pytest.raises(InvalidParameter, match="x must"):
        agent.choose(np.ones(shape))
    with pytest.raises(InvalidParameter):
        agent.update(0, np.ones(shape), 1.0)
    assert agent.rewards == 2


@pytest.mark.parametrize("reward", ["1.0", b"1", None, 1j, 10**400, [1.0, 2.0], np.str_("1")])
def test_rewards_that_are_no_numbers_are_refused(reward: Any) -> None:
    """Though Python would make numbers of some."""
    agent = fresh()
    agent.update(0, np.ones(2), 1.0)
    with pytest.raises(InvalidParameter):
        agent.update(0, np.ones(2), reward)
    assert agent.rewards == 1


def test_numbers_that_are_too_large_for_doubles_are_refused() -> None:
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(InvalidParameter, match=r"x must be finite, got inf at \[0\]"):
            fresh().choose(np.array([np.finfo(np.longdouble).max, 1.0]))


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


REFUSED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "choose": lambda agent, row, _: agent.choose(row, only=["z"]),
    "decide": lambda agent, row, _: agent.decide(row, only=["z"]),
    "propensities": lambda agent, row, _: agent.propensities(row, only=["z"]),
    "exploration": lambda agent, row, _: agent.exploration(row, only=["z"]),
    "choose_many": lambda agent, _, frame: agent.choose_many(frame, only=["z"]),
    "decide_many": lambda agent, _, frame: agent.decide_many(frame, only=["z"]),
    "update": lambda agent, row, _: agent.update("z", row, 1.0),
}
ASKED = {**AGENTS, "EXP4": lambda: EXP4(experts=[0, 1], gamma=0.1).agent(2, 2)}


@pytest.mark.parametrize("make", ASKED.values(), ids=ASKED.keys())
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_refused_questions_pin_no_names(make: Callable[[], Any], call: Callable[[Any, Any, Any], Any]) -> None:
    agent, frame = make(), pd.DataFrame({"foo": [1.0, 0.2], "bar": [0.1, 0.3]})
    with pytest.raises(InvalidParameter):
        call(agent, frame.iloc[0], frame)
    assert (agent.feature_names, agent.decisions) == (None, 0)
    agent.choose({"a": 0.1, "b": 0.2})
    assert agent.feature_names == ("a", "b")


def test_more_top_arms_than_there_are_pin_no_names_and_ask_for_no_arm() -> None:
    agent = LinUCB(ridge=1.0, alpha="practical", feature_bound=9.0).agent(2, 2)
    for _ in range(2):
        with pytest.raises(InvalidParameter, match="n must be an integer from 1 to 2, got 99"):
            agent.top(pd.Series({"foo": 1.0, "bar": 0.1}), 99)
    assert agent.feature_names is None
    assert sorted(agent.choose({"a": 1.0, "b": 0.1}) for _ in range(2)) == [0, 1]


def test_questions_beyond_the_last_alpha_pin_no_names() -> None:
    agent = LinUCB(ridge=1.0, alpha=[0.5, 0.4]).agent(2, 2)
    frame = pd.DataFrame({"foo": [1.0, 0.2, 0.3], "bar": [0.1, 0.3, 0.4]})
    with pytest.raises(InvalidParameter, match="alpha"):
        agent.decide_many(frame)
    assert agent.feature_names is None
    agent.choose_many(np.ones((2, 2)))
    with pytest.raises(InvalidParameter, match="alpha"):
        agent.scores(frame.iloc[0])
    with pytest.raises(InvalidParameter, match="alpha"):
        agent.scores_many(frame)
    assert agent.feature_names is None


def test_a_refused_question_does_not_say_how_contexts_look() -> None:
    agent = EXP4(experts=[0, 1], gamma=0.1).agent(2, 2)
    with pytest.raises(InvalidParameter):
        agent.decide(np.ones((2, 2)), only=["z"])
    agent.update(0, np.ones(2), 1.0)
    assert agent.rewards == 1


def test_statistics_of_single_precision_are_a_prior() -> None:
    for seed in range(12):  # without what mended it, two of three were refused
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


@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}, {"window": 9}, {"epsilon": 0.2}, {"intercept": True}])
def test_contexts_that_are_too_long_are_logged_once_and_counted(
    options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    agent = fresh(**options)
    agent.update(0, np.array([0.6, 0.8]), 1.0)
    agent.choose(np.array([0.6, 0.8]))
    assert (agent.too_long, caplog.messages) == (0, [])
    agent.choose(np.array([3.0, 4.0]))
    agent.update(0, np.array([3.0, 4.0]), 1.0)
    agent.update([0, 1] * 8, np.full((16, 2), 1.0), np.ones(16))
    assert agent.too_long == 18
    assert [("longer than feature_bound = 1: length 5" in words) for words in caplog.messages] == [True]
    assert agent.rewards == 18


def test_contexts_that_are_too_long_can_be_clipped_or_refused() -> None:
    clipped, short = fresh(long_contexts="clip"), fresh()
    for agent, x in ((clipped, [3.0, 4.0]), (short, [0.6, 0.8])):
        agent.update(0, np.array(x), 1.0)
        agent.update([0, 1] * 8, np.tile(x, (16, 1)), np.ones(16))
    np.testing.assert_allclose(clipped.statistics(0).gram, short.statistics(0).gram)
    np.testing.assert_allclose(clipped.scores([30.0, 40.0]).index, short.scores([0.6, 0.8]).index)
    strict = fresh(long_contexts="raise")
    for call in (
        lambda: strict.choose(np.array([3.0, 4.0])),
        lambda: strict.update(0, np.array([3.0, 4.0]), 1.0),
        lambda: strict.update([0, 1], [[0.1, 0.1], [3.0, 4.0]], [1.0, 1.0]),
    ):
        with pytest.raises(InvalidParameter, match="must be at most feature_bound = 1 long, got length 5"):
            call()
    assert strict.rewards == strict.decisions == 0
    with pytest.raises(InvalidParameter, match="long_contexts must be one of warn, clip, raise, got 'shorten'"):
        fresh(long_contexts="shorten")


def test_many_decisions_have_the_propensities_of_single_ones() -> None:
    rng = np.random.default_rng(0)
    agent = LinUCB(ridge=1.0, alpha=0.5, feature_bound=9.0).agent(arms=["a", "b", "c"], n_features=2, epsilon=0.3)
    agent.update(["a", "b", "c"] * 9, rng.normal(size=(27, 2)), rng.normal(size=27))
    X = rng.normal(size=(400, 2))
    wanted = [agent.propensities(x, only=["a", "c"]) for x in X]
    found = agent.decide_many(X, only=["a", "c"])
    assert set(found.arms) == {"a", "c"}
    np.testing.assert_allclose(
        found.propensities, [share[agent.arms.index(arm)] for arm, share in zip(found.arms, wanted, strict=True)]
    )
    assert agent.decisions == 400
    assert set(agent.choose_many(X, only=["b"])) == {"b"}
    likely = np.mean([arm == agent.arms[int(np.argmax(share))] for arm, share in zip(found.arms, wanted, strict=True)])
    assert 0.75 < likely < 0.95  # 0.85 in expectation; the bounds are more than 5 standard errors away


def test_the_top_arms_are_those_with_the_largest_index() -> None:
    rng = np.random.default_rng(1)
    agent = LinUCB(ridge=1.0, alpha=0.5, feature_bound=9.0).agent(6, 2)
    agent.update(np.arange(60) % 6, rng.normal(size=(60, 2)), rng.normal(size=60))
    index = agent.scores([0.3, -0.4]).index
    assert agent.top([0.3, -0.4], 3) == np.argsort(-index)[:3].tolist()
    assert agent.top([0.3, -0.4], 2, only=[1, 2, 5]) == sorted([1, 2, 5], key=lambda k: -index[k])[:2]
    assert agent.decisions == 2
    with pytest.raises(InvalidParameter, match="n must be an integer from 1 to 3, got 4"):
        agent.top([0.3, -0.4], 4, only=[1, 2, 5])
    assert len({tuple(fresh(seed=seed).top([0.1, 0.1], 2)) for seed in range(20)}) == 2  # ties in any order


def test_explanations_of_a_batch_remember_contexts_that_recur() -> None:
    rng, contexts = np.random.default_rng(2), np.array([[0.6, 0.3], [0.1, 0.9], [0.5, 0.5], [0.2, 0.7]])
    together, single = fresh(), fresh()
    rows, arms, rewards = contexts[np.arange(4000) % 4], rng.integers(2, size=4000), rng.normal(size=4000)
    together.update(arms, rows, rewards)
    for arm, x, reward in zip(arms, rows, rewards, strict=True):
        single.update(int(arm), x, float(reward))
    for arm in (0, 1):
        one, other = together.explain(contexts[0], arm), single.explain(contexts[0], arm)
        assert one.other_mean == other.other_mean == 0
        assert sorted(row.pulls for row in one.evidence) == sorted(row.pulls for row in other.evidence)
        np.testing.assert_allclose(
            sorted(row.mean_part for row in one.evidence), sorted(row.mean_part for row in other.evidence)
        )


def test_an_alpha_for_every_step_of_a_window_is_enough_for_many_contexts() -> None:
    agent = LinUCB(ridge=1.0, alpha=[float(t) for t in range(1, 11)], feature_bound=9.0).agent(2, 2, window=10)
    for _ in range(7):
        agent.update(0, [0.1, 0.2], 1.0)
    scores = agent.scores_many(np.full((6, 2), 0.5))
    np.testing.assert_allclose((scores.index - scores.mean) / scores.width, 8.0)  # each as if it came next
    assert len(agent.choose_many(np.full((30, 2), 0.5))) == 30


def test_a_name_that_changes_the_context_while_it_is_looked_up_is_seen() -> None:
    """Its hash is Python code, and other threads may run then; compiled code would read beyond the array."""
    agent, x = LinUCB(alpha=1.0, feature_bound=9.0).agent(arms=["a", "b"], n_features=2), np.ones(2000)

    class Name:
        def __hash__(self) -> int:
            x.shape = (1,) * 60 + (1000, 2)
            return hash("a")

        def __eq__(self, other: object) -> bool:
            return other == "a"

    for _ in range(2):
        agent.update("a", np.ones(2), 1.0)
    with pytest.raises(InvalidParameter, match="x must"):
        agent.update(Name(), x, 1.0)
    assert agent.rewards == 2


@pytest.mark.parametrize("other", [[np.nan, 1.0], [np.inf, 0.0], [1e300, 0.0]])
@pytest.mark.parametrize("options", [{}, {"intercept": True}, {"dtype": "float32"}])
def test_a_context_with_a_bad_row_for_another_arm_is_refused_every_time(other: list[float], options: Any) -> None:
    agent = fresh(**options)
    for _ in range(3):
        agent.update(0, np.ones((2, 2)) / 2, 1.0)
        with pytest.raises(InvalidParameter):
            agent.update(0, np.array([[0.5, 0.5], other]), 1.0)
    assert agent.rewards == 3


@pytest.mark.parametrize("times", [1, 3])
def test_another_arms_row_that_is_too_long_is_told_or_refused(times: int) -> None:
    x = np.array([[0.5, 0.5], [9.0, 1.0]])
    told, strict = (LinUCB(alpha=1.0, feature_bound=3.0).agent(2, 2, long_contexts=how) for how in ("warn", "raise"))
    for agent in (told, strict):
        agent.update(0, x / 10, 1.0)
    for number in range(times):
        told.update(0, x, 1.0)
        assert told.too_long == number + 1
        with pytest.raises(InvalidParameter, match="feature_bound"):
            strict.update(0, x, 1.0)
    assert (told.rewards, strict.rewards) == (1 + times, 1)


def test_names_that_compare_as_arrays_are_names() -> None:
    """np.int64(7) == (1, 2) is an array."""
    seven = np.int64(7)
    agent = LinUCB(alpha=1.0, feature_bound=9.0).agent(arms=[seven, (1, 2)], n_features=2, window=2)
    for arm in [(1, 2), (1, 2), seven, seven]:
        agent.update(arm, np.ones(2), 1.0)
    assert [agent.statistics(arm).pulls for arm in agent.arms] == [2, 0]
    agent.remove_arm(seven)
    other = LinUCB(alpha=1.0, feature_bound=9.0).agent(arms=[seven, (1, 2)], n_features=2)
    other.update((1, 2), np.ones(2), 1.0)
    other = other.copy()
    other.remove_arm(seven)
    assert other.arms == ((1, 2),)
