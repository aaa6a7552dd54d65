"""The command line: what it prints, what it writes, exit codes, and Ctrl-C."""

import html
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import armspan
from armspan.cli.main import main
from armspan.simulation import load_result

ROOT = Path(__file__).parents[2]
SMALL = ["--runs", "5", "--horizon", "300", "--draws", "5"]
EXAMPLE = str(ROOT / "examples" / "offers.toml")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"armspan {armspan.__version__}\n"


def test_reproduce_prints_tables_and_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "all", *SMALL, "--out", str(tmp_path / "new" / "folder")]) == 0
    out = capsys.readouterr().out
    for text in ("Figure 1a", "Figure 1b", "5 random draws of θ", "a typical draw of θ", "Diversity dial", "LinUCB-d"):
        assert text in out
    assert (tmp_path / "new" / "folder" / "report.html").exists()


def test_reproduce_one_figure_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "1b", *SMALL, "--json", "--seed", "3", "--engine", "python"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert list(content["figures"]) == ["1b"]
    assert content["settings"]["seed"] == 3


def test_reproduce_two_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "1b", "1a", *SMALL]) == 0
    out = capsys.readouterr().out
    assert out.index("Figure 1a: ") < out.index("Figure 1b: ")
    assert "was not run with it" not in out
    assert main(["reproduce", "1b", *SMALL]) == 0
    assert "figure 1a was not run with it: armspan reproduce 1a 1b." in capsys.readouterr().out
    assert main(["reproduce", "1b", "arena"]) == 2
    assert "figure must be arena alone, got 1b arena" in capsys.readouterr().err


