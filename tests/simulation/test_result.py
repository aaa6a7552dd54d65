"""Results: summaries, tables, files and joins."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import armspan
from armspan.environments import paper_1a, paper_1b
from armspan.errors import BadFile, InvalidParameter
from armspan.policies import Greedy, LinUCBd
from armspan.simulation import Result, concatenate, load_result, simulate


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(paper_1a(), [LinUCBd(), Greedy()], horizon=2000, runs=12, seed=4)


def t_interval(values: Any) -> tuple[float, float]:
    """SciPy's 95 % interval of a mean."""
    found = stats.ttest_1samp(values, 0).confidence_interval()
    return float(found.low), float(found.high)


def test_summary_rows(result: Result) -> None:
    rows = result.summary()
    assert [row.policy for row in rows] == ["LinUCB-d", "greedy"]
    final = result.pseudo_regret[0, :, -1]
    assert rows[0].mean == pytest.approx(final.mean())
    assert rows[0].sd == pytest.approx(np.std(final, ddof=1))
    assert (rows[0].low, rows[0].high) == pytest.approx(t_interval(final))
    text = str(rows)
    assert text.splitlines()[0] == "pseudo-regret after 2,000 steps, 12 runs"
    assert "greedy" in text.splitlines()[3]
    json.dumps([row.as_dict() for row in rows])


@pytest.mark.parametrize("runs", [2, 3, 10])
def test_intervals_of_few_runs_hold_the_mean_as_often_as_they_say(runs: int) -> None:
    """10,000 intervals of normal regret: 95 % of them within 4.5 standard errors, which chance exceeds once in 10⁵."""
    n = 10_000
    regret = np.random.default_rng(runs).normal(7.0, 3.0, (n, runs, 1))
    few = Result(
        tuple(map(str, range(n))), np.arange(runs), np.array([1]), regret, np.zeros((runs, 1)), "", "", 1, 0, ""
    )
    low, high = few.interval()
    held = float(np.mean((low <= 7.0) & (high >= 7.0)))
    assert abs(held - 0.95) < 4.5 * np.sqrt(0.95 * 0.05 / n)


def test_a_single_run_has_no_interval() -> None:
    single = simulate(paper_1a(), LinUCBd(), horizon=50, runs=1)
    assert np.isnan(single.sd()).all()
    assert np.isnan(single.interval()).all()
    assert not single.plot().collections  # no band
    assert single.summary()[0].growth.verdict == "undecided"
    assert "nan" not in str(single.summary())
    json.dumps(single.summary()[0].as_dict(), allow_nan=False)


def test_to_frame_is_tidy(result: Result) -> None:
    frame = result.to_frame()
    assert list(frame.columns) == ["policy", "run", "step", "pseudo_regret", "regret"]
    assert len(frame) == result.pseudo_regret.size
    row = frame[(frame.policy == "greedy") & (frame.run == 7) & (frame.step == 2000)]
    assert row.pseudo_regret.item() == result.pseudo_regret[1, 7, -1]
    assert row.regret.item() == result.regret[1, 7, -1]


def test_curves_by_name(result: Result) -> None:
    np.testing.assert_array_equal(result.curves("greedy"), result.pseudo_regret[1])
    with pytest.raises(InvalidParameter, match="policy must be one of LinUCB-d, greedy, got 'best'"):
        result.curves("best")


