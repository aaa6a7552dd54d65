"""What a notebook shows of results, audits and agents: small tables, escaped, that need no script and no colour."""

import html
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import armspan
from armspan import _html
from armspan.diversity import audit_log
from armspan.environments import FiniteContexts, paper_1a
from armspan.experiments import PROBLEMS, Arena, Bout, forecast

ODD = "<script>'&\""


class Reader(HTMLParser):
    """Tags that are open, tags that were seen, and the cells of each row."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


def shown() -> dict[str, Any]:
    env = FiniteContexts(paper_1a().features, paper_1a().theta, name=ODD)
    result = armspan.simulate(env, [armspan.LinUCBd(label=ODD), armspan.Greedy()], horizon=100, runs=3)
    rng = np.random.default_rng(0)
    arms, X = rng.integers(2, size=400), rng.normal(size=(400, 2))
    log = audit_log(X, [[ODD, "b"][a] for a in arms], rng.normal(size=400), name=ODD)
    agent = armspan.LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(arms=[ODD, "b"], n_features=2)
    general = armspan.LinTS(feature_bound=1.0).agent(arms=[ODD, "b"], n_features=2)
    audit = armspan.audit(env, arm_names=[ODD, "b"])
    diary = armspan.Diary(agent)
    for x in rng.normal(size=(100, 2)):
        diary.note(x / 4)
        agent.update(agent.choose(x / 4), x / 4, 1.0)
    return {
        "comparison": result.compare(ODD, "greedy"),
        "scores": agent.scores(np.ones(2) / 2),
        "explanation": agent.explain(np.ones(2) / 2, ODD),
        "diary": diary,
        "arena": Arena((Bout(PROBLEMS[0], env, result),)),
        "growth": result.growth("greedy"),
        "bound": armspan.regret_bound(env),
        "forecast": forecast(env, horizon=100),
        "assumptions": env.assumptions(),
        "recommendation": armspan.recommend(audit),
        "result": result,
        "summary": result.summary(),
        "audit": audit,
        "log": log,
        "agent": agent,
        "general": general,
    }


SHOWN = shown()
NAMELESS = ("growth", "bound", "forecast", "assumptions", "diary", "recommendation")
"""What has no names that a user gives."""


@pytest.mark.parametrize("name", SHOWN)
def test_names_are_escaped_and_headers_have_a_scope(name: str) -> None:
    text = SHOWN[name]._repr_html_()
    read = Reader(text)
    assert not read.open
    tags = {tag for tag, _ in read.seen}
    assert tags <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in read.seen if tag == "th")
    styles = {attributes["style"] for _, attributes in read.seen if "style" in attributes}
    kinds = {part.partition(":")[0].strip() for style in styles for part in style.split(";")}
    assert kinds <= {"padding", "text-align"}  # colours are the theme's
    assert name in NAMELESS or any(ODD in cell for row in read.rows for cell in row) or ODD in html.unescape(text)
    assert "<script" not in text


@pytest.mark.parametrize("name", SHOWN)
def test_a_heading_stands_where_its_column_does(name: str) -> None:
    for body in re.findall(r"<table>.*?</table>", SHOWN[name]._repr_html_()):
        rows = [re.findall(r"<t[hd][^>]*style='([^']*)'", row) for row in body.split("<tr>")[1:]]
        assert all(row == rows[0] for row in rows), name
        assert len(rows[0]) == len(Reader(body).rows[0])  # every cell has its own space


def test_numbers_are_on_the_right_and_words_on_the_left() -> None:
    table = _html.table(("arm", "pulls", "words"), [("0", "1,200", "few"), ("1", "-3", "4 more")])
    sides = re.findall(r"text-align: (\w+)", table)
    assert sides == ["left", "right", "left"] * 3


def test_a_comparison_shows_the_numbers_of_its_sentence() -> None:
    found = SHOWN["comparison"]
    text = html.unescape(found._repr_html_())
    for number in (f"{found.difference:,.1f}", f"{found.low:,.1f} to {found.high:,.1f}", f"{100 * found.ahead:.0f} %"):
        assert number in text
        assert number in str(found)


def test_a_diary_shows_how_exploration_went() -> None:
    diary = SHOWN["diary"]
    rows = Reader(diary._repr_html_()).rows
    assert rows[0] == ["decisions", "notes", "not the best estimate", "intervals overlap"]
    assert [row[0] for row in rows[1:]] == [f"{first} to {first + 19}" for first in range(0, 100, 20)]
    assert rows[1][3] == f"{100 * diary.open[:20].mean():.0f} %"
    assert "0 notes" in armspan.Diary(SHOWN["agent"])._repr_html_()
    assert repr(diary) == "<Diary: 100 notes, the last after 99 decisions>"


def test_a_bound_shows_its_parts() -> None:
    bound, rows = SHOWN["bound"], Reader(SHOWN["bound"]._repr_html_()).rows
    assert f"{bound.total:,.4g}" in [row[1] for row in rows]
    assert len(rows) == 6


def test_scores_of_many_contexts_are_a_sentence() -> None:
    many = SHOWN["agent"].scores_many(np.ones((3, 2)) / 2)
    assert many._repr_html_() == "<p>Scores of 2 arms in 3 contexts</p>"


def test_a_result_shows_its_summary() -> None:
    rows = Reader(SHOWN["result"]._repr_html_()).rows
    assert rows[0] == ["policy", "mean", "sd", "95 % interval of the mean", "growth"]
    assert [row[:2] for row in rows[1:]] == [[row.policy, f"{row.mean:,.1f}"] for row in SHOWN["summary"]]


def test_an_audit_shows_its_answers() -> None:
    for name in ("audit", "log"):
        rows = Reader(SHOWN[name]._repr_html_()).rows
        assert [verdict.answer for verdict in SHOWN[name].verdicts] == [row[1] for row in rows if len(row) == 3][1:]


def test_many_arms_are_not_all_shown() -> None:
    agent = armspan.LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(n_arms=1500, n_features=2)
    text = agent._repr_html_()
    assert len(Reader(text).rows) == 1 + _html.MOST_ROWS
    assert "and 1,480 more" in text
    many = armspan.LinTS(feature_bound=1.0).agent(n_arms=100, n_features=2)._repr_html_()
    assert re.search(r"18, 19, …", many)
    assert "20, 21" not in many
