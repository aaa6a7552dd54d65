"""A log's table as numbers: which columns are features, which are left out and why, and categories encoded."""

import difflib
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from armspan.diversity.logged import constant_features, with_intercept
from armspan.errors import BadFile, InvalidParameter

PROPENSITIES = {"propensity", "propensity_score", "pscore", "probability", "prob", "p", "logging_probability"}
TIMES = {"time", "timestamp", "date", "datetime"}
IDENTIFIERS = {"id", "index", "row", "uuid", "key"}
SPACES = {"\\t": "\t", "\\s+": "\\s+"}
"""What may separate columns besides a character, as it is typed and as pandas knows it."""
MOST_LEVELS = 50
"""A column with more different words than this is not a category."""


@dataclass
class LogTable:
    """A log as numbers.

    X, arms, rewards : complete rows alone. features : the columns of X. bad : places (from 1) of the other rows.
    arm_names : all arms of these rows, whole numbers by size and others by letter.
    left_out : columns that are not features, each with the reason. notes : what else was done.
    """

    X: Any
    arms: list[str]
    rewards: Any
    features: list[str]
    rows: int
    bad: list[int]
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def arm_names(self) -> list[str]:
        """All arms, in order."""
        names = sorted(set(self.arms))
        return sorted(names, key=int) if all(map(_is_whole, names)) else names

    def words(self) -> list[str]:
        """What was used and what was not, one line each."""
        lines = [f"Features: {', '.join(self.features)}"]
        if self.left_out:
            lines.append("Left out: " + ", ".join(f"{name} ({why})" for name, why in self.left_out.items()))
        return [*lines, *self.notes]


