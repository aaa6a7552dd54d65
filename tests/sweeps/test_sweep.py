"""sweep: the table says what simulate says, is the same everywhere, and finished cells are never computed twice."""

import math
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import armspan
from armspan.environments import BoxContexts, FiniteContexts, diversity_dial, paper_1a, paper_1b, paper_1c
from armspan.errors import ArmspanError, DamagedCell, Interrupted, MissingExtra
from armspan.policies import ContextUCB, Greedy, LinUCB, LinUCBd
from armspan.simulation import simulate
from armspan.sweeps import grid, sweep
from armspan.sweeps.cells import Cell, Size

SIZE: dict[str, Any] = {"horizon": 400, "runs": 12, "seed": 3}
ENVS = {"a": paper_1a(), "b": paper_1b()}
POLICIES = {"ours": LinUCBd(), "greedy": Greedy(), "bold": LinUCB(alpha=2.0)}


class Coin:
    """A user's policy."""

    def __init__(self, n_arms: int, n_features: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def choose(self, x: Any) -> int:
        return int(self.rng.integers(len(x)))

    def update(self, arm: int, x: Any, reward: float) -> None: ...


def computed(folder: Path, *arguments: Any, **options: Any) -> tuple[pd.DataFrame, int]:
    """A sweep's table, and how many cells were not taken from the folder."""
    calls: list[tuple[int, int]] = []
    table = sweep(*arguments, **SIZE | options, folder=folder, progress=lambda *call: calls.append(call))
    (first, total), (last, _) = calls[0], calls[-1]
    assert last == total
    assert calls == sorted(calls)
    return table, round(len(table) * (1 - first / total))


def test_a_row_says_what_simulate_says() -> None:
    table = sweep(ENVS, POLICIES, **SIZE)
    assert list(zip(table["environment"], table["policy"], strict=True)) == [(e, p) for e in ENVS for p in POLICIES]
    for _, row in table.iterrows():
        result = simulate(ENVS[row["environment"]], POLICIES[row["policy"]], **SIZE, checkpoints=[25, 100, 200, 400])
        (line,) = result.summary()
        final = result.pseudo_regret[0, :, -1]
        wanted = [line.mean, line.sd, line.low, line.high, *np.quantile(final, [0.05, 0.5, 0.95, 0.99])]
        names = ["mean", "sd", "low", "high", "q05", "q50", "q95", "q99"]
        np.testing.assert_allclose(row[names].astype(float), wanted, rtol=1e-12)
        assert row["growth"] == line.growth.verdict
        assert (row["horizon"], row["runs"]) == (400, 12)
        assert row["gap"] == ENVS[row["environment"]].gap
        assert row["lambda_0"] == ENVS[row["environment"]].lambda_0()


def test_the_parameters_that_vary_have_columns() -> None:
    envs = grid(diversity_dial, level=[0.0, 0.5]) | {"box": BoxContexts([[1.0], [2.0]])}
    policies = grid(LinUCB, alpha=[0.5, 1], ridge=[np.float64(2.0)]) | grid(Greedy)
    assert list(envs) == ["diversity_dial(level=0.0)", "diversity_dial(level=0.5)", "box"]
    assert list(policies) == ["LinUCB(alpha=0.5, ridge=2.0)", "LinUCB(alpha=1, ridge=2.0)", "Greedy()"]
    table = sweep(envs, policies, **SIZE)
    assert list(table["environment.level"][:6]) == [0.0] * 3 + [0.5] * 3
    assert table["environment.level"][6:].isna().all()
    assert math.isnan(table["lambda_0"][8])
    assert list(table["policy.alpha"][:2]) == [0.5, 1]
    assert "policy.feature_bound" not in table
    joined = grid(LinUCB, alpha=[1])
    joined |= {"LinUCB(alpha=1)": Greedy()}
    assert joined.parameters == {}
    plain = sweep([paper_1a(), paper_1c()], [LinUCB(alpha=1.0), LinUCB(alpha=lambda t: t)], **SIZE)
    assert list(plain["policy"]) == ["LinUCB", "LinUCB (2)"] * 2
    assert list(plain["environment.n_arms"]) == [2, 2, 5, 5]


def test_grids_of_what_is_no_number() -> None:
    made = grid(partial(FiniteContexts, np.ones((2, 1, 1))), theta=[[[1.0], [2.0]], np.zeros((2, 1))], noise=[1])
    assert [values["noise"] for values in made.parameters.values()] == [1, 1]
    assert sweep(made, Greedy(), **SIZE)["environment.theta"].nunique() == 2


def test_policies_may_depend_on_the_environment() -> None:
    def fitting(env: Any) -> Any:
        return [LinUCBd(), ContextUCB()] if env.n_contexts else [LinUCBd()]

    table = sweep([paper_1a(), paper_1c()], fitting, **SIZE)
    assert list(table["policy"]) == ["LinUCB-d", "UCB per context", "LinUCB-d"]


def test_the_table_is_the_same_however_it_is_cut_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of an environment together, here and elsewhere, every cell for itself, and cells in many pieces."""
    whole = sweep(ENVS, {**POLICIES, "coin": Coin}, **SIZE)
    pd.testing.assert_frame_equal(whole, sweep(ENVS, {**POLICIES, "coin": Coin}, **SIZE, backend="processes"))
    monkeypatch.setattr("armspan.sweeps.job.TOGETHER_SECONDS", 0)
    pd.testing.assert_frame_equal(whole, sweep(ENVS, {**POLICIES, "coin": Coin}, **SIZE), check_exact=True)
    monkeypatch.setattr("armspan.sweeps.job.HERE_SECONDS", 1e-4)
    pd.testing.assert_frame_equal(whole, sweep(ENVS, {**POLICIES, "coin": Coin}, **SIZE), check_exact=True)


def test_a_second_start_computes_only_what_is_missing(tmp_path: Path) -> None:
    first, count = computed(tmp_path, ENVS, POLICIES)
    assert count == 6
    again, count = computed(tmp_path, ENVS, POLICIES)
    assert count == 0
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    _, count = computed(tmp_path, ENVS, POLICIES, backend="processes")
    assert count == 0
    wider, count = computed(tmp_path, {**ENVS, "dial": diversity_dial(0.3)}, {**POLICIES, "timid": LinUCB(alpha=0.1)})
    assert count == 6
    assert len(wider) == 12
    for change in ({"seed": 4}, {"runs": 13}, {"runs": [0]}, {"horizon": 401}, {"checkpoints": [400]}):
        assert computed(tmp_path, ENVS, POLICIES, **change)[1] == 6
    assert computed(tmp_path, ENVS, POLICIES, engine="python")[1] == 6
    assert computed(tmp_path, ENVS, POLICIES, engine="cpu")[1] == 0


def test_a_cells_file_holds_its_runs(tmp_path: Path) -> None:
    sweep(paper_1a(), Greedy(), **SIZE, folder=tmp_path / "new" / "folder")
    (path,) = (tmp_path / "new" / "folder").iterdir()
    table = pq.read_table(path)
    assert table.column_names[0] == "run"
    assert {"step 25", "step 100", "step 200", "step 400"} < set(table.column_names)  # where the verdict looks
    result = simulate(paper_1a(), Greedy(), **SIZE)
    np.testing.assert_array_equal(table["step 400"].to_numpy(), result.pseudo_regret[0, :, -1])


def test_a_damaged_cell_is_computed_again_and_said_so(tmp_path: Path) -> None:
    whole, _ = computed(tmp_path, ENVS, POLICIES)
    paths = sorted(tmp_path.iterdir())
    good = {path: path.read_bytes() for path in paths}
    flipped = bytearray(good[paths[2]])
    flipped[60] ^= 1
    damage = [b"", good[paths[1]][:500], bytes(flipped), b"run,regret\n1,2\n", good[paths[0]]]
    for path, content in zip(paths[1:], [*damage[1:], damage[0]], strict=True):
        path.write_bytes(content)
    with pytest.warns(DamagedCell) as caught:
        again, count = computed(tmp_path, ENVS, POLICIES)
    assert count == 5
    assert {str(entry.message) for entry in caught} == {
        f"{path} is damaged, or not a cell of this sweep; its cell is computed again" for path in paths[1:]
    }
    assert all(entry.filename == __file__ for entry in caught)
    pd.testing.assert_frame_equal(whole, again, check_exact=True)
    assert {path: path.read_bytes() for path in paths} == good


def test_flipped_bytes_never_give_a_silently_wrong_cell(tmp_path: Path) -> None:
    whole, _ = computed(tmp_path, ENVS["a"], Greedy())
    (path,) = tmp_path.iterdir()
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for position in rng.integers(len(good), size=60):
        bad = bytearray(good)
        bad[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        try:
            again, _ = computed(tmp_path, ENVS["a"], Greedy())
        except DamagedCell:
            continue
        pd.testing.assert_frame_equal(whole, again, check_exact=True)  # then the bit did not matter


SCRIPT = """
import sys, armspan
class Slow:
    fingerprint = "1"
    def __init__(self, n_arms, n_features, seed): ...
    def choose(self, x):
        import time
        time.sleep(0.0005)
        return 0
    def update(self, arm, x, reward): ...
envs = armspan.grid(armspan.environments.diversity_dial, level=[i / 20 for i in range(20)])
calls = []
table = armspan.sweep(
    envs, Slow, horizon=100, runs=3, folder=sys.argv[1], backend=sys.argv[2] or None,
    progress=lambda *call: calls.append(call),
)
print(calls[0][0] * 20 // calls[0][1], table["mean"].sum())
"""


@pytest.mark.parametrize("backend", ["", "processes"])
def test_a_killed_sweep_loses_only_what_was_in_flight(backend: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    folder = tmp_path / "cells"
    command = [sys.executable, str(tmp_path / "script.py"), str(folder), backend]
    process = subprocess.Popen(command, start_new_session=True)
    while len(list(folder.glob("*.parquet"))) < 5:
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = {path: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    assert 5 <= len(finished) < 20
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.split()[0] == str(len(finished))
    assert len(list(folder.glob("*.parquet"))) == 20
    assert finished == {path: path.stat().st_mtime_ns for path in finished}


def test_ctrl_c_keeps_the_finished_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("armspan.sweeps.job.TOGETHER_SECONDS", 0)

    def progress(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="stopped with 4 of 6 cells finished") as caught:
        sweep(ENVS, POLICIES, **SIZE, folder=tmp_path, progress=progress)
    whole, count = computed(tmp_path, ENVS, POLICIES)
    assert count == 2
    assert isinstance(caught.value.partial, pd.DataFrame)
    pd.testing.assert_frame_equal(caught.value.partial, whole[:4], check_exact=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"horizon": 0}, "horizon must be an integer from 1"),
        ({"runs": 0}, "runs must be an integer from 1"),
        ({"engine": "gpu"}, "engine must be one of"),
        ({"checkpoints": [0]}, "checkpoints must be from 1 to the horizon 400, got 0"),
        ({"backend": "cloud"}, "backend must be None"),
        ({"precision": "float16"}, "precision must be one of float64, float32, got 'float16'"),
        ({"precision": "float32", "engine": "cpu"}, "precision must be \"float64\" on the engine 'cpu'"),
        ({"environments": []}, "environments must hold at least one, got none"),
        ({"policies": {}}, "policies must hold at least one, got none"),
        ({"policies": {3: Greedy()}}, "policies must have names that are text, got 3"),
        ({"environments": 5}, "env must be an armspan environment or have n_arms"),
        ({"policies": [Greedy]}, "Greedy in paper 1a: a policy must be an object, got the class; write Greedy()"),
        ({"policies": [7]}, "int in paper 1a: a policy must be one of armspan's"),
        ({"environments": paper_1c(), "policies": ContextUCB()}, "UCB per context in paper 1c"),
        ({"policies": [LinUCB(alpha=[1.0])]}, "LinUCB in paper 1a: alpha must have one entry per step"),
        ({"folder": "/proc/nowhere/at/all"}, "folder must be a folder that can be written, got /proc/nowhere/at/all"),
    ],
)
def test_bad_input(options: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {"environments": paper_1a(), "policies": [Greedy()], **SIZE} | options
    with pytest.raises(ArmspanError) as caught:
        sweep(**arguments)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("make", "values", "sentence"),
    [
        (3, {}, "make must be a policy's class or a function, got 3"),
        (Greedy, {"feature_bound": 2.0}, "feature_bound must be a list of values to try, got 2.0"),
        (Greedy, {"feature_bound": []}, "feature_bound must be a list of values to try, got []"),
        (Greedy, {"feature_bound": [1.0, 1.0]}, "values must be different from each other, got Greedy(feature"),
        (LinUCB, {"alpha": [-1.0]}, "alpha must be >= 0, got -1.0"),
    ],
)
def test_bad_grids(make: Any, values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArmspanError) as caught:
        grid(make, **values)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("missing", ["pandas", "pyarrow.parquet"])
def test_a_missing_extra_is_said_so(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=r"pip install 'armspan\[lab\]'"):
        sweep(paper_1a(), Greedy(), **SIZE, folder=tmp_path)


def test_the_package_has_it() -> None:
    assert armspan.sweep is sweep
    assert armspan.grid is grid


def test_names_that_meet_a_numbered_one_are_all_kept() -> None:
    policies = [LinUCB(label="a"), LinUCB(alpha=1.0, label="a"), Greedy(label="a (2)")]
    assert list(sweep(paper_1a(), policies, **SIZE)["policy"]) == ["a", "a (2)", "a (2) (2)"]


def test_the_last_step_is_always_among_the_checkpoints() -> None:
    """What the row calls final is at the horizon, whatever checkpoints are asked for."""
    early = sweep(paper_1a(), LinUCBd(), **SIZE, checkpoints=[10, 20])
    assert early["mean"].item() == pytest.approx(sweep(paper_1a(), LinUCBd(), **SIZE)["mean"].item())


def test_a_dictionary_and_a_grid_join_in_either_order() -> None:
    dial = grid(diversity_dial, level=[0.1, 1.0])
    for envs in ({"paper": paper_1a()} | dial, dial | {"paper": paper_1a()}):
        assert set(sweep(envs, LinUCBd(), **SIZE)["environment.level"].dropna()) == {0.1, 1.0}


def test_policies_may_be_any_function_of_the_environment() -> None:
    def scaled(factor: float, env: Any) -> dict[str, Any]:
        return {"scaled": LinUCB(alpha=factor * env.parameter_bound)}

    assert list(sweep(ENVS, partial(scaled, 2.0), **SIZE)["policy"]) == ["scaled", "scaled"]


def test_a_cell_on_a_gpu_is_not_cut_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be too small for it; and the engine is settled before, for the whole cell."""
    seen: list[tuple[str, int]] = []

    def instead(env: Any, policies: Any, *, runs: Any, engine: str, **options: Any) -> Any:
        seen.append((engine, len(runs)))
        return simulate(env, policies, runs=runs, engine="cpu", **options)

    monkeypatch.setattr("armspan.simulation.engines.cuda.missing", lambda: None)
    monkeypatch.setattr("armspan.simulation.engines.cuda.WORTH_IT", 1000)
    monkeypatch.setattr("armspan.sweeps.job.HERE_SECONDS", 1e-6)
    monkeypatch.setattr("armspan.sweeps.cells.simulate", instead)
    sweep(paper_1a(), LinUCBd(), **SIZE)
    assert seen == [("cuda", 12)]


def test_single_precision_reaches_the_gpu_and_has_cells_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str]] = []

    def instead(env: Any, policies: Any, *, engine: str, precision: str, **options: Any) -> Any:
        seen.append((engine, precision))
        return simulate(env, policies, engine="cpu", **options)

    monkeypatch.setattr("armspan.simulation.engines.cuda.missing", lambda: None)
    monkeypatch.setattr("armspan.sweeps.cells.simulate", instead)
    for precision in ("float64", "float32"):
        sweep(paper_1a(), LinUCBd(), **SIZE, precision=precision, folder=tmp_path)
    assert seen == [("cpu", "float64"), ("cuda", "float32")]
    assert len(list(tmp_path.glob("*.parquet"))) == 2


def test_a_users_policy_that_fails_does_not_lose_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("armspan.sweeps.job.TOGETHER_SECONDS", 100)

    class Broken(Coin):
        fingerprint = "1"

        def update(self, arm: int, x: Any, reward: float) -> None:
            raise ZeroDivisionError

    class Sound(Coin):
        fingerprint = "1"

    with pytest.raises(ZeroDivisionError):
        sweep(paper_1a(), {"first": LinUCBd(), "sound": Sound, "broken": Broken}, **SIZE, folder=tmp_path)
    assert len(list(tmp_path.glob("*.parquet"))) == 2


def test_a_small_cell_on_a_gpu_is_known_to_take_its_time() -> None:
    """An H200 takes 0.2 to 0.4 s for 100 runs of 500,000 steps (benchmarks/cuda.md)."""
    size = Size(500_000, 0, "cuda", "float64", np.array([500_000]))
    assert 0.1 < Cell("a", "ours", paper_1a(), LinUCBd()).seconds(size, 100) < 1
