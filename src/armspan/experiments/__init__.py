"""The paper's figures (and ours) as frozen specifications, and experiments described in a file."""

from armspan.experiments.claims import Finding
from armspan.experiments.idea import Idea
from armspan.experiments.paper import (
    ALL,
    FIGURES,
    DialResult,
    Outcome,
    Panel,
    PanelResult,
    Predictions,
    Settings,
    reproduce,
)
from armspan.experiments.survey import Survey
from armspan.experiments.tails import Tails

__all__ = [
    "ALL",
    "FIGURES",
    "DialResult",
    "Finding",
    "Idea",
    "Outcome",
    "Panel",
    "PanelResult",
    "Predictions",
    "Settings",
    "Survey",
    "Tails",
    "reproduce",
]
