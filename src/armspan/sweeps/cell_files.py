"""A sweep's folder: one Parquet file a cell, whole or absent, with a checksum that tells when it is damaged."""

import hashlib
import io
import json
import math
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from armspan._files import as_path, make_folder, remove_leftovers, whole_file
from armspan._typing import FloatArray, IntArray
from armspan.errors import BadFile, DamagedCell, MissingExtra
from armspan.sweeps.cells import QUANTILES, Cell, Measures, Size

FORMAT = "armspan cell"
VERSION = 1


class CellFolder:
    """Finished cells by their keys."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise MissingExtra("a folder for cells needs pyarrow: pip install 'armspan[lab]'") from None
        self.path = as_path(path)
        try:
            make_folder(self.path)
        except OSError as error:
            raise BadFile(f"folder must be a folder that can be written, got {path}: {error.strerror}") from None
        remove_leftovers(self.path)

    def file(self, key: str) -> Path:
        """Where a cell is kept."""
        return self.path / f"{key}.parquet"

    def read(self, key: str) -> Measures | None:
        """The measures of a finished cell; None where there is none. A damaged one is said to be, and is none."""
        path = self.file(key)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadFile(f"cannot read {path}: {error.strerror}") from None
        measures = _opened(content, key)
        if measures is None:
            text = f"{path} is damaged, or not a cell of this sweep; its cell is computed again"
            warnings.warn(text, DamagedCell, stacklevel=4)
        return measures

    def write(self, key: str, cell: Cell, size: Size, runs: IntArray, values: FloatArray, measures: Measures) -> None:
        """Keep a cell: one row per run, one column per checkpoint, and in the metadata what it is and its measures."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {"run": runs} | {f"step {step}": values[:, c] for c, step in enumerate(size.checkpoints)}
        header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "key": key}
        header |= {"environment": cell.environment, "policy": cell.policy_name}
        header |= {"horizon": size.horizon, "seed": size.seed, "engine": size.engine, "precision": size.precision}
        header["statistics"] = {name: None if _is_nan(value) else value for name, value in measures.items()}
        header["checksum"] = _checksum(header, columns)
        table = pa.table(columns, metadata={FORMAT: json.dumps(header)})
        content = io.BytesIO()
        pq.write_table(table, content, compression="none", use_dictionary=False, write_statistics=False)
        with whole_file(self.file(key), sync=False) as file:  # after a power cut, its checksum tells
            file.write(content.getbuffer())


def _opened(content: bytes, key: str) -> Measures | None:
    """The measures in the bytes of a file, if it is the cell of this key and undamaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))  # starts no thread, which could abort a process about to end
        size = file.metadata
        if 8 * size.num_rows * size.num_columns > len(content):  # nothing is packed, so it claims more than it holds
            return None
        table = file.read(use_threads=False)
        header = json.loads(table.schema.metadata[FORMAT.encode()])
        columns = {name: table[name].to_numpy() for name in table.column_names}
        checksum = header.pop("checksum")
        if (header["format"], header["version"], header["key"]) != (FORMAT, VERSION, key):
            return None
        if checksum != _checksum(header, columns):
            return None
        measures = {name: math.nan if value is None else value for name, value in header["statistics"].items()}
        return measures if _are_statistics(measures) else None
    except Exception:  # a damaged file can fail anywhere inside Arrow and json
        return None


def _checksum(header: dict[str, Any], columns: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, column in columns.items():
        digest.update(name.encode() + np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def _are_statistics(entries: Measures) -> bool:
    """Whether these are all the measures of a cell, and of their kinds."""
    names = {"mean", "sd", "low", "high", *QUANTILES, "growth"}
    return set(entries) == names and all(isinstance(entries[n], str if n == "growth" else float) for n in names)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
