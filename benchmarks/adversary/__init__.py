"""Attacks on agents by chance: what they answer is compared with an oracle that shares no code with them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SHOWN = 12
"""Kinds of faults of which the first is printed."""


class Fault(AssertionError):
    """What an agent did wrong."""


def demand(condition: object, sentence: str) -> None:
    """Raise a Fault unless the condition holds."""
    if not condition:
        raise Fault(sentence)


@dataclass
class Report:
    """How many attacks there were, what else is worth a number, and the faults by the seed that reproduces them."""

    kind: str
    tried: int = 0
    notes: dict[str, float] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def count(self, what: str, by: float = 1) -> None:
        """Add to a number."""
        self.notes[what] = self.notes.get(what, 0) + by

    def largest(self, what: str, value: float) -> None:
        """Keep the largest of a number."""
        self.notes[what] = max(self.notes.get(what, 0.0), value)

    def fault(self, seed: int, sentence: str) -> None:
        """Note a fault, and go on."""
        self.faults.append((seed, sentence))

    def attack(self, seed: int, attack: Callable[..., None], *arguments: Any) -> None:
        """Try one attack; any exception that comes out of it is a fault."""
        self.tried += 1
        try:
            attack(*arguments)
        except Exception as error:
            sentence = str(error) if isinstance(error, Fault) else f"{type(error).__name__}: {error}"
            self.fault(seed, sentence)

    def __str__(self) -> str:
        notes = "".join(f", {what} {value:.4g}" for what, value in sorted(self.notes.items()))
        lines = [f"{self.kind}: {self.tried} tried, {len(self.faults)} faults{notes}"]
        kinds: dict[str, list[tuple[int, str]]] = {}
        for seed, sentence in self.faults:
            kinds.setdefault(re.sub(r"[-+\d.e]+|\[.*", "", sentence)[:40], []).append((seed, sentence))
        for alike in sorted(kinds.values(), key=len, reverse=True)[:SHOWN]:
            seed, sentence = alike[0]
            lines.append(f"  {len(alike)} like --seed {seed} --n 1: {sentence}")
        return "\n".join(lines)