def test_simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--runs", "5", "--horizon", "400", "--seed", "9", "--out", str(tmp_path)]
    assert main(["simulate", EXAMPLE, *options]) == 0
    assert "Three offers, four kinds of visitors" in capsys.readouterr().out
    result = load_result(tmp_path / "result.npz")
    assert (result.runs.size, result.horizon, result.seed) == (5, 400, 9)
    assert main(["simulate", EXAMPLE, *options[:4], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 400


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["reproduce", "2z"],
            "figure must be one of 1a, 1b, 1c, dial, idea, predictions, tails, arena, adversary or all, got '2z'",
        ),
        (["reproduce", "1a", "--runs", "0"], "runs must be an integer from 1 to 4294967296, got 0"),
        (["reproduce", "1a", "--horizon", "-5"], "horizon must be an integer from 1 to 4294967296, got -5"),
        (["reproduce", "1a", "--seed", "-1"], "seed must be an integer from 0"),
        (["reproduce", "1c", "--runs", "0"], "runs must be an integer from 1 to 4294967296, got 0"),
        (["reproduce", "1c", "--draws", "0"], "draws must be an integer >= 1, got 0"),
        (["reproduce", "1a", "--engine", "gpu"], "engine must be one of auto, cpu, cuda, python, got 'gpu'"),
        (
            ["reproduce", "1a", "--out", "/proc/nowhere"],
            "--out must be a folder that can be written, got /proc/nowhere",
        ),
        (["simulate", "missing.toml"], "cannot read missing.toml: No such file or directory"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"armspan: {sentence}")
    assert captured.err.count("\n") == 1


def test_what_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results").touch()
    assert main(["reproduce", "1a", "--runs", "5", "--horizon", "100", "--out", str(tmp_path)]) == 2
    assert "cannot write or read" in capsys.readouterr().err
    (tmp_path / "results").unlink()
    (tmp_path / "report.html").mkdir()
    assert main(["reproduce", "1a", "--runs", "5", "--horizon", "100", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_one_run_is_still_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "1a", "--runs", "1", "--horizon", "200", "--json"]) == 0

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(capsys.readouterr().out, parse_constant=refuse)


def test_nobody_reads_what_is_printed() -> None:
    command = f"{sys.executable} -m armspan.cli.main reproduce 1a --runs 5 --horizon 100 | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "arguments", [[], ["dance"], ["reproduce", "1a", "--runs", "many"], ["simulate"], ["reproduce", "1a", "--colour"]]
)
def test_what_the_parser_refuses_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unknown_option_refers_to_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["reproduce", "--figure", "1a"], "armspan reproduce: unrecognized arguments: --figure"),
        (["warm-up", "--colour", "red"], "armspan warm-up: unrecognized arguments: --colour red"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert capsys.readouterr().err == f"{said} (see armspan {arguments[0]} --help)\n"


def test_ctrl_c_ends_a_long_run_quickly_and_keeps_what_is_finished(tmp_path: Path) -> None:
    """The signal comes when figure 1a is done and what follows is under way."""
    command = [sys.executable, "-m", "armspan.cli.main", "reproduce", "all", "--runs", "2000", "--horizon", "9000"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background, shells ignore it
    )
    first = tmp_path / "results" / "1a.npz"
    while not first.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert err.startswith("armspan: stopped")
    assert err.count("\n") == 1
    assert "Figure 1a" in out
    assert "Diversity dial" not in out
    assert "Figure 1a" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert load_result(first).runs.size == 2000


def test_explain_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.toml"
    kinds = "".join(f'[[policies]]\nkind = "{kind}"\n' for kind in ("LinUCBd", "ContextUCB", "Greedy"))
    spec.write_text(f'horizon = 3000\nruns = 6\n[environment]\nkind = "paper_1b"\n{kinds}')
    assert main(["explain-run", str(spec), "--out", str(tmp_path / "why")]) == 0
    out = capsys.readouterr().out
    assert "𝒟 widths still above the gap" in out
    page = (tmp_path / "why" / "events.html").read_text(encoding="utf-8")
    assert "Does theory promise constant regret? Yes." in page
    assert page.count("<figure>") == 3
    assert main(["explain-run", str(spec), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert set(content) == {"LinUCB-d", "greedy"}
    assert len(content["greedy"]["last_suboptimal"]) == 6
    spec.write_text(spec.read_text().replace("paper_1b", "paper_1c").replace("ContextUCB", "LinUCB"))
    alone = tmp_path / "alone.toml"
    alone.write_text('horizon = 9\n[environment]\nkind = "paper_1a"\n[[policies]]\nkind = "ContextUCB"\n')
    assert main(["explain-run", str(alone)]) == 2
    assert "explain-run needs at least one linear policy, got UCB per context" in capsys.readouterr().err
    alone.write_text(alone.read_text().replace("ContextUCB", "LinUCBd"))
    assert main(["explain-run", str(alone), "--horizon", "1", "--out", str(tmp_path / "one")]) == 0
    capsys.readouterr()
    assert main(["explain-run", str(spec), "--runs", "3", "--json"]) == 0  # meta-contexts
    assert len(json.loads(capsys.readouterr().out)["greedy"]["last_suboptimal"]) == 3


def test_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text('horizon = 10\n[environment]\nkind = "paper_1b"\n[[policies]]\nkind = "Greedy"\n')
    assert main(["bound", str(spec)]) == 0
    out = capsys.readouterr().out
    assert "λ₀ = 0.16917" in out
    assert "total" in out
    assert main(["bound", str(spec), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert 0 < content["forecast"]["regret"] < 10
    assert content["bound"]["total"] == pytest.approx(armspan.regret_bound(armspan.environments.paper_1b()).total)
    spec.write_text(spec.read_text().replace('"paper_1b"', '"diversity_dial"\nlevel = 0'))
    assert main(["bound", str(spec), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bound"] is None
    assert main(["bound", str(spec)]) == 0
    out = capsys.readouterr().out
    assert "No bound: no theorem applies" in out
    assert "Rough forecast for LinUCB-d up to step 10, from a run without noise\n" in out


def test_audit_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    X, chosen = rng.normal(size=(400, 2)), rng.integers(2, size=400)
    theta = np.array([[1.0, 0.5], [-0.5, 1.0]])
    rewards = np.einsum("nd,nd->n", X, theta[chosen]) + 0.1 * rng.normal(size=400)
    table = pd.DataFrame({"age": X[:, 0], "visits": X[:, 1], "offer": np.array(["b", "a"])[chosen], "paid": rewards})
    table.loc[3, "age"], table.loc[10, "paid"] = np.nan, np.inf
    path = tmp_path / "log.csv"
    table.to_csv(path, index=False)
    command = ["audit", str(path), "--arm", "offer", "--reward", "paid"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "2 of 400 rows have missing or non-finite values and are left out: rows 4, 11" in out
    assert "Features: age, visits" in out
    assert "No feature is constant: add --intercept" in out
    assert f"{path.name}: 398 decisions, 2 arms, 2 features" in out
    assert "Diverse? (Does playing the best arm teach about every arm?) Yes." in out
    table.to_parquet(tmp_path / "log.parquet")
    folder = tmp_path / "out"
    parquet = ["audit", str(tmp_path / "log.parquet"), *command[2:], "--out", str(folder)]
    assert main([*parquet, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert json.loads((folder / "audit.json").read_text()) == content
    page = (folder / "audit.html").read_text()
    assert "2 of 400 rows" in page
    assert out.endswith("\nSo: keep exploring.\n")
    said = next(line for line in out.splitlines() if line.startswith("Recommended: "))
    section = re.search("<h2 id='section-[0-9]+'>Which policy to run</h2>\n<p>(.*)</p>", page)
    assert section is not None
    assert html.unescape(section[1]) == said
    assert "data:image/svg+xml" in page
    assert (folder / "diversity.png").stat().st_size > 10_000
    assert content["rows_left_out"] == [4, 11]
    best = np.argmax(X @ theta[::-1].T, axis=1)  # a is the second parameter
    for a, entry in enumerate(content["arms"]):
        assert entry["best"][0] <= (best == a).mean() <= entry["best"][1]
        assert 0 < entry["spread"][0] < entry["spread"][1] < 2
    assert [entry["name"] for entry in content["arms"]] == ["a", "b"]
    assert [entry["answer"] for entry in content["verdicts"]] == ["not known", "yes", "not known", "not known"]
    assert (content["features"], content["columns_left_out"]) == (["age", "visits"], {})
    assert (content["rank"], content["level"], content["needed"]) == (2, 0.05, {"share": 0.0075, "spread": 0.005})
    assert content["redundant"] == ""
    assert content["so"].startswith("So: ")
    margin = 0.05 * table["paid"].drop([3, 10]).std(ddof=0)
    assert content["margin"] == pytest.approx(margin)
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "log.parquet").read_bytes()[:200])
    (tmp_path / "words.csv").write_text("arm,reward,size\n1,much,3\n2,little,4\n")
    (tmp_path / "two.csv").write_text("arm,reward\n1,2\n2,3\n")
    for arguments, sentence in (
        ([*command[:2], "--arm", "missing"], "must have a column 'missing'"),
        ([*command, "--features", "age,shoe"], "must have a column 'shoe'"),
        ([*command, "--level", "0.7"], "level must be > 0 and < 0.5, got 0.7"),
        ([*command, "--margin", "0"], "margin must be > 0, got 0"),
        ([*command, "--strict", "--noise-scale", "-1"], "noise_scale must be > 0, got -1"),
        ([*command, "--features", "age,age"], "--features must name different columns"),
        ([*command, "--exclude", "shoe"], "must have a column 'shoe'"),
        ([*command, "--exclude", "age,visits"], "must have columns with features besides 'offer' and 'paid'"),
        ([*command, "--features", "age", "--exclude", "age"], "--exclude and --features must not both name 'age'"),
        ([*command, "--sep", ";"], "must have a column 'offer'"),
        (["audit", str(tmp_path / "words.csv")], "column 'reward' must hold numbers, but has none"),
        (["audit", str(tmp_path / "torn.parquet")], "cannot read"),
        (["audit", str(tmp_path / "two.csv")], "must have columns with features besides 'arm' and 'reward'"),
        (["audit", "log.xls"], "FILE must end in .csv or .parquet"),
        (["audit", str(tmp_path / "no.csv")], "No such file"),
    ):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert sentence in err
        assert err.count("\n") == 1
