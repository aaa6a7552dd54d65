"""Measure one package, in the environment that has it: `python -m benchmarks.peers.runner NAME` prints JSON last.

With the files of some `Course`s behind the name, let it race there instead.
"""

import json
import sys
import warnings
from pathlib import Path

from benchmarks.peers.adapters import MAKERS
from benchmarks.peers.entrants import ENTRANTS
from benchmarks.peers.race import Course, race
from benchmarks.peers.task import measure

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    name, *files = sys.argv[1:]
    if files:
        print(json.dumps([race(ENTRANTS[name].enter, Course.load(Path(file))) for file in files]))
    else:
        print(json.dumps(measure(MAKERS[name])))
