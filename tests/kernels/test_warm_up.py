"""After a warm-up, a fresh process compiles nothing, and does not import what only compiling needs."""

import json
import subprocess
import sys

import armspan

USE = """
import json
import sys
import numpy as np
import numba
before = set(sys.modules)
import armspan
from armspan.kernels import _compile

x, rows = np.linspace(0.1, 0.9, 10), np.linspace(0.0, 1.0, 90).reshape(9, 10)
policy = armspan.LinUCBd(feature_bound=90.0, parameter_bound=1.0)
with _compile.recorded() as compiled:
    for options in ({}, {"dtype": "float32"}, {"intercept": True}, {"window": 3}, {"half_life": 5}, {"memory": 4},
                    {"window": 3, "dtype": "float32"}, {"epsilon": 0.1}):
        agent = policy.agent(n_arms=9, n_features=10, seed=1, **options)
        for step in range(20):
            agent.choose(x), agent.choose(rows), agent.choose(list(x)), agent.decide(x, only=[0, 1])
            agent.update(step % 9, x + step, 1.0), agent.update(step % 9, rows, 0.5), agent.update(0, list(x), 1)
        agent.update(np.arange(9), rows, np.ones(9))
        agent.update(np.arange(90) % 9, np.tile(rows, (10, 1)), np.ones(90))
        agent.choose_many(rows), agent.scores(x), agent.explain(x, 1), agent.diversity(), agent.exploration(x)
        if "window" not in options:
            agent.add_arm("new", like=0)
    for d in (7, 8, 64, 65):
        agent = policy.agent(n_arms=9, n_features=d, seed=1)
        agent.choose(np.ones(d)), agent.choose(np.ones((9, d)))
    for env in (armspan.environments.paper_1a(), armspan.environments.paper_1b(), armspan.environments.paper_1c(1)):
        for policies in ([armspan.LinUCBd(), armspan.LinUCB(), armspan.Greedy(), armspan.LinTS()],):
            armspan.simulate(env, policies, horizon=9000, runs=2)
    armspan.simulate(armspan.environments.paper_1a(), armspan.ContextUCB(), horizon=200, runs=9)
compilers = {"numba.np.linalg", "numba.np.arraymath", "numba.typed", "scipy"}
print(json.dumps([one.name for one in compiled] + sorted(compilers & (set(sys.modules) - before))))
"""


def test_after_a_warm_up_a_fresh_process_compiles_nothing() -> None:
    calls: list[tuple[int, int]] = []
    done = armspan.warm_up(progress=lambda step, steps: calls.append((step, steps)))
    assert done.folder is not None
    assert [step for step, _ in calls] == list(range(calls[-1][1] + 1))
    assert all(one.seconds > 0 for one in done.compiled)
    outcome = subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True, check=True)
    assert json.loads(outcome.stdout) == []
