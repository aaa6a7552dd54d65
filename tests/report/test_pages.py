"""Pages for everyone: contents, headers with a scope, figures told in words, and words that can be read."""

import html
import re
from importlib import resources
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from armspan.environments import paper_1b
from armspan.experiments import ALL, Effort, Tails, reproduce
from armspan.experiments.predictions import predict
from armspan.experiments.reproduction import Predictions
from armspan.experiments.tails import run_tail
from armspan.plots import curves
from armspan.plots.ends import name_ends
from armspan.plots.looks import COLOURS, look, looks
from armspan.policies import ContextUCB, Greedy, LinUCB, LinUCBd
from armspan.report import alts, figures, page
from armspan.report.idea import idea_figure
from armspan.report.predictions import predictions_figure
from armspan.report.tails import tails_figure
from armspan.simulation import simulate

EFFORT = Effort(runs=4, horizon=400, draws=6)


@pytest.fixture(scope="module")
def outcomes() -> Any:
    return dict(reproduce(ALL, EFFORT, lambda stage: lambda done, total: None))


def quiet(done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def drawn(outcomes: Any) -> dict[str, Figure]:
    four = [LinUCBd(), LinUCB(), Greedy(), ContextUCB()]
    long = simulate(paper_1b(), four, horizon=5000, runs=5)
    seen = Predictions(
        tuple(predict("finite-diverse", np.random.default_rng(i), runs=4, horizon=300, seed=0) for i in (0, 1))
    )
    tails = Tails((run_tail(0.2, runs=60, horizon=300, seed=0, engine="cpu", progress=quiet),), 300)
    return {
        "1b": figures.regret_figure(long, "a title of some length, which must not meet the names"),
        "survey": figures.survey_figure(outcomes["survey"]),
        "dial": figures.dial_figure(outcomes["dial"]),
        "idea": idea_figure(outcomes["idea"]),
        "predictions": predictions_figure(seen.entries),
        "tails": tails_figure(tails),
    }


def boxes(figure: Figure) -> list[tuple[str, Any]]:
    """Every text that is drawn, and where: ticks beyond the limits are not."""
    canvas: Any = FigureCanvasAgg(figure)
    seen: list[Text] = []
    usual = Text.draw

    def watched(self: Any, *args: Any, **options: Any) -> None:
        if self.get_visible() and self.get_text().strip():
            seen.append(self)
        usual(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        canvas.draw()  # which lays everything out
        patch.setattr(Text, "draw", watched)
        canvas.draw()
    return [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in dict.fromkeys(seen)]


@pytest.mark.parametrize("name", ["1b", "survey", "dial", "idea", "predictions", "tails"])
def test_no_words_meet_and_none_leave_the_figure(name: str, drawn: dict[str, Figure]) -> None:
    figure = drawn[name]
    width, height = figure.bbox.size
    found = boxes(figure)
    assert len(found) > 5
    for words, box in found:
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -1, words
    for (first, one), (second, other) in combinations(found, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert wide < 2 or high < 2, (first, second)


@pytest.mark.parametrize("name", ["1b", "survey", "dial", "idea", "predictions", "tails"])
def test_words_are_dark(name: str, drawn: dict[str, Figure]) -> None:
    palette = {colour.lower() for colour in COLOURS[:-1]}
    for text in drawn[name].findobj(Text):
        assert str(text.get_color()).lower() not in palette, text.get_text()


def test_names_of_lines_that_leave_at_the_top_are_in_the_order_of_their_ends() -> None:
    figure = Figure()
    axes, ends = figure.subplots(), np.array([50.0, 1.0, 900.0, 300.0])
    axes.set(xlim=(0, 1), ylim=(0, 100))
    name_ends(axes, ["b", "a", "d", "c"], ends, [look(i) for i in range(4)])
    places = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert sorted(places, key=places.__getitem__) == ["a", "b", "c", "d"]
    assert len(axes.lines) == 4 + 2  # a piece of each line, and what joins it where the line ends in the axes


def test_the_first_49_lines_look_different() -> None:
    assert len({look(number) for number in range(49)}) == 49
    names = ["greedy", "mine", "LinUCB-d", "yours", *(f"policy {i}" for i in range(20))]
    assert len(set(looks(names))) == len(names)
    assert looks(["x", "greedy"])[1] == looks(["greedy"])[0] == look(2)


def test_zero_has_a_place_and_a_break_on_the_dial(drawn: dict[str, Figure]) -> None:
    axes = drawn["dial"].axes[0]
    ticks = dict(zip([label.get_text() for label in axes.get_xticklabels()], axes.get_xticks(), strict=True))
    lowest = min(np.asarray(line.get_xdata(), dtype=float).min() for line in axes.lines if line.get_marker() == "o")
    assert ticks["0"] == lowest
    assert len([line for line in axes.lines if isinstance(line.get_marker(), list)]) == 1


def test_the_idea_has_one_legend_and_equal_axes(drawn: dict[str, Figure]) -> None:
    figure = drawn["idea"]
    assert sum(len(part.legends) for part in figure.subfigs) == 1
    assert not any(axes.get_legend() for axes in figure.axes)
    for row in range(3):
        columns = figure.axes[3 * row : 3 * row + 3]
        assert len({(axes.get_xlim(), axes.get_ylim()) for axes in columns}) == 1


def test_the_survey_is_in_per_cent(drawn: dict[str, Figure]) -> None:
    axes = drawn["survey"].axes[0]
    labels = [label.get_text() for label in (*axes.get_xticklabels(), *axes.get_yticklabels()) if label.get_text()]
    assert all(label.endswith(" %") for label in labels)


def test_figures_are_told_with_their_numbers(outcomes: Any) -> None:
    result = outcomes["1a"].result
    told = alts.regret(result, "Figure 1a")
    for row in result.summary():
        assert f"{row.policy} {row.mean:.3g}" in told or f"{row.policy} {row.mean:,.0f}" in told
    assert f"after {EFFORT.horizon:,} steps" in alts.dial(outcomes["dial"])
    assert f"{outcomes['dial'].lambda_0[-1]:.3g}" in alts.dial(outcomes["dial"])
    for words in outcomes["idea"].words:
        assert words in alts.idea(outcomes["idea"])
    for share in outcomes["survey"].shares():
        assert f"{100 * share.share:.2f} %" in alts.survey(outcomes["survey"])


def test_a_page_has_contents_and_its_headers_a_scope() -> None:
    body = [page.heading(name) for name in ("One & two", "Three", "Four")]
    body += [page.table(["policy", "mean"], [["<b>", "1"]]), page.word_table(["a", "b", "c"], [["x", "holds", "z"]])]
    text = page.page("A title", "A lead.", body)
    links = re.findall(r"<a href='#([^']*)'>([^<]*)</a>", text)
    assert [html.unescape(words) for _, words in links] == ["One & two", "Three", "Four"]
    for target, words in links:
        assert f"<h2 id='{target}'>{words}</h2>" in text
    assert len(re.findall("<th ", text)) == len(re.findall("<th scope='(?:col|row)'[ >]", text)) == 2 + 1 + 3 + 1
    assert "&lt;b&gt;" in text
    assert "<nav" not in page.page("A title", "A lead.", body[:2])


def test_a_picture_says_what_it_shows_and_can_be_scrolled_by_keyboard() -> None:
    figure = Figure(figsize=(4, 3))
    text = page.picture(figure, "A caption.", "It's 5 < 6.")
    assert "alt='It&#x27;s 5 &lt; 6.'" in text
    assert "tabindex='0'" in text
    assert "<figcaption>A caption.</figcaption>" in text


def test_the_style_knows_the_dark() -> None:
    style = resources.files("armspan.report").joinpath("style.css").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in style
    light, dark = re.findall(r":root \{([^}]*)\}", style)
    names = set(re.findall(r"(--\w+):", light))
    assert names == set(re.findall(r"(--\w+):", dark))
    assert set(re.findall(r"var\((--\w+)\)", style)) <= names


def test_curves_far_apart_are_on_a_log_scale() -> None:
    figure = Figure()
    axes, t = figure.subplots(2), np.array([1, 10, 100, 1000])
    flat = np.array([[1.0, 2.0, 3.0, 3.0], [1.0, 2.0, 3.0, 4.0]])
    for one, middle in zip(axes, (flat, flat * [[1.0], [10.0]]), strict=True):
        curves.scales(one, curves.Curves("ab", t, middle, middle, middle), None)
    assert [one.get_yscale() for one in axes] == ["linear", "log"]
