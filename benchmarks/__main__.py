"""Run every benchmark."""

from benchmarks import simulation

simulation.main()
