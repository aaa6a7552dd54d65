"""Measure one package, in the environment that has it: `python -m benchmarks.peers.runner NAME` prints JSON last."""

import json
import sys
import warnings

from benchmarks.peers.adapters import MAKERS
from benchmarks.peers.task import measure

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(MAKERS[sys.argv[1]])))
