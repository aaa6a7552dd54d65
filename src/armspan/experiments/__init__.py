"""The paper's figures (and ours) as frozen specifications, and experiments described in a file."""

from armspan.experiments.arena import PROBLEMS
from armspan.experiments.claims import Finding
from armspan.experiments.forecast import Forecast, forecast
from armspan.experiments.idea import Idea
from armspan.experiments.reproduction import (
    ALL,
    FIGURES,
    DialResult,
    Effort,
    Outcome,
    Panel,
    PanelResult,
    Predictions,
    reproduce,
)
from armspan.experiments.standing import Arena, Bout, Place, Problem, Ratio
from armspan.experiments.survey import Survey
from armspan.experiments.tails import Tails

__all__ = [
    "ALL",
    "FIGURES",
    "PROBLEMS",
    "Arena",
    "Bout",
    "DialResult",
    "Effort",
    "Finding",
    "Forecast",
    "Idea",
    "Outcome",
    "Panel",
    "PanelResult",
    "Place",
    "Predictions",
    "Problem",
    "Ratio",
    "Survey",
    "Tails",
    "forecast",
    "reproduce",
]
