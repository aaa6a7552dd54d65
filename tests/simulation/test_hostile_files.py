"""Files of results and cells that claim more than they hold take no more memory than their size explains."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import armspan
from armspan.environments import paper_1a
from armspan.errors import BadFile, DamagedCell
from armspan.policies import Greedy
from armspan.simulation import Result, load_result, simulate

SMALL = 4_000_000


@pytest.fixture
def peak() -> Iterator[Any]:
    """How many bytes were ever in use since the test began to load."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(paper_1a(), Greedy(), horizon=300, runs=4)


def parts_of(result: Result, path: Path) -> dict[str, Any]:
    """What a saved result consists of."""
    result.save(path)
    with np.load(path) as archive:
        return dict(archive.items())


def header_of(parts: dict[str, Any], **changes: Any) -> Any:
    """The header with other words."""
    return np.frombuffer(json.dumps(json.loads(bytes(parts["header"])) | changes).encode(), np.uint8)


def test_a_file_that_unpacks_to_a_thousand_times_its_size_is_refused(result: Result, tmp_path: Path, peak: Any) -> None:
    path = tmp_path / "result.npz"
    parts = parts_of(result, path)
    np.savez_compressed(path, **parts | {"noise": np.zeros(5_000_000)})
    assert path.stat().st_size < 100_000
    tracemalloc.reset_peak()
    with pytest.raises(BadFile, match=r"is not an armspan result: its .* bytes would unpack to 40,"):
        load_result(path)
    assert peak() < SMALL


def test_a_packed_file_as_the_first_version_wrote_it_is_loaded(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    np.savez_compressed(path, **parts_of(result, path))
    np.testing.assert_array_equal(load_result(path).pseudo_regret, result.pseudo_regret)


@pytest.mark.parametrize("kind", ["<f8", "|S0", "|V0", "|O"])
def test_an_array_that_claims_more_than_there_is_takes_no_room(
    kind: str, result: Result, tmp_path: Path, peak: Any
) -> None:
    path = tmp_path / "result.npz"
    parts = parts_of(result, path)
    del parts["noise"]
    np.savez(path, **parts)
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": kind, "fortran_order": False, "shape": (10**9,)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("noise.npy", claim.getvalue())
    tracemalloc.reset_peak()
    with pytest.raises(BadFile, match="is not an armspan result, or is damaged"):
        load_result(path)
    assert peak() < SMALL


def test_arrays_of_version_1_that_would_be_spread_are_refused(result: Result, tmp_path: Path, peak: Any) -> None:
    """(1, n, 1) less (1, 1, n) would be n² numbers."""
    path = tmp_path / "result.npz"
    parts = parts_of(result, path)
    parts["header"] = header_of(parts, version=1)
    parts |= {"pseudo_regret": np.zeros((1, 3000, 1)), "regret": np.zeros((1, 1, 3000))}
    np.savez(path, **parts)
    tracemalloc.reset_peak()
    with pytest.raises(BadFile, match="is not an armspan result, or is damaged"):
        load_result(path)
    assert peak() < SMALL


@pytest.mark.parametrize(
    "changes",
    [
        {"horizon": "300"},
        {"horizon": -300},
        {"horizon": 10**400},
        {"horizon": True},
        {"policies": 1},
        {"policies": [["greedy"]]},
        {"seed": None},
        {"fingerprint": []},
        {"events": 3},
        {"events": [["greedy"]]},
        {"version": [1]},
    ],
)
def test_headers_of_other_kinds_are_refused_in_a_sentence(changes: Any, result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    parts = parts_of(result, path)
    np.savez(path, **parts | {"header": header_of(parts, **changes)})
    with pytest.raises(BadFile, match=r"is damaged|has format version"):
        load_result(path)


def test_a_result_without_runs_is_refused(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    parts = parts_of(result, path)
    for name, axis in (("runs", 0), ("pseudo_regret", 1), ("noise", 0), ("suboptimal_pulls", 1)):
        parts[name] = np.take(parts[name], [], axis=axis)
    np.savez(path, **parts)
    with pytest.raises(BadFile, match="is damaged: its parts do not fit together"):
        load_result(path)


@pytest.mark.parametrize("packing", [{"compression": "zstd"}, {"compression": "none", "use_dictionary": True}])
def test_a_cell_that_claims_more_than_there_is_is_not_read(
    packing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep writes its cells as they are: what is larger than its file is not its own."""
    options: dict[str, Any] = {"horizon": 100, "runs": 3, "folder": tmp_path}
    table = armspan.sweep(paper_1a(), Greedy(), **options)
    (path,) = tmp_path.iterdir()
    pq.write_table(pa.table({"run": np.zeros(1_000_000)}), path, **packing)
    assert path.stat().st_size < 50_000
    monkeypatch.setattr(pq, "read_table", lambda _: pytest.fail("room was made for what the file claims"))
    with pytest.warns(DamagedCell, match="is damaged, or not a cell of this sweep"):
        again = armspan.sweep(paper_1a(), Greedy(), **options)
    assert again.equals(table)
