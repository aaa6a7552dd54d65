"""Build the sdist and the wheel into dist/, and try each in an empty environment: `make dist`.

    python -m tools.dist                                  # build, then try both with this Python
    python -m tools.dist --python python3.12 --python python3.13
    python -m tools.dist --build-only                     # needs no network

They are built from a copy of the working tree in which the README's links are absolute, because a package index shows
it outside of the repository. Trying one installs it with its dependencies, which needs the network, and runs what the
README promises.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from email import message_from_bytes
from pathlib import Path
from typing import Any

from tools.readme import absolute

ROOT = Path(__file__).parents[1]
GIT = ("git", "-c", "safe.directory=*")
"""Also in a checkout that belongs to someone else."""
CORE = """
import armspan
agent = armspan.LinUCBd(feature_bound=1.5, parameter_bound=1.0, noise_scale=0.5).agent(n_arms=3, n_features=2)
agent.update(agent.choose([0.6, 0.3]), [0.6, 0.3], 1.0)
assert agent.rewards == 1
"""


def run(command: Sequence[str | Path], folder: Path, **variables: str) -> str:
    """What a command prints; where it fails, this program ends with what it said."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=folder, env=env | variables, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def copy_of_the_tree(folder: Path) -> None:
    """What git knows of or would add, and the README with absolute links."""
    names = run([*GIT, "ls-files", "--cached", "--others", "--exclude-standard", "-z"], ROOT).split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():  # it may be deleted, and not yet in git
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = folder / "README.md"
    readme.write_text(
        absolute(readme.read_text(encoding="utf-8"), project["urls"]["Source"], project["version"]), encoding="utf-8"
    )


def build(target: Path) -> list[Path]:
    """The wheel and the sdist, the wheel made from the sdist."""
    with tempfile.TemporaryDirectory() as folder:
        copy_of_the_tree(Path(folder))
        # setuptools is in the lock, so it need not be fetched
        run([sys.executable, "-m", "build", "--no-isolation", "--outdir", target, folder], ROOT)
    return [*target.glob("*.whl"), *target.glob("*.tar.gz")]


def description(wheel: Path) -> str:
    """What a package index shows."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        payload: Any = message_from_bytes(archive.read(name)).get_payload(decode=True)
        return str(payload, encoding="utf-8")


def first_example(text: str) -> str:
    """The first Python block of a Markdown text."""
    found = re.search(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError("README.md must have a block of Python, and has none")
    return found[1]


def attempt(python: str, built: Path, example: str) -> None:
    """Install what was built into an empty environment, and run what the README promises."""
    with tempfile.TemporaryDirectory() as name:
        folder, scripts = Path(name), Path(name, "env", "Scripts" if os.name == "nt" else "bin")
        run([python, "-m", "venv", folder / "env"], folder)
        new, armspan = scripts / "python", scripts / "armspan"
        install: list[str | Path] = [new, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*install, built], folder)  # the core alone
        run([new, "-c", CORE], folder)
        said = f"{run([armspan, '--version'], folder)} with {run([new, '--version'], folder)}"
        run([*install, f"{built}[lab]"], folder)
        (folder / "example.py").write_text(example, encoding="utf-8")
        run([new, "example.py"], folder, MPLBACKEND="Agg")
        run([armspan, "reproduce", "1a", "--runs", "2", "--horizon", "1000"], folder)
        print(f"{built.name}: {said}; the README's first example and armspan reproduce work", flush=True)


def main() -> None:
    """Build, and try."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="with which Python to try them; may be given several times")
    parser.add_argument("--build-only", action="store_true", help="do not try them")
    args = parser.parse_args()
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    built = build(target)
    print("built", *(path.relative_to(ROOT) for path in built), flush=True)
    if not args.build_only:
        example = first_example(description(built[0]))
        for python in args.python or [sys.executable]:
            found = str(Path(shutil.which(python) or python).absolute())
            for path in built:
                attempt(found, path, example)


if __name__ == "__main__":
    main()
