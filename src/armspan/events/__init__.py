"""What the paper's proof counts in a run: frames, error events, and where contexts lie."""

from armspan.events.events import NAMES, Events
from armspan.events.learner import CountingLearner
from armspan.events.regions import Regions, regions_of

__all__ = ["NAMES", "CountingLearner", "Events", "Regions", "regions_of"]
