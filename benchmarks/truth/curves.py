"""Regret curves of known growth: every family, smooth and event-driven."""

from benchmarks.truth.drawing import Drawn, Family
from benchmarks.truth.events import EVENTS
from benchmarks.truth.smooth import SMOOTH

__all__ = ["FAMILIES", "Drawn", "Family"]

FAMILIES: tuple[Family, ...] = (*SMOOTH, *EVENTS)
"""The truth of a family is how its expected regret grows, whatever one draw of it shows."""