def read(path: Path, sep: str = ",", arm: str = "arm") -> pd.DataFrame:
    """The table in a CSV or Parquet file; the column of the arm as it stands, whatever it looks like."""
    if path.suffix not in (".csv", ".parquet"):
        raise BadFile(f"FILE must end in .csv or .parquet, got {path}")
    if len(sep.encode()) != 1 and sep not in SPACES:
        raise InvalidParameter(f"--sep must be a single ASCII character or one of {', '.join(SPACES)}, got {sep!r}")
    try:
        if path.suffix == ".parquet":
            return _read_parquet(path, arm)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return _read_csv(path, SPACES.get(sep, sep), arm)
    except pd.errors.ParserWarning:
        raise BadFile(f"cannot read {path}: a row has more entries than there are columns in the first line") from None
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or str(error).splitlines()[0]}") from None
    except (ValueError, ImportError) as error:
        raise BadFile(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _read_parquet(path: Path, arm: str) -> pd.DataFrame:
    """A Parquet file; an index with a name is a column like any other, as it is in a CSV file."""
    from pyarrow.parquet import ParquetFile

    if path.is_file():
        _refuse_twins(ParquetFile(path).schema_arrow.names)
    table = _with_index(pd.read_parquet(path))
    if arm in table and pd.api.types.is_float_dtype(table[arm]):  # whole numbers, perhaps, and some missing
        table[arm] = _with_index(pd.read_parquet(path, columns=[arm], dtype_backend="numpy_nullable"))[arm]
    return table


def _with_index(table: pd.DataFrame) -> pd.DataFrame:
    """The table with its index as columns, unless it has no name or there is such a column already."""
    named = [name for name in table.index.names if name is not None and name not in table]
    return table.reset_index(level=named).reset_index(drop=True).rename(columns=str)


def _read_csv(path: Path, sep: str, arm: str) -> pd.DataFrame:
    """A CSV file; spaces around the names of its columns do not count, unless names would then be the same."""
    form: dict[str, Any] = {"sep": sep, "index_col": False, "low_memory": False}  # else a long column has several types
    _refuse_twins(pd.read_csv(path, **form, header=None, nrows=1, dtype=str, na_filter=False).iloc[0])
    given = list(pd.read_csv(path, **form, nrows=0).columns)
    plain = [str(name).strip() for name in given]
    names = dict(zip(given, plain if len(set(plain)) == len(plain) else given, strict=True))
    column = next((name for name in given if names[name] == arm), None)
    table = pd.read_csv(path, **form, dtype={column: str} if column is not None else None)
    if column is not None:  # read it again as it stands: among other columns NA and None mean that nothing is there
        table[column] = pd.read_csv(path, **form, dtype=str, usecols=[column], na_filter=False)[column]
    return table.rename(columns=names)


def _refuse_twins(names: Iterable[str]) -> None:
    """Refuse a name that two columns have: one of them would be read under another name."""
    often = Counter(filter(None, names)).most_common(1)
    if often and often[0][1] > 1:
        raise BadFile(f"columns must have different names, got {often[0][0]!r} {often[0][1]} times")


def prepare(
    table: pd.DataFrame,
    *,
    arm: str,
    reward: str,
    features: list[str] | None = None,
    exclude: list[str] | None = None,
    intercept: bool = False,
) -> LogTable:
    """Choose the features, encode categories, set incomplete rows aside."""
    _check(table, {"--arm": [arm], "--reward": [reward], "--features": features or [], "--exclude": exclude or []})
    if features is not None and (len(set(features)) < len(features) or {arm, reward} & set(features)):
        raise InvalidParameter(
            f"--features must name different columns, and neither the arm's nor the reward's, got {', '.join(features)}"
        )
    if arm == reward:
        raise InvalidParameter(f"--arm and --reward must name different columns, got {arm!r} for both")
    left_out = dict.fromkeys(exclude or [], "excluded")
    if features is None:
        features = [str(name) for name in table if name not in (arm, reward) and name not in left_out]
        reasons = {name: why for name in features if (why := _no_feature(name, table[name]))}
        left_out |= reasons
        features = [name for name in features if name not in reasons]
    notes: list[str] = []
    columns = {reward: _numbers(table[reward], reward)}
    encoded = False
    for name in features:
        if name in left_out:
            raise InvalidParameter(f"--exclude and --features must not both name {name!r}")
        column, note = _encoded(table[name], name)
        columns |= column
        notes += [note] if note else []
        encoded = encoded or bool(note)
    if not features:
        raise InvalidParameter(
            f"the table must have columns with features besides {arm!r} and {reward!r}, got {_columns(table)}"
        )
    frame, arms = pd.DataFrame(columns), _texts(table[arm])
    complete = np.isfinite(frame.to_numpy(float)).all(axis=1) & (arms != "").to_numpy()
    if not complete.any():
        raise BadFile(f"the table must have a complete row, got {len(table)} rows with missing values")
    good = frame[complete]
    names = [name for name in columns if name != reward and (name in features or good[name].any())]  # levels that occur
    X = good[names].to_numpy(float)
    constant = constant_features(X).size > 0
    if intercept or (encoded and not constant):
        X, names = with_intercept(X, names)
        notes += [] if intercept else ["An intercept is added; it stands for the categories without a column."]
    elif not constant:
        notes.append("No feature is constant: add --intercept unless rewards are 0 where all features are 0.")
    return LogTable(
        X=X,
        arms=arms[complete].tolist(),
        rewards=good[reward].to_numpy(float),
        features=names,
        rows=len(table),
        bad=[int(row) + 1 for row in np.flatnonzero(~complete)],
        left_out=left_out,
        notes=notes,
    )


def _check(table: pd.DataFrame, wanted: dict[str, list[str]]) -> None:
    """Refuse names of columns that are not there, by the option that names them."""
    for option, columns in wanted.items():
        for column in columns:
            if column not in table:
                hint = _hint(option, column, list(map(str, table.columns)))
                raise InvalidParameter(f"the table must have a column {column!r}, got {_columns(table)}; {hint}")


def _hint(option: str, column: str, there: list[str]) -> str:
    """What may have been meant, or else which option says so."""
    plain = {name.lower(): name for name in there}
    close = difflib.get_close_matches(column.lower(), plain, n=1)
    if close:
        return f"did you mean {plain[close[0]]!r} ({option})?"
    return f"name one of these with {option}"


def _columns(table: pd.DataFrame) -> str:
    return ", ".join(map(str, table.columns))


def _no_feature(name: str, column: "pd.Series[Any]") -> str:
    """Why a column is no feature, unless it is named as one; empty if it may be."""
    word = name.strip().lower()
    if word in PROPENSITIES:
        return "the probability of the choice"
    if word in TIMES or pd.api.types.is_datetime64_any_dtype(column):
        return "a time"
    if word in IDENTIFIERS or word.endswith("_id") or word.startswith("unnamed:"):
        return "an identifier"
    if not _is_numeric(column) and column.nunique() > MOST_LEVELS:
        return f"{column.nunique():,} different words"
    return ""


def _is_numeric(column: "pd.Series[Any]") -> bool:
    """Whether most of what is there are numbers."""
    known = column[column.notna()]
    if known.empty or pd.api.types.is_bool_dtype(known) or pd.api.types.is_datetime64_any_dtype(known):
        return not known.empty and bool(pd.api.types.is_bool_dtype(known))
    return bool(pd.to_numeric(known, errors="coerce").notna().mean() >= 0.5)


def _texts(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """What stands in a column, as texts; empty where nothing does. A whole number among floats is written as one."""
    known = column.astype(object).where(column.notna(), "")
    return known.map(_text)


def _text(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _is_whole(name: str) -> bool:
    """Whether it is a whole number as one writes it, without leading zeros."""
    return re.fullmatch("0|-?[1-9][0-9]{0,99}", name) is not None


def _numbers(column: "pd.Series[Any]", name: str) -> Any:
    if pd.api.types.is_datetime64_any_dtype(column):
        raise BadFile(f"column {name!r} must hold numbers, but has none")
    numbers = pd.to_numeric(column, errors="coerce")
    if not numbers.notna().any():
        raise BadFile(f"column {name!r} must hold numbers, but has none")
    return numbers.astype(float)


def _encoded(column: "pd.Series[Any]", name: str) -> tuple[dict[str, Any], str]:
    """A column of numbers as it is; of words, a column of 0 and 1 for each but the first. And what was done."""
    if _is_numeric(column) or pd.api.types.is_datetime64_any_dtype(column) or not column.notna().any():
        return {name: _numbers(column, name)}, ""
    levels = sorted(column[column.notna()].astype(str).unique())
    if len(levels) > MOST_LEVELS:
        raise BadFile(f"column {name!r} must hold numbers or at most {MOST_LEVELS} categories, got {len(levels)} words")
    words = column.astype(str).where(column.notna())
    columns = {f"{name}={level}": (words == level).astype(float).where(words.notna()) for level in levels[1:]}
    if not columns:
        return {name: words.notna().astype(float).where(words.notna())}, ""
    note = f"{name} has {len(levels)} categories: one column each, except {levels[0]!r}, the one to compare with."
    return columns, note
