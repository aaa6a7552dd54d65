"""What a notebook shows of results, audits and agents: small tables, escaped, that need no script and no colour."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import armspan
from armspan import _html
from armspan.diversity import audit_log
from armspan.environments import FiniteContexts, paper_1a

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
    return {
        "result": result,
        "summary": result.summary(),
        "audit": audit,
        "log": log,
        "agent": agent,
        "general": general,
    }


SHOWN = shown()


@pytest.mark.parametrize("name", SHOWN)
def test_names_are_escaped_and_headers_have_a_scope(name: str) -> None:
    text = SHOWN[name]._repr_html_()
    read = Reader(text)
    assert not read.open
    tags = {tag for tag, _ in read.seen}
    assert tags <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in read.seen if tag == "th")
    styles = {attributes["style"] for _, attributes in read.seen if "style" in attributes}
    assert all(style.startswith("padding:") and ";" not in style for style in styles)  # colours are the theme's
    assert any(ODD in cell for row in read.rows for cell in row)


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
