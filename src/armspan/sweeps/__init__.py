"""Sweeps: every environment with every policy, one row each, kept on disk where wanted."""

from armspan.sweeps.grids import Grid, grid
from armspan.sweeps.picture import plot_sweep
from armspan.sweeps.sweep import sweep

__all__ = ["Grid", "grid", "plot_sweep", "sweep"]
