"""The example server: what it answers, what it learns, and what it does while nobody waits."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.server import OVERDUE_AT_ONCE, Desk, application, new_agent, saving

import armspan
from tests.examples.client import Client, call
from tests.tolerance import assert_close

VISITOR = {"age": 0.3, "spending": -0.5}


class Watch:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def no_chore() -> None:
    """Nothing is to be done."""


@pytest.fixture
def desk() -> Desk:
    return Desk(new_agent(), clock=Watch(), patience=60.0)


@pytest.fixture
def client(desk: Desk) -> Client:
    return Client(application(desk, no_chore))


@pytest.fixture
def as_before() -> Iterator[None]:
    """A server that starts changes how soon threads give way, which other tests are not to notice."""
    interval = sys.getswitchinterval()
    yield
    sys.setswitchinterval(interval)


def decide(client: Client, **body: Any) -> Any:
    answer = client.post("/decisions", json={"features": VISITOR} | body)
    assert answer.status_code == 201
    return answer.json()


def give(client: Client, decision: str, reward: Any) -> Any:
    return client.post(f"/decisions/{decision}/reward", json={"reward": reward})


def test_rewards_come_late_and_in_another_order(desk: Desk, client: Client) -> None:
    """The agent knows exactly the sums of what the answers said."""
    rng = np.random.default_rng(0)
    visitors = rng.uniform(-0.8, 0.8, size=(40, 2))
    decisions = [decide(client, features=dict(zip(["age", "spending"], x, strict=True))) for x in visitors.tolist()]
    gram, moment = {arm: np.zeros((3, 3)) for arm in desk.agent.arms}, {arm: np.zeros(3) for arm in desk.agent.arms}
    for k in rng.permutation(40)[:30]:
        reward, x = float(k % 3), np.append(visitors[k], 1.0)
        assert give(client, decisions[k]["decision"], reward).status_code == 204
        gram[decisions[k]["arm"]] += np.outer(x, x)
        moment[decisions[k]["arm"]] += reward * x
    assert client.get("/status").json() == {"decisions": 40, "rewards": 30, "open": 10}
    for arm in desk.agent.arms:
        assert_close(desk.agent.statistics(arm).gram, gram[arm])
        assert_close(desk.agent.statistics(arm).moment, moment[arm])


def test_a_decision_has_one_reward(desk: Desk, client: Client) -> None:
    decision = decide(client)["decision"]
    assert give(client, decision, 1.0).status_code == 204
    again = give(client, decision, 1.0)
    assert again.status_code == 404
    assert decision in again.json()["error"]
    assert desk.agent.rewards == 1


def test_a_decision_that_nobody_made(desk: Desk, client: Client) -> None:
    answer = give(client, "a-0", 1.0)
    assert answer.status_code == 404
    assert answer.json()["error"].startswith("decision must be open, got 'a-0'")
    assert desk.agent.rewards == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "body must be JSON"),
        (b"\xff", "body must be JSON"),
        (b'{"features":' + 100_000 * b"[", "body must be JSON"),
        (b"[1]", "body must be an object with the key 'features', got [1]"),
        (b"{}", "body must be an object with the key 'features', got {}"),
        (b'{"features": {"age": 0.1}}', "it lacks 'spending'"),
        (b'{"features": {"age": 0.1, "spending": 0.1, "size": 3}}', "size"),
        (b'{"features": {"age": 0.1, "spending": "much"}}', "much"),
        (b'{"features": {"age": 0.1, "spending": NaN}}', "nan"),
        (b'{"features": {"age": 0.1, "spending": null}}', "x must"),
        (b'{"features": {"age": 0.1, "spending": [1, 2]}}', "x must"),
        (b'{"features": [0.1, 0.2, 0.3]}', "x must"),
        (b'{"features": null}', "x must"),
        (b'{"features": "age"}', "x must"),
        (b'{"features": [0.1, 0.2], "only": ["music"]}', "music"),
        (b'{"features": [0.1, 0.2], "only": []}', "only"),
        (b'{"features": [0.1, 0.2], "only": 3}', "only"),
    ],
)
def test_bad_features_are_the_clients_mistake(desk: Desk, client: Client, body: bytes, words: str) -> None:
    answer = client.post("/decisions", content=body)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])
    assert words in answer.json()["error"]
    assert (desk.agent.decisions, desk.open) == (0, {})


@pytest.mark.parametrize("reward", ["much", None, float("nan"), [1.0, 2.0], {}, 1e200])
def test_a_bad_reward_is_refused_and_the_decision_stays_open(desk: Desk, client: Client, reward: Any) -> None:
    decision = decide(client)["decision"]
    answer = client.post(f"/decisions/{decision}/reward", content=json.dumps({"reward": reward}))
    assert answer.status_code == 400
    assert "reward" in answer.json()["error"]
    assert desk.agent.rewards == 0
    assert give(client, decision, 0.5).status_code == 204


def test_only_some_arms_are_eligible(client: Client) -> None:
    assert {decide(client, only=["travel", "games"])["arm"] for _ in range(20)} == {"travel", "games"}


def test_what_is_overdue_counts_as_nothing(desk: Desk, client: Client) -> None:
    """A few per request, the oldest first; later ones stay open."""
    watch: Any = desk.clock
    first = [decide(client) for _ in range(OVERDUE_AT_ONCE + 1)]
    watch.now = 59.0
    last = decide(client)
    assert desk.agent.rewards == 0
    watch.now = 60.0
    newest = decide(client)
    assert desk.agent.rewards == OVERDUE_AT_ONCE
    assert list(desk.open) == [one["decision"] for one in (first[-1], last, newest)]
    assert give(client, first[0]["decision"], 1.0).status_code == 404
    decide(client)
    assert (desk.agent.rewards, len(desk.open)) == (OVERDUE_AT_ONCE + 1, 3)
    assert all((desk.agent.statistics(arm).moment == 0).all() for arm in desk.agent.arms)
    assert sum(desk.agent.statistics(arm).pulls for arm in desk.agent.arms) == OVERDUE_AT_ONCE + 1


def test_an_arm_goes_while_its_reward_is_awaited(desk: Desk, client: Client) -> None:
    watch: Any = desk.clock
    answered, overdue = decide(client, only=["books"])["decision"], decide(client, only=["books"])["decision"]
    desk.agent.remove_arm("books")
    answer = give(client, answered, 1.0)
    assert (answer.status_code, "books" in answer.json()["error"]) == (400, True)
    watch.now = 60.0
    decide(client)
    assert overdue not in desk.open
    assert desk.agent.rewards == 0


@pytest.mark.usefixtures("as_before")
def test_it_is_saved_when_it_ends(desk: Desk, tmp_path: Path) -> None:
    async def life() -> None:
        app = application(desk, saving(desk, tmp_path / "offers.agent"))
        async with app.router.lifespan_context(app):
            answer = await call(app, "POST", "/decisions", json={"features": VISITOR})
            await call(app, "POST", f"/decisions/{answer.json()['decision']}/reward", json={"reward": 1.0})

    asyncio.run(life())
    again: Any = armspan.load_agent(tmp_path / "offers.agent")
    assert (again.decisions, again.rewards) == (desk.agent.decisions, desk.agent.rewards) == (1, 1)
    np.testing.assert_array_equal(again.scores(VISITOR).index, desk.agent.scores(VISITOR).index)


@pytest.mark.usefixtures("as_before")
def test_a_chore_that_fails_is_logged_and_tried_again(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    tried: list[int] = []

    async def chore() -> None:
        tried.append(len(tried))
        raise OSError("the disk is full")

    async def life() -> None:
        app = application(desk, chore, every=1e-6)
        async with app.router.lifespan_context(app):
            while len(tried) < 3:
                assert (await call(app, "POST", "/decisions", json={"features": VISITOR})).status_code == 201
                await asyncio.sleep(0)  # requests in one process never wait, and others would never have their turn

    with caplog.at_level(logging.ERROR):
        asyncio.run(life())
    assert "the disk is full" in caplog.text


FRESH = """
import asyncio
import sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from examples.server import Desk, application, new_agent, saving
from tests.examples.client import call

def loaded():
    values = [value for name, module in list(sys.modules.items()) if name.startswith("armspan.kernels")
              for value in vars(module).values()]
    kernels = [getattr(value, "quick", value) for value in values]
    return {(k.py_func.__qualname__, str(s)) for k in kernels if isinstance(k, Dispatcher) for s in k.overloads}

async def life(desk):
    app = application(desk, saving(desk, Path(sys.argv[1])))
    async with app.router.lifespan_context(app):
        before = loaded()
        for k in range(40):
            x = {"age": k / 50, "spending": 0.1} if k % 2 else [k / 50, 0.1]
            answer = await call(app, "POST", "/decisions", json={"features": x})
            await call(app, "POST", f"/decisions/{answer.json()['decision']}/reward", json={"reward": k % 3})
        desk.agent.delta(), desk.agent.to_bytes()
        assert before and desk.agent.rewards == 40
        print(sorted(loaded() - before))

asyncio.run(life(Desk(new_agent())))
"""


def test_once_it_has_started_nothing_is_compiled_or_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FRESH, str(tmp_path / "offers.agent")]
    root = Path(__file__).parents[2]
    assert subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout == "[]\n"