def test_save_and_load(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    result.save(path)
    again = load_result(path)
    for name in ("policies", "environment", "fingerprint", "horizon", "seed", "engine"):
        assert getattr(again, name) == getattr(result, name)
    for name in ("runs", "checkpoints", "pseudo_regret", "noise", "regret"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.npz"]  # no temporary file is left
    header = json.loads(bytes(np.load(path)["header"]))
    assert (header["format"], header["version"]) == ("armspan result", 3)


def test_a_file_of_version_1_which_kept_the_regret_is_still_read(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    result.save(path)
    with np.load(path) as archive:
        content = dict(archive.items())
    header = json.loads(bytes(content["header"])) | {"version": 1}
    content["header"], content["regret"] = np.frombuffer(json.dumps(header).encode(), np.uint8), result.regret
    del content["noise"]
    np.savez(path, **content)
    np.testing.assert_allclose(load_result(path).regret, result.regret, rtol=0, atol=1e-9)


def test_an_old_file_survives_a_failed_save(result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.npz"
    result.save(path)
    before = path.read_bytes()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(BadFile, match=r"cannot write .*result.npz: No space left on device"):
        result.save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def damage(path: Path, **parts: Any) -> None:
    """Write the result again with some parts exchanged."""
    with np.load(path) as archive:
        content = dict(archive.items())
    np.savez(path, **(content | parts))


def test_files_that_are_no_results_are_refused(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    result.save(path)
    good = path.read_bytes()

    def refused(sentence: str) -> None:
        with pytest.raises(BadFile, match=sentence):
            load_result(path)

    for cut in (0, 10, len(good) // 2, len(good) - 30):
        path.write_bytes(good[:cut])
        refused("is not an armspan result, or is damaged|cannot read")
    path.write_bytes(b"a,b\n1,2\n")
    refused("is not an armspan result")
    path.write_bytes(good)
    damage(path, header=np.frombuffer(json.dumps({"format": "armspan result", "version": 99}).encode(), np.uint8))
    refused("has format version 99; this armspan reads 1 to 3")
    path.write_bytes(good)
    damage(path, pseudo_regret=np.zeros((1, 1, 1)))
    refused("is damaged: its parts do not fit together")
    path.write_bytes(good)
    damage(path, noise=np.array([{"a": 1}], dtype=object))  # a pickle inside, which must not be loaded
    refused("is not an armspan result, or is damaged")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", b"nonsense")
    refused("is not an armspan result, or is damaged")
    with pytest.raises(BadFile, match=r"cannot read .*: No such file"):
        load_result(tmp_path / "missing.npz")
    with pytest.raises(BadFile, match="cannot write"):
        result.save(tmp_path / "no" / "folder.npz")


def test_flipped_bytes_never_give_a_silently_wrong_result(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    result.save(path)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for position in rng.integers(len(good), size=150):
        bad = bytearray(good)
        bad[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        try:
            again = load_result(path)
        except BadFile:
            continue
        np.testing.assert_array_equal(again.pseudo_regret, result.pseudo_regret)  # then the bit did not matter


def test_a_result_of_no_policy_is_refused(result: Result) -> None:
    for call in (result.only, result.plot):
        with pytest.raises(InvalidParameter, match="policies must name at least one policy, got none"):
            call([])


def test_concatenate_refuses_what_does_not_belong_together(result: Result) -> None:
    options: dict[str, Any] = {"horizon": 2000, "runs": [50], "seed": 4}
    policies = [LinUCBd(), Greedy()]
    assert concatenate([result, simulate(paper_1a(), policies, **options)]).runs.size == 13
    others = {
        "the same policies": simulate(paper_1a(), LinUCBd(), **options),
        "the same environment": simulate(paper_1b(), policies, **options),
        "the same fingerprint": simulate(paper_1a(), [LinUCBd(noise_scale=2.0), Greedy()], **options),
        "the same horizon": simulate(paper_1a(), policies, **options | {"horizon": 1999}),
        "the same seed": simulate(paper_1a(), policies, **options | {"seed": 5}),
        "the same checkpoints": simulate(paper_1a(), policies, **options, checkpoints=[3]),
        "different runs": simulate(paper_1a(), policies, **options | {"runs": [3]}),
    }
    for sentence, other in others.items():
        with pytest.raises(InvalidParameter, match=f"results must (have|hold) {sentence}"):
            concatenate([result, other])
    with pytest.raises(InvalidParameter, match="at least one result"):
        concatenate([])
    for wrong in (result, [result, 3], 3):
        with pytest.raises(InvalidParameter, match="results must be a list of results, got "):
            concatenate(wrong)  # type: ignore[arg-type]


def test_repr(result: Result) -> None:
    text = repr(result)
    assert text.startswith("<Result: LinUCB-d, greedy in paper 1a, 12 runs of 2,000 steps")
    single = simulate(paper_1a(), Greedy(), horizon=1, runs=1)
    assert repr(single) == "<Result: greedy in paper 1a, 1 run of 1 step, 1 checkpoint>"
    assert armspan.Result is Result
