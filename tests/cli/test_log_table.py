"""From a table to numbers: which columns are features, which are left out and why, how categories are encoded."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from armspan.cli.log_columns import MOST_LEVELS
from armspan.cli.log_table import LogTable, prepare, read
from armspan.cli.main import main
from armspan.diversity.logged import INTERCEPT
from armspan.errors import ArmspanError, BadFile, InvalidParameter

EXAMPLE = Path(__file__).parents[2] / "examples" / "offers-log.csv"
N = 300


def table(**columns: Any) -> pd.DataFrame:
    """Two arms, rewards, age and visits, and more columns."""
    rng = np.random.default_rng(0)
    usual = {
        "arm": rng.choice(["a", "b"], N),
        "reward": rng.normal(size=N),
        "age": rng.normal(40, 10, N),
        "visits": rng.poisson(3, N),
    }
    return pd.DataFrame(usual | columns)


def prepared(frame: pd.DataFrame, **options: Any) -> LogTable:
    return prepare(frame, **({"arm": "arm", "reward": "reward"} | options))


def test_numbers_are_taken_as_they_are() -> None:
    frame = table()
    log = prepared(frame)
    assert log.features == ["age", "visits"]
    np.testing.assert_array_equal(log.X, frame[["age", "visits"]].to_numpy(float))
    np.testing.assert_array_equal(log.rewards, frame["reward"])
    assert log.arms == frame["arm"].tolist()
    assert (log.rows, log.bad, log.left_out) == (N, [], {})
    assert log.words() == [
        "Features: age, visits",
        "No feature is constant: add --intercept unless rewards are 0 where all features are 0.",
    ]


def test_what_is_no_feature_is_left_out_with_the_reason() -> None:
    names = [f"query {i % 200}" for i in range(N)]
    frame = table(propensity=0.5, timestamp=np.arange(N), user_id=np.arange(N), query=names)
    frame["when"] = pd.date_range("2024-01-01", periods=N)
    log = prepared(frame)
    assert log.features == ["age", "visits"]
    assert log.left_out == {
        "propensity": "the probability of the choice",
        "timestamp": "a time",
        "user_id": "an identifier",
        "query": "200 different words",
        "when": "a time",
    }
    assert (
        "Left out: propensity (the probability of the choice), timestamp (a time), user_id (an identifier), query (200 "
        "different words), when (a time)"
    ) in log.words()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pscore", "the probability of the choice"),
        (" Propensity ", "the probability of the choice"),
        ("Date", "a time"),
        ("ID", "an identifier"),
        ("Unnamed: 0", "an identifier"),
        ("session_id", "an identifier"),
        ("paid", ""),
        ("update", ""),
        ("idle", ""),
        ("probabilities", ""),
    ],
)
def test_names_that_are_no_features(name: str, reason: str) -> None:
    log = prepared(table(**{name: np.linspace(0, 1, N)}))
    assert log.left_out == ({name: reason} if reason else {})
    assert (name in log.features) == (not reason)


def test_whole_numbers_beyond_what_floats_can_tell_apart_are_no_feature() -> None:
    """Rounded, they would be one constant."""
    log = prepared(table(ticket=2**62 + np.arange(N)))
    assert list(log.left_out) == ["ticket"]
    assert "as identifiers do" in log.left_out["ticket"]


def test_what_is_named_is_used_whatever_it_is_called() -> None:
    log = prepared(table(user_id=np.arange(N)), features=["user_id", "age"])
    assert log.features == ["user_id", "age"]
    assert log.left_out == {}


def test_excluded_columns_are_left_out() -> None:
    log = prepared(table(colour="red"), exclude=["visits", "colour"])
    assert log.features == ["age"]
    assert log.left_out == {"visits": "excluded", "colour": "excluded"}


def test_categories_become_columns_but_for_the_first() -> None:
    frame = table(device=np.resize(["phone", "laptop", "tablet"], N))
    log = prepared(frame)
    assert log.features == ["age", "visits", "device=phone", "device=tablet", INTERCEPT]
    for j, level in ((2, "phone"), (3, "tablet")):
        np.testing.assert_array_equal(log.X[:, j], frame["device"] == level)
    np.testing.assert_array_equal(log.X[:, 4], 1)
    assert log.notes == [
        "device has 3 categories: one column each, except 'laptop', the one to compare with.",
        "An intercept is added; it stands for the categories without a column.",
    ]
    with_constant = prepared(frame.assign(one=1.0))
    assert with_constant.features == ["age", "visits", "device=phone", "device=tablet", "one"]


def test_true_and_false_are_numbers() -> None:
    frame = table(member=np.resize([True, False], N))
    log = prepared(frame)
    assert log.features == ["age", "visits", "member"]
    np.testing.assert_array_equal(log.X[:, 2], frame["member"].astype(float))


def test_so_many_words_are_categories_and_no_more() -> None:
    words = np.array([f"w{i:02}" for i in range(MOST_LEVELS + 1)])
    log = prepared(table(word=np.resize(words[:-1], N)), features=["word"])
    assert len(log.features) == MOST_LEVELS  # one level has no column, and there is an intercept
    assert prepared(table(word=np.resize(words, N))).left_out == {"word": f"{MOST_LEVELS + 1} different words"}
    with pytest.raises(BadFile, match=f"'word' must hold numbers or at most {MOST_LEVELS} categories, got 51 words"):
        prepared(table(word=np.resize(words, N)), features=["word"])


def test_an_intercept_is_added_where_it_is_asked_for() -> None:
    log = prepared(table(), intercept=True)
    assert log.features == ["age", "visits", INTERCEPT]
    np.testing.assert_array_equal(log.X[:, 2], np.ones(N))
    assert log.notes == []
    assert prepared(table(zero=0), intercept=True).features == ["age", "visits", "zero", INTERCEPT]
    with pytest.raises(InvalidParameter, match=r"intercept must be left out .*, got 'one', which is always 1$"):
        prepared(table(one=1), intercept=True)


def test_rows_with_missing_values_are_set_aside() -> None:
    frame = table(device=np.resize(["phone", "laptop"], N)).astype({"visits": object})
    frame.loc[2, "age"] = np.nan
    frame.loc[4, "visits"] = "?"
    frame.loc[6, "device"] = None
    frame.loc[8, "reward"] = np.inf
    frame.loc[10, "arm"] = None
    log = prepared(frame, intercept=True)
    assert log.bad == [3, 5, 7, 9, 11]
    good = frame.drop([2, 4, 6, 8, 10])
    assert (log.rows, len(log.X), len(log.arms), len(log.rewards)) == (N, N - 5, N - 5, N - 5)
    np.testing.assert_array_equal(log.X[:, 0], good["age"])
    assert log.arms == good["arm"].tolist()


@pytest.mark.parametrize(
    ("frame", "options", "kind", "sentence"),
    [
        (table(), {"arm": "offer"}, InvalidParameter, "must have a column 'offer', got arm, reward, age, visits"),
        (table(), {"features": ["shoe"]}, InvalidParameter, "must have a column 'shoe'"),
        (table(), {"exclude": ["shoe"]}, InvalidParameter, "must have a column 'shoe'"),
        (table(), {"arm": "offer"}, InvalidParameter, "; name one of these with --arm$"),
        (table(), {"reward": "paid"}, InvalidParameter, "; name one of these with --reward$"),
        (table(), {"reward": "Rewards"}, InvalidParameter, r"; did you mean 'reward' \(--reward\)\?$"),
        (table(), {"features": ["age", "visit"]}, InvalidParameter, r"; did you mean 'visits' \(--features\)\?$"),
        (table(), {"exclude": ["AGE"]}, InvalidParameter, r"; did you mean 'age' \(--exclude\)\?$"),
        (table(), {"features": ["age", "age"]}, InvalidParameter, "--features must name different columns"),
        (table(), {"features": ["age", "reward"]}, InvalidParameter, "and neither the arm's nor the reward's"),
        (table(), {"features": ["age"], "exclude": ["age"]}, InvalidParameter, "must not both name 'age'"),
        (table(), {"exclude": ["age", "visits"]}, InvalidParameter, "must have columns with features"),
        (table(reward="much"), {}, BadFile, "column 'reward' must hold numbers, but has none"),
        (table(empty=np.nan), {}, BadFile, "column 'empty' must hold numbers, but has none"),
        (table(one=np.where(np.arange(N) == 0, np.nan, 1.0), other=np.where(np.arange(N) == 0, 1.0, np.nan)),
         {}, BadFile, "the table must have a complete row, got 300 rows with missing values"),
    ],
)  # fmt: skip
def test_bad_tables_are_one_sentence(
    frame: pd.DataFrame, options: dict[str, Any], kind: type[ArmspanError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence) as error:
        prepared(frame, **options)
    assert "\n" not in str(error.value)


def test_tables_are_read_from_csv_and_parquet(tmp_path: Path) -> None:
    frame = table()
    frame.to_csv(tmp_path / "log.csv", index=False, sep=";")
    frame.to_parquet(tmp_path / "log.parquet")
    pd.testing.assert_frame_equal(read(tmp_path / "log.csv", ";"), frame, check_dtype=False)
    pd.testing.assert_frame_equal(read(tmp_path / "log.parquet"), frame)
    (tmp_path / "empty.csv").touch()
    for name, sentence in (
        ("log.txt", "must end in .csv or .parquet"),
        ("no.csv", "No such file"),
        ("empty.csv", "cannot read"),
    ):
        with pytest.raises(BadFile, match=sentence):
            read(tmp_path / name)


# -- the command -------------------------------------------------------------------------------------------------------


def diverse(n: int) -> pd.DataFrame:
    """A log with an identifier, a propensity and a category, whose contexts are diverse."""
    rng = np.random.default_rng(1)
    age, device, arm = rng.normal(size=n), rng.integers(3, size=n), rng.integers(2, size=n)
    slope, shift = np.array([1.0, -1.0])[arm], np.array([[0.3, 0, -0.3], [-0.3, 0, 0.3]])[arm, device]
    return pd.DataFrame(
        {
            "visit_id": np.arange(n),
            "age": age,
            "visits": rng.poisson(3, n),
            "device": np.array(["laptop", "phone", "tablet"])[device],
            "propensity": 0.5,
            "offer": np.array(["gift", "discount"])[arm],
            "spent": 2 + slope * age + shift + 0.3 * rng.normal(size=n),
        }
    )


COMMAND = ["--arm", "offer", "--reward", "spent"]


def audited(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["audit", *arguments, *COMMAND, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_an_audit_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "log.csv", tmp_path / "out"
    frame = diverse(4000)
    frame.to_csv(path, index=False, sep=";")
    assert main(["audit", str(path), *COMMAND, "--sep", ";", "--out", str(folder)]) == 0
    out = capsys.readouterr().out
    for sentence in (
        "Features: age, visits, device=phone, device=tablet, intercept",
        "Left out: visit_id (an identifier), propensity (the probability of the choice)",
        "device has 3 categories: one column each, except 'laptop', the one to compare with.",
        "An intercept is added",
        "log.csv: 4,000 decisions, 2 arms, 5 features",
        "Diverse? (Does playing the best arm teach about every arm?) Yes.",
        f"Open {folder / 'audit.html'} in a browser.",
    ):
        assert sentence in out
    page = (folder / "audit.html").read_text(encoding="utf-8")
    for text in ("4,000 decisions, 2 arms, 5 features", "visit_id (an identifier)", "What follows", "gift"):
        assert text in page
    content = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert set(content["columns_left_out"]) == {"visit_id", "propensity"}
    assert [arm["name"] for arm in content["arms"]] == ["discount", "gift"]
    assert [arm["rows"] for arm in content["arms"]] == [int((frame["offer"] == a).sum()) for a in ("discount", "gift")]


def test_options_reach_the_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    diverse(2000).to_csv(path, index=False)
    usual = audited([str(path)], capsys)
    assert audited([str(path), "--features", "age, visits"], capsys)["features"] == ["age", "visits"]
    assert audited([str(path), "--features", " age ", "--intercept"], capsys)["features"] == ["age", INTERCEPT]
    fewer = audited([str(path), "--exclude", "device, visits"], capsys)
    assert fewer["features"] == ["age"]
    assert fewer["columns_left_out"]["visits"] == "excluded"
    assert audited([str(path), "--margin", "0.4"], capsys)["margin"] == 0.4
    for options in (["--level", "0.001"], ["--strict"], ["--strict", "--noise-scale", "1"]):
        other = audited([str(path), *options], capsys)
        widths = [[arm["best"][1] - arm["best"][0] for arm in content["arms"]] for content in (usual, other)]
        assert widths[1] > widths[0]
    assert audited([str(path), "--level", "0.001"], capsys)["level"] == 0.001


def test_bad_rows_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = diverse(500)
    frame.loc[[0, 7], "age"] = np.nan
    frame.loc[3, "spent"] = np.inf
    frame.loc[20:40, "device"] = None
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert main(["audit", str(tmp_path / "log.csv"), *COMMAND]) == 0
    assert (
        "24 of 500 rows have missing or non-finite values and are left out: rows 1, 4, 8, 21, 22, 23, 24, 25, 26, 27, …"
    ) in capsys.readouterr().out
    found = audited([str(tmp_path / "log.csv")], capsys)["rows_left_out"]
    assert found == [1, 4, 8, *range(21, 42)]


def test_the_example_log(capsys: pytest.CaptureFixture[str]) -> None:
    """The command of `armspan audit --help` goes through, and says yes to diverse."""
    content = audited([str(EXAMPLE), "--intercept"], capsys)
    assert content["columns_left_out"] == {
        "visit_id": "an identifier",
        "propensity": "the probability of the choice",
    }
    assert len(content["verdicts"]) == 4
    assert {entry["answer"] for entry in content["verdicts"]} <= {"yes", "no", "not known"}
    assert content["verdicts"][1]["answer"] == "yes"
    assert sum(arm["rows"] for arm in content["arms"]) == len(pd.read_csv(EXAMPLE)) - len(content["rows_left_out"])


def test_spaces_around_the_names_of_columns_do_not_count(tmp_path: Path) -> None:
    """As in files with a space after each comma; an arm's own spaces do."""
    path = tmp_path / "log.csv"
    path.write_text("arm , reward, age\n01,1,2\n 1,2,3\n")
    log = prepare(read(path), arm="arm", reward="reward", features=["age"])
    assert (log.features, log.arms) == (["age"], ["01", " 1"])
    path.write_text("arm,reward,age, age\na,1,2,4\nb,2,3,5\n")
    assert prepare(read(path), arm="arm", reward="reward").features == ["age", " age"]


