"""Speed, measured side by side in one run and printed as ratios: `make bench`."""
