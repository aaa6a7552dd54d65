"""armspan's agent beside other packages, each in an environment of its own: `make bench-peers`."""