def test_rows_that_are_longer_than_the_first_line_are_refused_unless_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,reward,age\na,1,30,7\nb,0,40\n")
    with pytest.raises(BadFile, match="a row has more entries than there are columns in the first line"):
        read(path, ",", "arm")
    path.write_text("arm,reward,age\na,1,30,\nb,0,40,\n")
    assert list(read(path, ",", "arm").columns) == ["arm", "reward", "age"]


@pytest.mark.parametrize(
    ("header", "name"),
    [("arm,reward,age,reward", "reward"), ("arm,reward,age,arm", "arm"), ("arm,age,reward,age", "age")],
)
def test_two_columns_of_one_name_are_refused(header: str, name: str, tmp_path: Path) -> None:
    sentence = rf"cannot read .*: columns must have different names, got '{name}' 2 times$"
    csv, parquet = tmp_path / "log.csv", tmp_path / "log.parquet"
    csv.write_text(f"{header}\n1,2,3,4\n", encoding="utf-8-sig")
    pq.write_table(pa.Table.from_arrays([pa.array([1.0])] * 4, names=header.split(",")), parquet)
    for path in (csv, parquet):
        with pytest.raises(BadFile, match=sentence):
            read(path)
    csv.write_text("arm,reward,age,,\na,1,2,3,4\n")
    assert list(read(csv).columns) == ["arm", "reward", "age", "Unnamed: 3", "Unnamed: 4"]


