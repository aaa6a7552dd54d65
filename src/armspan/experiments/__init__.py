"""The paper's figures (and ours) as frozen specifications, and experiments described in a file."""

from armspan.experiments.claims import Finding
from armspan.experiments.idea import Idea
from armspan.experiments.paper import FIGURES, DialResult, Outcome, Panel, PanelResult, Settings, reproduce
from armspan.experiments.survey import Survey

__all__ = [
    "FIGURES",
    "DialResult",
    "Finding",
    "Idea",
    "Outcome",
    "Panel",
    "PanelResult",
    "Settings",
    "Survey",
    "reproduce",
]
