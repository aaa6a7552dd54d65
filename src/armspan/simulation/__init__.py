"""Simulation: environment × policies × runs × horizon → a result with regret curves at checkpoints."""

from armspan.simulation.comparison import Comparison
from armspan.simulation.growth import Growth
from armspan.simulation.result import Result, concatenate, load_result
from armspan.simulation.runner import simulate
from armspan.simulation.summary import Summary

__all__ = ["Comparison", "Growth", "Result", "Summary", "concatenate", "load_result", "simulate"]
