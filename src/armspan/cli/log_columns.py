"""One column of a log: whether it holds numbers, categories, times or lists, and what it holds as numbers or texts."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from armspan.errors import BadFile

PROPENSITIES = {"propensity", "propensity_score", "pscore", "probability", "prob", "p", "logging_probability"}
TIMES = {"time", "timestamp", "date", "datetime"}
IDENTIFIER = "an identifier"
IDENTIFIERS = {"id", "index", "row", "uuid", "key"}
PEOPLE = {"user", "visitor", "customer", "client", "member", "patient", "account", "household", "session", "cookie"}
FEWEST_PEOPLE = 10
"""A column with such a name and no more different values than this may be a count, or a category."""
NOTHING = {"", "?", "-", "--", ".", "na", "n/a", "nan", "none", "null", "missing", "unknown"}
"""Words among numbers that say that there is none."""
CONTROLS = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160), 0x2028, 0x2029)}
"""Characters that end a line or steer a terminal, and how Python writes them."""
LARGEST_WHOLE = 2**53
"""Beyond it, whole numbers are not exact as floating-point ones."""
MOST_LEVELS = 50
"""A column with more different words than this is not a category."""


def no_feature(name: str, column: "pd.Series[Any]") -> str:
    """Why a column is no feature, unless it is named as one; empty if it may be."""
    word = name.strip().lower()
    if word in PROPENSITIES:
        return "the probability of the choice"
    if word in TIMES or _is_time(column):
        return "a time"
    if is_identifier(name, column):
        return IDENTIFIER
    known = column[column.notna()]
    if pd.api.types.is_integer_dtype(known) and len(known) and max(-int(known.min()), int(known.max())) > LARGEST_WHOLE:
        return "whole numbers that differ in digits that no computation keeps, as identifiers do"
    if len(_nested(column)):
        return "lists or records"
    if not _is_numeric(column) and column.nunique() > MOST_LEVELS:
        return f"{column.nunique():,} different words"
    return ""


def is_identifier(name: str, column: "pd.Series[Any]") -> bool:
    """Whether a column says by its name that it tells rows, visitors or the like apart, and does tell many apart."""
    word = re.sub(r"[\s-]+", "_", name.strip().lower())
    person = word.removesuffix("id").removesuffix("_")
    if word in IDENTIFIERS or word.endswith("_id") or word.startswith("unnamed:"):
        return True
    if person not in PEOPLE or len(_nested(column)) or column.nunique() <= FEWEST_PEOPLE:
        return False
    found = pd.to_numeric(column[column.notna()], errors="coerce")
    return not found.notna().all() or bool((found % 1 == 0).all())  # fractions are amounts


def encoded(column: "pd.Series[Any]", name: str) -> tuple[dict[str, Any], str]:
    """A column of numbers as it is; of words, a column of 0 and 1 for each but the first. And what was done."""
    refuse_nested(column, name)
    if _is_numeric(column) or _is_time(column) or not column.notna().any():
        seconds = pd.api.types.is_timedelta64_dtype(column)
        return {name: numbers(column, name)}, f"{name} is a duration, in seconds." if seconds else ""
    levels = sorted(column[column.notna()].astype(str).unique())
    if len(levels) > MOST_LEVELS:
        raise BadFile(f"column {name!r} must hold numbers or at most {MOST_LEVELS} categories, got {len(levels)} words")
    words = column.astype(str).where(column.notna())
    called = on_one_line(levels)
    columns = {f"{name}={called[level]}": (words == level).astype(float).where(words.notna()) for level in levels[1:]}
    if not columns:
        return {name: words.notna().astype(float).where(words.notna())}, ""
    note = f"{name} has {len(levels)} categories: one column each, except {levels[0]!r}, the one to compare with."
    return columns, note


def numbers(column: "pd.Series[Any]", name: str) -> "pd.Series[float]":
    """A column as numbers, durations as seconds, and nan where nothing is known; words are refused."""
    refuse_nested(column, name)
    if pd.api.types.is_timedelta64_dtype(column):
        column = column.dt.total_seconds()
    found = pd.to_numeric(column, errors="coerce")
    words = column.where((column.notna() & found.isna()).to_numpy()).astype(object)
    words = words.reset_index(drop=True).dropna().astype(str)
    words = words[[word.strip().lower() not in NOTHING for word in words]]
    commas = words[[_has_commas(word) for word in words]]
    if _is_time(column) or not (found.notna().any() or len(commas)):
        raise BadFile(f"column {name!r} must hold numbers, but has none")
    if len(words):  # not left out: where numbers have commas, the largest rows would be lost
        row, word = next((commas if len(commas) else words).items())
        advice = "write numbers without thousands separators, and decimals with a point"
        raise BadFile(
            f"column {name!r} must hold numbers, got words in {len(words):,} of {len(column):,} rows, such as "
            f"{word!r:.60} in row {int(str(row)) + 1}; {advice if len(commas) else 'leave empty what is not known'}"
        )
    return found.astype(float)


def labels(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """What stands in a column that says which rows belong together; empty where words say that nothing is known."""
    return texts(column).map(lambda word: "" if word.strip().lower() in NOTHING else word)


def texts(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """What stands in a column, as texts; empty where nothing does. A whole number among floats is written as one."""
    known = column.astype(object).where(column.notna(), "")
    return known.map(_text)


def _text(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and value.is_integer()
    return str(int(value)) if whole else str(value)


def is_whole(name: str) -> bool:
    """Whether it is a whole number as one writes it, without leading zeros."""
    return re.fullmatch("0|-?[1-9][0-9]{0,99}", name) is not None


def on_one_line(names: Iterable[str]) -> dict[str, str]:
    """What to call each of these names within a line: line breaks as Python writes them, and no two names the same."""
    called = {name: name.translate(CONTROLS) for name in names}
    if all(name == shown for name, shown in called.items()):
        return called
    return {name: name.replace("\\", r"\\").translate(CONTROLS) for name in called}


def refuse_nested(column: "pd.Series[Any]", name: str) -> None:
    """Refuse a column of lists or records."""
    nested = _nested(column)
    if len(nested):
        raise BadFile(f"column {name!r} must hold numbers or words, got {' '.join(repr(nested.iloc[0]).split()):.60}")


def _nested(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Entries that are neither numbers nor words, but lists, arrays or records."""
    if column.dtype != object:
        return column[:0]
    return column[[isinstance(value, list | tuple | dict | np.ndarray) for value in column]]


def _is_time(column: "pd.Series[Any]") -> bool:
    return pd.api.types.infer_dtype(column, skipna=True) in ("datetime64", "datetime", "date", "time")


def _is_numeric(column: "pd.Series[Any]") -> bool:
    """Whether most of what is there are numbers, perhaps with commas in them."""
    known = column[column.notna()]
    if known.empty or _is_time(known):
        return False
    if pd.api.types.is_numeric_dtype(known) or pd.api.types.is_timedelta64_dtype(known):
        return True
    found = pd.to_numeric(known, errors="coerce").notna().to_numpy()
    return bool((found | np.array([_has_commas(value) for value in known])).mean() >= 0.5)


def _has_commas(value: Any) -> bool:
    """Whether it is a number with commas: between thousands, or before decimals."""
    return isinstance(value, str) and re.fullmatch(r"[-+]?\d+(,\d+)+(\.\d*)?", value.strip()) is not None
