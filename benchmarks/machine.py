"""What a benchmark says of the machine that it ran on."""

import platform
import subprocess


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("Model name")]
    return f"{(names or [platform.processor() or 'unknown'])[0]} ({platform.machine()})"