@pytest.mark.parametrize("index", [["age"], ["visits", "arm"]])
def test_the_named_index_of_a_parquet_file_is_a_column(index: list[str], tmp_path: Path) -> None:
    frame = table(arm=np.resize([1, 2, None], N))
    frame.set_index(index).to_parquet(tmp_path / "log.parquet")
    found = read(tmp_path / "log.parquet")
    assert set(found.columns) == set(frame.columns)
    np.testing.assert_array_equal(prepared(found, features=["age", "visits"]).X, prepared(frame).X)
    frame.set_index("age", drop=False).to_parquet(tmp_path / "log.parquet")
    assert list(read(tmp_path / "log.parquet").columns) == list(frame.columns)
    frame.set_index(frame["age"].rename(None)).to_parquet(tmp_path / "log.parquet")  # these are labels of rows
    assert list(read(tmp_path / "log.parquet").columns) == list(frame.columns)


def test_numbers_may_name_the_columns_of_a_parquet_file(tmp_path: Path) -> None:
    frame = table()
    frame.columns = pd.Index([0, 1, 2, 3])
    frame.to_parquet(tmp_path / "log.parquet")
    assert prepared(read(tmp_path / "log.parquet", names=["0"]), arm="0", reward="1").features == ["2", "3"]


@pytest.mark.parametrize("sep", ["", "::", "→"])
def test_what_cannot_separate_columns_is_refused(sep: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm reward\tage\n1 2\t3\n")
    with pytest.raises(InvalidParameter, match=rf"--sep must be a single ASCII character or one of .*, got '{sep}'$"):
        read(tmp_path / "log.csv", sep)
    assert list(read(tmp_path / "log.csv", "\\s+").columns) == ["arm", "reward", "age"]
    assert list(read(tmp_path / "log.csv", "\\t").columns) == ["arm reward", "age"]


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("1,234", "write numbers without thousands separators, and decimals with a point"),
        (" -1,234,567.5 ", "write numbers without thousands separators, and decimals with a point"),
        ("0,5", "write numbers without thousands separators, and decimals with a point"),
        ("n/a here", "leave empty what is not known"),
        ("oops", "leave empty what is not known"),
    ],
)
@pytest.mark.parametrize("column", ["reward", "age"])
def test_words_among_numbers_are_refused(
    column: str, word: str, advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their rows are not left out: those with commas are the large ones."""
    frame = table().astype({column: object})
    frame.loc[[6, 8, 200], column] = word
    path = tmp_path / "log.csv"
    frame.to_csv(path, index=False)
    assert main(["audit", str(path)]) == 2
    got = f"got words in 3 of 300 rows, such as {word!r} in row 7; {advice}\n"
    assert capsys.readouterr().err == f"armspan: column '{column}' must hold numbers, {got}"


def test_numbers_that_mostly_have_commas_are_no_words() -> None:
    """They are more than there can be categories, and the column would be left out as one of words."""
    for column in (table(reward=[f"{i},5" for i in range(N)]), table(age=[f"{i + 1:,}" for i in range(800, 800 + N)])):
        with pytest.raises(BadFile, match=r"must hold numbers, got words in .*without thousands separators"):
            prepared(column)


def test_marks_of_missing_values_are_missing(tmp_path: Path) -> None:
    frame = table().astype({"age": object})
    marks = ["?", " ", "-", "NA", "n/a", "None", " nan ", "unknown", "NULL", "."]
    frame.loc[: len(marks) - 1, "age"] = marks
    frame.to_csv(tmp_path / "log.csv", index=False)
    log = prepared(read(tmp_path / "log.csv"))
    assert log.bad == list(range(1, len(marks) + 1))
    assert log.missing == {"age": len(marks)}


def test_a_word_at_the_end_of_a_long_file_is_found_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A long file is read in pieces, and pandas warns where a column is numbers in one and words in another."""
    path, n = tmp_path / "log.csv", 150_000
    path.write_text("arm,reward,age\n" + "".join(f"{i % 2},1,{'oops' if i == n - 1 else i}\n" for i in range(n)))
    assert main(["audit", str(path)]) == 2
    assert "got words in 1 of 150,000 rows, such as 'oops' in row 150000" in capsys.readouterr().err


def test_columns_with_missing_values_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = diverse(600)
    frame.loc[::3, "device"] = "NA"
    frame.loc[7, "age"] = np.inf
    frame.loc[[3, 8], "offer"] = None
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert main(["audit", str(tmp_path / "log.csv"), *COMMAND]) == 0
    assert (
        "\nMissing or non-finite: offer in 2 rows, age in 1 row, device in 200 rows. "
        "In a CSV file, words such as NA and None count as missing.\n"
    ) in capsys.readouterr().out
    assert audited([str(tmp_path / "log.csv")], capsys)["missing"] == {"offer": 2, "age": 1, "device": 200}
    frame["age"] = np.where(frame["device"] == "NA", 1, np.nan)
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert main(["audit", str(tmp_path / "log.csv"), *COMMAND]) == 2
    sentence = "got 600 rows with missing values: offer in 2 rows, age in 400 rows, device in 200 rows\n"
    assert capsys.readouterr().err.endswith(sentence)


@pytest.mark.parametrize("entry", [[1.5, 2], {"size": 3}, [["a"], []], ["a", "b"]])
def test_lists_and_records_are_no_features(entry: Any, tmp_path: Path) -> None:
    frame = table(tags=[entry] * (N - 1) + [None])
    frame.to_parquet(tmp_path / "log.parquet")
    found = read(tmp_path / "log.parquet")
    log = prepared(found)
    assert (log.features, log.left_out, log.bad) == (["age", "visits"], {"tags": "lists or records"}, [])
    for options in ({"features": ["tags"]}, {"reward": "tags"}, {"arm": "tags"}):
        with pytest.raises(BadFile, match="column 'tags' must hold numbers or words, got "):
            prepared(found, **options)


def test_dates_are_times(tmp_path: Path) -> None:
    days = pd.Series(pd.date_range("2024-01-01", periods=N))
    table(day=days.dt.date, hour=days.dt.time, when=days).to_parquet(tmp_path / "log.parquet")
    assert prepared(read(tmp_path / "log.parquet")).left_out == dict.fromkeys(["day", "hour", "when"], "a time")


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
def test_durations_are_seconds_and_may_be_missing(unit: Any, tmp_path: Path) -> None:
    seconds = np.arange(N, dtype=float)
    wait = pd.Series(pd.to_timedelta(seconds, unit="s")).dt.as_unit(unit)
    wait[4] = None
    table(wait=wait).to_parquet(tmp_path / "log.parquet")
    log = prepared(read(tmp_path / "log.parquet"))
    assert (log.features, log.bad, log.missing) == (["age", "visits", "wait"], [5], {"wait": 1})
    np.testing.assert_array_equal(log.X[:, 2], np.delete(seconds, 4))
    assert "wait is a duration, in seconds." in log.notes
    assert INTERCEPT not in log.features


@pytest.mark.parametrize("first", [True, False])
def test_a_category_does_not_take_the_name_of_a_column(first: bool) -> None:
    words, other = np.resize(["laptop", "phone"], N), np.linspace(0, 1, N)
    added = {"device": words, "device=phone": other}
    frame = table(**(added if first else dict(reversed(added.items()))))
    for options in ({}, {"reward": "device=phone"}, {"features": ["device", "device=phone"]}):
        with pytest.raises(
            InvalidParameter, match=r"^columns and their categories must have different names, got 'dev"
        ):
            prepared(frame, **options)
    assert prepared(frame, exclude=["device=phone"]).features == ["age", "visits", "device=phone", INTERCEPT]
    with pytest.raises(InvalidParameter, match=r"got 'a=b=c' from both 'a' and 'a=b'$"):
        prepared(table(**{"a": np.resize(["", "b=c"], N), "a=b": np.resize(["", "c"], N)}))


def test_a_feature_is_not_called_intercept_where_one_is_added() -> None:
    frame = table(intercept=np.linspace(0, 1, N))
    sentence = "a feature must not be called 'intercept' where one is added, got such a column"
    with pytest.raises(InvalidParameter, match=sentence):
        prepared(frame, intercept=True)
    with pytest.raises(InvalidParameter, match=sentence):
        prepared(frame.assign(device=np.resize(["phone", "laptop"], N)))
    assert prepared(frame).features == ["age", "visits", "intercept"]


def test_line_breaks_in_names_do_not_break_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = diverse(400).rename(columns={"age": "age\n(years)"})
    frame["device"] = frame["device"].str.replace("p", "\n")
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert main(["audit", str(tmp_path / "log.csv"), *COMMAND]) == 0
    assert capsys.readouterr().out.startswith(
        "Features: age (years), visits, device=la\\nto\\n, device=tablet, intercept\n"
    )


def test_a_column_may_say_which_rows_belong_together() -> None:
    frame = table(visitor=[f"0{i % 50}" for i in range(N)])
    log = prepared(frame, by="visitor")
    assert (log.features, log.by) == (["age", "visits"], frame["visitor"].tolist())
    assert log.left_out == {"visitor": "says which rows belong together"}
    frame.loc[3, "visitor"] = None
    log = prepared(frame, by="visitor")
    assert (log.bad, log.missing) == ([4], {"visitor": 1})
    assert log.by is not None
    assert len(log.by) == len(log.X) == N - 1


def test_labels_of_rows_are_read_as_they_stand_and_words_for_nothing_are_none(tmp_path: Path) -> None:
    frame = table(visitor=["1", "01", "NA", ""] * (N // 4))
    frame.to_csv(tmp_path / "log.csv", index=False)
    log = prepared(read(tmp_path / "log.csv", names=["arm", "visitor"]), by="visitor")
    assert log.by == ["1", "01"] * (N // 4)
    assert log.missing == {"visitor": N // 2}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("user_id", range(40)),
        ("User ID", range(40)),
        ("Visitor", [float(i) for i in range(40)] + [None]),
        ("session", [f"s{i}" for i in range(40)]),
        ("customerid", [f"{i}" for i in range(40)]),
    ],
)
def test_an_identifier_that_recurs_is_asked_about(name: str, values: Any) -> None:
    frame = table(**{name: [values[i % len(values)] for i in range(N)]})
    quoted = f"'{name}'" if " " in name else name
    question = (
        f"{name} has 40 different values in {N} rows. If rows with the same one belong together, such as the visits of "
        f"one visitor, add --by {quoted}: they are not independent."
    )
    assert prepared(frame).left_out == {name: "an identifier"}
    for options in ({}, {"features": ["age"]}, {"exclude": [name]}):
        assert [words for words in prepared(frame, **options).words() if "--by" in words] == [question]
    assert not [words for words in prepared(frame, by=name).words() if "--by" in words]


@pytest.mark.parametrize(
    ("name", "values"),
    [("user_id", range(N)), ("unnamed: 0", [i % 30 for i in range(N)]), ("user", [i % 2 for i in range(N)])],
)
def test_what_tells_rows_apart_or_is_a_flag_is_not_asked_about(name: str, values: Any) -> None:
    log = prepared(table(**{name: values}))
    assert not [words for words in log.words() if "--by" in words]
    assert ("user" in log.features) == (name == "user")


def test_amounts_and_categories_are_features_whatever_they_are_called() -> None:
    amounts, kinds = np.linspace(0.5, 99.25, N), ["new", "old", "lost"] * (N // 3)
    log = prepared(table(account=amounts, customer=kinds))
    assert log.features == ["age", "visits", "account", "customer=new", "customer=old", "intercept"]


@pytest.mark.parametrize("name", ["user", "user_id", "misc"])
def test_columns_of_records_are_left_out(tmp_path: Path, name: str) -> None:
    frame = table()
    frame[name] = pd.Series([{"name": f"v{i % 30}", "age": i % 30} for i in range(N)])
    frame.to_parquet(tmp_path / "log.parquet")
    log = prepared(read(tmp_path / "log.parquet"))
    assert list(log.left_out) == [name]
    assert log.features == ["age", "visits"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "arm"}, "--by must name another column than --arm and --reward, got 'arm'"),
        ({"by": "age", "features": ["age", "visits"]}, "--by and --features must not both name 'age'"),
        ({"by": "visitor"}, "the table must have a column 'visitor'"),
    ],
)
def test_labels_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        prepared(table(), **options)
