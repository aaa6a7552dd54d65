"""python -m benchmarks.truth growth | logs | ties | newcomers | visitors | goals | drift | …: how often we err.

Prints a table in Markdown; with --docs it also puts it into docs/accuracy.md. Problems and curves are of known truth,
and were drawn up without knowledge of the rules that they test.
"""

import argparse
import csv
import math
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.truth import advice, audits, drifts, growth, predictions, real, rules, strictly, visitors
from benchmarks.truth.bent import FAMILIES as BENT
from benchmarks.truth.curves import FAMILIES
from benchmarks.truth.loggers import LOGGERS
from benchmarks.truth.logs import Cell, cells
from benchmarks.truth.newcomers import FAMILIES as NEWCOMERS
from benchmarks.truth.ties import examination as ties
from benchmarks.truth.ties.families import FAMILIES as TIES

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
CELLS = PAGE.with_name("accuracy-logs.csv")


def main() -> None:
    """Run one examination."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=sorted(EXAMINATIONS))
    parser.add_argument(
        "--samples",
        "--logs",
        type=int,
        help="samples of each family, or logs of each cell (default 200; ties, newcomers: 40; bent: 10)",
    )
    parser.add_argument("--strict", action="store_true", help="logs: with the bands that hold under any logging policy")
    parser.add_argument("--seed", type=int, default=0, help="predictions: of the problems (default 0)")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/accuracy.md")
    parser.add_argument("--workers", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    if args.strict and args.docs:
        parser.error("--docs has no place for --strict")
    lines = EXAMINATIONS[args.what](args)
    print("\n".join(lines))
    if args.docs:
        text, count = re.subn(
            rf"(<!-- {args.what} -->\n).*?(\n<!-- /{args.what} -->)",
            lambda found: found[1] + "\n".join(lines) + found[2],
            PAGE.read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        assert count == 1, f"docs/accuracy.md has no place for {args.what}"
        PAGE.write_text(text, encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def percent(share: float) -> str:
    """A share as words."""
    return "–" if math.isnan(share) else f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def spread_out(work: Callable[[Any], Any], jobs: Sequence[Any], workers: int) -> Iterator[Any]:
    """The work on all jobs, in their order, with progress on the terminal."""
    start = time.time()
    with ProcessPoolExecutor(workers) as pool:
        for number, result in enumerate(pool.map(work, jobs), 1):
            if sys.stderr.isatty():
                print(f"\r{number} of {len(jobs)}, {time.time() - start:.0f} s", end="", file=sys.stderr, flush=True)
            yield result
    print(f"\n{time.time() - start:.0f} s", file=sys.stderr)


def growth_table(args: argparse.Namespace, first: int = 0, last: int = len(FAMILIES)) -> list[str]:
    """The confusion table of the growth verdict: one row per family."""
    samples, which = args.samples or 200, range(first, last)
    jobs = [(n, runs, T, samples) for n in which for runs in growth.RUNS for T in growth.HORIZONS]
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    wrong: Counter[int] = Counter()
    for number, score in spread_out(growth.examine_number, jobs, args.workers):
        counts[number] += score[0]
        wrong[number] += score[1]
    rows = []
    for number in which:
        family = growth.ALL[number]
        n = sum(counts[number].values())
        shares = [percent(counts[number][verdict] / n) for verdict in growth.VERDICTS]
        truth = family.truth if family.exponent is None or family.truth != "power" else f"power {family.exponent:.3g}"
        rows.append([family.words.rstrip("."), truth, *shares, percent(wrong[number] / n)])
    each = len(growth.RUNS) * len(growth.HORIZONS) * samples
    note = f"{each:,} samples of each family: {samples} with each of 20, 50 and 100 runs and 5,000, 10⁵ and 10⁶ steps."
    return [note, "", *table(["curves", "truth", *growth.VERDICTS, "wrong"], rows)]


def exponents_table(args: argparse.Namespace) -> list[str]:
    """How often the interval of an exponent held, for all families that grow."""
    growing = [n for n, family in enumerate(growth.ALL) if family.truth != "constant"]
    jobs = [(n, runs, T) for runs in growth.RUNS for n in growing for T in growth.HORIZONS[1:]]
    held: defaultdict[int, list[tuple[str, growth.Held]]] = defaultdict(list)
    for job, (_, found) in zip(jobs, spread_out(growth.examine_exponent, jobs, args.workers), strict=True):
        held[job[1]].append((growth.ALL[job[0]].words.rstrip("."), found))
    rows = []
    for runs, found in held.items():
        row = [str(runs)]
        for which in ("concluded", "undecided"):
            pairs = [(*getattr(one, which), words) for words, one in found]
            total = sum(n for _, n, _ in pairs)
            least = min((hits / n, words) for hits, n, words in pairs if n >= growth.ENOUGH)
            row += [
                f"{total:,}",
                percent(sum(hits for hits, _, _ in pairs) / total),
                f"{percent(least[0])}: {least[1]}",
            ]
        rows.append(row)
    each = ["intervals", "held", "least of any family"]
    return table(["runs", *(f"{which}: {head}" for which in ("concluded", "undecided") for head in each)], rows)


def real_table(args: argparse.Namespace) -> list[str]:
    """The growth verdict on real simulations."""
    samples = args.samples or 40
    rows = [
        [case.words, case.truth, *(percent(counts[v] / samples) for v in growth.VERDICTS)]
        for case, counts in ((case, real.examine(case, samples)) for case in real.CASES)
    ]
    note = f"{samples} samples of 100 runs each."
    return [note, "", *table(["simulation", "truth", *growth.VERDICTS], rows)]


def _logs(args: argparse.Namespace, which: Sequence[Cell]) -> list[audits.Score]:
    work = partial(audits.examine, logs=args.samples or 200, strict=args.strict)
    return list(spread_out(work, which, args.workers))


def _goal(goal: tuple[Cell, float], logs: int, strict: bool) -> tuple[audits.Score, float]:
    cell, quieter = goal
    return audits.examine(cell, logs=logs, strict=strict, quieter=quieter, one_each=True, plain=True), quieter


def logs_table(args: argparse.Namespace) -> list[str]:
    """Wrong answers and coverage, one row per family; all cells go to a CSV file."""
    scores = _logs(args, cells())
    if args.docs and not args.strict:
        with CELLS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["family", "arms", "features", "logger", "rows", "logs", *audits.COLUMNS])
            for score in scores:
                c = score.cell
                numbers = [f"{value:.4g}" for value in score.numbers()]
                writer.writerow([c.family, c.n_arms, c.n_features, c.logger, c.rows, score.logs, *numbers])
    rows = []
    for family in dict.fromkeys(score.cell.family for score in scores):
        own = [score for score in scores if score.cell.family == family]
        rows.append([family, str(len(own)), *audits.summary(own)])
    note = f"{len(scores)} cells, {sum(score.logs for score in scores):,} logs."
    return [note, "", *table(["logs", "cells", *audits.SUMMARY], rows)]


def goals_table(args: argparse.Namespace) -> list[str]:
    """How often a clear case is decided."""
    rows = []
    work = partial(_goal, logs=args.samples or 200, strict=args.strict)
    for score, quieter in spread_out(work, audits.goal_cells(), args.workers):
        c, noise = score.cell, f", noise ÷ {quieter:g}" if quieter > 1 else ""
        shares = [percent(score.share("diverse", answer)) for answer in ("yes", "no", "not known")]
        plain = percent(1 - score.share("plain", "not known"))
        rows.append([c.family + noise, f"{c.n_arms}, {c.n_features}", c.logger, f"{c.rows:,}", *shares, plain])
    head = ["logs", "arms, features", "logging policy", "rows", "yes", "no", "not known", "decided by plain bands"]
    return table(head, rows)


def ties_table(args: argparse.Namespace) -> list[str]:
    """Answers to *diverse?* where an arm nearly leads, one row per family and one for all."""
    scores = list(spread_out(partial(ties.examine, logs=args.samples or 40), ties.cells(), args.workers))
    return _by_family(scores, TIES)


def newcomers_table(args: argparse.Namespace) -> list[str]:
    """The same for families that were drawn up later."""
    cells = ties.cells(NEWCOMERS, LOGGERS)
    return _by_family(list(spread_out(partial(_newcomer, logs=args.samples or 40), cells, args.workers)), NEWCOMERS)


def _newcomer(cell: Cell, logs: int) -> audits.Score:
    return ties.examine(cell, logs, NEWCOMERS)


def visitors_table(args: argparse.Namespace) -> list[str]:
    """Both questions where rows come in groups, one row per family, with labels and without."""
    cells = visitors.cells()
    scores = list(spread_out(partial(audits.examine_visits, logs=args.samples or 200), cells, args.workers))
    rows = []
    for family in (*visitors.FAMILIES, "**all**"):
        own = [pair for pair in scores if family in (pair[0].cell.family, "**all**")]
        words = visitors.FAMILIES[family].story if family in visitors.FAMILIES else family
        by, alone = (audits.summary([pair[side] for pair in own]) for side in (0, 1))
        rows.append([words, *by, *(alone[audits.SUMMARY.index(head)] for head in audits.ALONE)])
    note = f"{len(cells)} cells, {sum(pair[0].logs for pair in scores):,} logs."
    return [note, "", *table(["logs", *audits.SUMMARY, *(f"alone: {head}" for head in audits.ALONE)], rows)]


def bent_table(args: argparse.Namespace) -> list[str]:
    """Answers to *diverse?* where rewards bend, one row per kind of log."""
    cells = ties.cells(BENT, LOGGERS)
    scores = list(spread_out(partial(_bent, logs=args.samples or 10), cells, args.workers))
    rows = []
    for logger, n in (*dict.fromkeys((cell.logger, cell.rows) for cell in cells), ("**all**", 0)):
        own = ties.together([s for s in scores if n in (0, s.cell.rows) and (not n or s.cell.logger == logger)])
        counts = [own.diverse[False, "yes"], own.plain[False, "yes"], own.diverse[True, "no"]]
        yes, by_lines = (percent(own.rate(question, truth=True, answer="yes")) for question in ("diverse", "plain"))
        n_false, n_true = (f"{ties.n_logs(own, truth):,}" for truth in (False, True))
        false_yes, false_yes_by_lines, false_no = map(str, counts)
        told = f"{n:,}" if n else ""
        rows.append([logger, told, n_false, false_yes, false_yes_by_lines, n_true, yes, by_lines, false_no])
    note = f"{len(BENT)} families, {len(cells):,} cells, {sum(score.logs for score in scores):,} logs."
    head = ["logging policy", "rows", "not diverse", "false yes", "with `--linear`"]
    return [note, "", *table([*head, "diverse", "true yes", "with `--linear`", "false no"], rows)]


def rules_table(args: argparse.Namespace) -> list[str]:
    """Wrong answers to *diverse?* in logs written by rules of people."""
    logs = args.samples or 60
    found = spread_out(partial(rules.examine, logs=logs, first=100), list(rules.KINDS), args.workers)
    rows = [[rules.KINDS[kind], str(logs), str(wrong), str(by_lines)] for kind, wrong, by_lines in found]
    return table(["logs", "not diverse", "false yes", "with `--linear`"], rows)


def _bent(cell: Cell, logs: int) -> audits.Score:
    return ties.examine(cell, logs, BENT, lines=True)


def _by_family(scores: Sequence[audits.Score], families: Mapping[str, Any]) -> list[str]:
    groups = [(f.words, [s for s in scores if s.cell.family == name]) for name, f in families.items()]
    rows, enough = [], any(score.logs >= ties.FEWEST for score in scores)
    for words, own in [*groups, ("**all**", scores)]:
        all_own = ties.together(own)
        n_false, n_true = (f"{ties.n_logs(all_own, truth):,}" for truth in (False, True))
        true_no, true_yes = (percent(all_own.rate("diverse", said == "yes", said)) for said in ("no", "yes"))
        false_yes, false_no = str(all_own.diverse[False, "yes"]), str(all_own.diverse[True, "no"])
        worst = [percent(ties.worst(own))] * enough
        rows.append([words, n_false, false_yes, *worst, true_no, n_true, true_yes, false_no])
    note = f"{len(scores):,} cells, {sum(score.logs for score in scores):,} logs."
    worst = ["worst cell"] * enough
    head = ["problems", "not diverse", "false yes", *worst, "true no", "diverse", "true yes", "false no"]
    return [note, "", *table(head, rows)]


def advice_table(args: argparse.Namespace) -> list[str]:
    """How often the advised number of rows settles *diverse?*, and how often the answer on greedy is wrong."""
    logs = args.samples or 60
    cells = list(spread_out(partial(advice.examine_advice, logs=logs), advice.advice_cells(), args.workers))
    rows = []
    for family in dict.fromkeys(found.cell.family for found in cells):
        own = [found for found in cells if found.cell.family == family]
        n = sum(found.open for found in own)
        settled = [percent(sum(f.settled[x] for f in own) / n) if n else "–" for x in advice.FACTORS]
        rows.append([family, str(n), *settled, str(sum(found.beyond for found in own))])
    head = ["logs of 600 rows", "open", "settled by half of N", "by N", "by twice N", "N too large to try"]
    greedy = []
    for kind, counts in spread_out(partial(advice.examine_greedy, logs=3 * logs), list(advice.CONTEXTS), args.workers):
        no = [f"{counts[truth, 'no']} of {counts[truth, 'no'] + counts[truth, 'not known']}" for truth in (True, False)]
        greedy.append([kind, *no])
    second = ["contexts", "no, and it is false", "no, and it is true"]
    return [*table(head, rows), "", *table(second, greedy)]


def drift_table(args: argparse.Namespace) -> list[str]:
    """How often rewards seem to drift, one row per kind of log, and one for all logs of the other tables."""
    found = list(spread_out(partial(drifts.examine, logs=args.samples or 100), drifts.kinds(), args.workers))
    still = [seen for seen in found if seen.name == drifts.STILL]
    others = [seen for seen in found if seen.name != drifts.STILL]
    rows = []
    for seen in sorted(others, key=lambda one: (one.drifts, len(one.half_lives) / one.logs)):
        half_life = f"{sorted(seen.half_lives)[len(seen.half_lives) // 2] * seen.rows:,.0f}" if seen.half_lives else "–"
        share, ratios = percent(len(seen.half_lives) / seen.logs), sorted(seen.errors)
        error = f"{ratios[len(ratios) // 2]:.2f}" if ratios else "–"
        better = f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"
        rows.append([seen.name, f"{seen.rows:,}", "yes" if seen.drifts else "no", share, half_life, better, error])
    said, logs = sum(len(seen.half_lives) for seen in still), sum(seen.logs for seen in still)
    rows.insert(0, [f"{drifts.STILL}, {logs:,} logs", "300 to 10,000", "no", percent(said / logs), "–", "–", "–"])
    head = ["logs", "rows", "drift", "said to drift", "half-life in rows", "last fifth: better", "last fifth: error"]
    return table(head, rows)


def strict_table(args: argparse.Namespace) -> list[str]:
    """Rows until *diverse?* is answered, usually and strictly: medians over problems, and the range of the ratio."""
    rows = []
    work = partial(strictly.examine, problems=args.samples or 20)
    for (family, (K, d)), found in zip(strictly.CASES, spread_out(work, strictly.CASES, args.workers), strict=True):
        ratios = sorted(one.strict / one.usual for one in found if one.usual <= strictly.LAST)
        middle, few, many = (ratios[int(q * (len(ratios) - 1))] for q in (0.5, 0.1, 0.9))
        usual = sorted(one.usual for one in found)[len(found) // 2]
        rows.append([family, f"{K}, {d}", f"{usual:,.0f}", f"{middle:.1f}", f"{few:.1f} to {many:.1f}"])
    return table(["logs", "arms, features", "rows until yes", "strict: times as many", "10 to 90 % of problems"], rows)


def predictions_table(args: argparse.Namespace) -> list[str]:
    """What was said before a run against what was seen after it."""
    found, notes = predictions.confusion_of(args.samples or 200, args.seed, partial(spread_out, workers=args.workers))
    return [*table(found[0], found[1:]), "", *notes]


EXAMINATIONS: dict[str, Callable[[argparse.Namespace], list[str]]] = {
    "growth": growth_table,
    "exponents": exponents_table,
    "fresh": partial(growth_table, first=len(FAMILIES), last=len(growth.ALL)),
    "real": real_table,
    "logs": logs_table,
    "ties": ties_table,
    "newcomers": newcomers_table,
    "bent": bent_table,
    "rules": rules_table,
    "visitors": visitors_table,
    "goals": goals_table,
    "advice": advice_table,
    "drift": drift_table,
    "strict": strict_table,
    "predictions": predictions_table,
}

if __name__ == "__main__":
    main()
