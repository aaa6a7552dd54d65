"""A log's table as numbers: which columns are features, which are left out and why, and categories encoded."""

import difflib
import shlex
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from armspan._text import counted
from armspan.cli.log_columns import (
    encoded,
    is_identifier,
    is_whole,
    labels,
    no_feature,
    numbers,
    refuse_nested,
    texts,
)
from armspan.diversity.logged import INTERCEPT, constant_features, with_intercept
from armspan.errors import BadFile, InvalidParameter

SPACES = {"\\t": "\t", "\\s+": "\\s+"}
"""What may separate columns besides a character, as it is typed and as pandas knows it."""
MOST_DIFFERENT = 0.9
"""An identifier with more different values than this, for each row, hardly says that rows belong together."""
MOST_NAMED = 10
"""Rows and columns that a sentence names."""


@dataclass
class LogTable:
    """A log as numbers.

    X, arms, rewards : complete rows alone. features : the columns of X. bad : places (from 1) of the other rows.
    missing : by column, how many rows have nothing there, or nothing finite.
    arm_names : all arms of these rows, whole numbers by size and others by letter.
    left_out : columns that are not features, each with the reason. notes : what else was done. by : each row's label in
    the column that says which rows belong together, if one does.
    """

    X: Any
    arms: list[str]
    rewards: Any
    features: list[str]
    rows: int
    bad: list[int]
    missing: dict[str, int]
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by: list[str] | None = None

    @property
    def arm_names(self) -> list[str]:
        """All arms, in order."""
        names = sorted(set(self.arms))
        return sorted(names, key=int) if all(map(is_whole, names)) else names

    def words(self) -> list[str]:
        """What was used and what was not, one line each."""
        lines = [f"Features: {', '.join(self.features)}"]
        if self.left_out:
            lines.append("Left out: " + ", ".join(f"{name} ({why})" for name, why in self.left_out.items()))
        return [*lines, *self.notes, *self._left_out_rows()]

    def _left_out_rows(self) -> list[str]:
        if not self.bad:
            return []
        named = ", ".join(map(str, self.bad[:MOST_NAMED])) + (", …" if len(self.bad) > MOST_NAMED else "")
        categories = any(name.startswith(f"{column}=") for column in self.missing for name in self.features)
        hint = " In a CSV file, words such as NA and None count as missing." if categories else ""
        return [
            f"{len(self.bad)} of {self.rows} rows have missing or non-finite values and are left out: rows {named}",
            f"Missing or non-finite: {_in_columns(self.missing)}.{hint}",
        ]


def read(path: Path, sep: str = ",", names: Sequence[str] = ("arm",)) -> pd.DataFrame:
    """The table in a CSV or Parquet file; columns that hold names as they stand, whatever they look like."""
    if path.suffix not in (".csv", ".parquet"):
        raise BadFile(f"FILE must end in .csv or .parquet, got {path}")
    if len(sep.encode()) != 1 and sep not in SPACES:
        raise InvalidParameter(f"--sep must be a single ASCII character or one of {', '.join(SPACES)}, got {sep!r}")
    try:
        if path.suffix == ".parquet":
            return _read_parquet(path, names)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return _read_csv(path, SPACES.get(sep, sep), names)
    except pd.errors.ParserWarning:
        raise BadFile(f"cannot read {path}: a row has more entries than there are columns in the first line") from None
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or str(error).splitlines()[0]}") from None
    except (ValueError, ImportError) as error:
        raise BadFile(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _read_parquet(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """A Parquet file; an index with a name is a column like any other, as it is in a CSV file."""
    from pyarrow.parquet import ParquetFile

    if path.is_file():
        _refuse_twins(ParquetFile(path).schema_arrow.names)
    table = _with_index(pd.read_parquet(path))
    for name in names:
        if name in table and pd.api.types.is_float_dtype(table[name]):  # whole numbers, perhaps, and some missing
            table[name] = _with_index(pd.read_parquet(path, columns=[name], dtype_backend="numpy_nullable"))[name]
    return table


def _with_index(table: pd.DataFrame) -> pd.DataFrame:
    """The table with its index as columns, unless it has no name or there is such a column already."""
    named = [name for name in table.index.names if name is not None and name not in table]
    return table.reset_index(level=named).reset_index(drop=True).rename(columns=str)


def _read_csv(path: Path, sep: str, names: Sequence[str]) -> pd.DataFrame:
    """A CSV file; spaces around names of columns and line breaks do not count, unless names would then be the same."""
    form: dict[str, Any] = {"sep": sep, "index_col": False, "low_memory": False}  # else a long column has several types
    _refuse_twins(pd.read_csv(path, **form, header=None, nrows=1, dtype=str, na_filter=False).iloc[0])
    given = list(pd.read_csv(path, **form, nrows=0).columns)
    plain = [" ".join(map(str.strip, str(name).splitlines())) for name in given]
    called = dict(zip(given, plain if len(set(plain)) == len(plain) else given, strict=True))
    words = [name for name in given if called[name] in names]
    table = pd.read_csv(path, **form, dtype=dict.fromkeys(words, str))
    if words:  # read them again as they stand: in other columns NA and None mean that nothing is there
        table[words] = pd.read_csv(path, **form, dtype=str, usecols=words, na_filter=False)[words]
    return table.rename(columns=called)


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
    by: str | None = None,
) -> LogTable:
    """Choose the features, encode categories, set incomplete rows aside."""
    features, left_out = _chosen(table, arm, reward, features, exclude or [], by)
    for name in [arm] if by is None else [arm, by]:
        refuse_nested(table[name], name)
    notes: list[str] = [] if by is not None else _recurring(table, {*features, arm, reward})
    columns, source = {reward: numbers(table[reward], reward)}, {reward: reward}
    for name in features:
        column, note = encoded(table[name], name)
        if twice := sorted(columns.keys() & column.keys()):
            raise InvalidParameter(
                f"columns and their categories must have different names, got {twice[0]!r} from both "
                f"{source[twice[0]]!r} and {name!r}"
            )
        columns |= column
        source |= dict.fromkeys(column, name)
        notes += [note] if note else []
    frame, arms = pd.DataFrame(columns), texts(table[arm])
    groups = arms if by is None else labels(table[by])
    finite = pd.DataFrame(np.isfinite(frame.to_numpy(float)), columns=frame.columns)
    known = {name: (words != "").to_numpy() for name, words in {arm: arms, by or arm: groups}.items()}
    known |= {source[key]: finite[key].to_numpy() for key in columns}
    missing = {name: int(number) for name, there in known.items() if (number := (~there).sum())}
    complete = np.logical_and.reduce(list(known.values()))
    if not complete.any():
        raise BadFile(
            f"the table must have a complete row, got {counted(len(table), 'row')} with missing values: "
            f"{_in_columns(missing)}"
        )
    good = frame[complete]
    names = [name for name in columns if name != reward and (name in features or good[name].any())]  # levels that occur
    X = good[names].to_numpy(float)
    constant = constant_features(X).size > 0
    categories = any(key != name for key, name in source.items())
    if intercept or (categories and not constant):
        if INTERCEPT in names and not constant:
            raise InvalidParameter(f"a feature must not be called {INTERCEPT!r} where one is added, got such a column")
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
        missing=missing,
        left_out=left_out,
        notes=notes,
        by=None if by is None else groups[complete].tolist(),
    )


def _recurring(table: pd.DataFrame, used: Collection[str]) -> list[str]:
    """A question for each identifier that is the same in many rows."""
    rest = {str(name): column for name, column in table.items() if name not in used}
    found = {name: len(set(labels(column)) - {""}) for name, column in rest.items() if _tells_apart(name, column)}
    return [
        f"{name} has {counted(number, 'different value')} in {len(table):,} rows. If rows with the same one belong "
        f"together, such as the visits of one visitor, add --by {shlex.quote(name)}: they are not independent."
        for name, number in found.items()
        if 1 < number <= MOST_DIFFERENT * len(table)
    ]


def _tells_apart(name: str, column: "pd.Series[Any]") -> bool:
    """Whether a column holds identifiers of what may come again; not numbers of rows, without a name in the table."""
    return is_identifier(name, column) and not name.lower().startswith("unnamed:")


def _chosen(
    table: pd.DataFrame, arm: str, reward: str, features: list[str] | None, exclude: list[str], by: str | None
) -> tuple[list[str], dict[str, str]]:
    """The columns that are features, and those that are not, each with the reason."""
    named = {"--arm": [arm], "--reward": [reward], "--by": [by] if by is not None else []}
    _check(table, named | {"--features": features or [], "--exclude": exclude})
    if arm == reward:
        raise InvalidParameter(f"--arm and --reward must name different columns, got {arm!r} for both")
    if by in (arm, reward):
        raise InvalidParameter(f"--by must name another column than --arm and --reward, got {by!r}")
    left_out = dict.fromkeys(exclude, "excluded") | ({by: "says which rows belong together"} if by is not None else {})
    if features is None:
        features = [str(name) for name in table if name not in (arm, reward, *left_out)]
        left_out |= {name: why for name in features if (why := no_feature(name, table[name]))}
        features = [name for name in features if name not in left_out]
    elif len(set(features)) < len(features) or {arm, reward} & set(features):
        raise InvalidParameter(
            f"--features must name different columns, and neither the arm's nor the reward's, got {', '.join(features)}"
        )
    elif by in features:
        raise InvalidParameter(f"--by and --features must not both name {by!r}")
    elif both := [name for name in features if name in left_out]:
        raise InvalidParameter(f"--exclude and --features must not both name {both[0]!r}")
    if not features:
        raise InvalidParameter(
            f"the table must have columns with features besides {arm!r} and {reward!r}, got {_columns(table)}"
        )
    return features, left_out


def _in_columns(missing: dict[str, int]) -> str:
    """Where values are missing: "age in 2 rows, visits in 1 row"."""
    named = [f"{name} in {counted(number, 'row')}" for name, number in missing.items()]
    return ", ".join(named[:MOST_NAMED]) + (", …" if len(named) > MOST_NAMED else "")


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
