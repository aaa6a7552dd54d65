"""A command in a pseudo-terminal of a given size, as a user has it, and what its screen then shows."""

import fcntl
import os
import pty
import struct
import sys
import termios
import time


def in_terminal(arguments: list[str], columns: int, *, lines: int = 24, resize: int | None = None) -> str:
    """What `python <arguments>` writes to a terminal. resize : columns that the window has from its first output on."""
    pid, terminal = pty.fork()
    if pid == 0:
        for _ in range(200):  # until the size is set
            if os.get_terminal_size(0).columns == columns or columns == 0:
                break
            time.sleep(0.01)
        environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        os.execve(sys.executable, [sys.executable, *arguments], environment | {"PYTHONIOENCODING": "utf-8"})
    _set_size(terminal, columns, lines)
    output = b""
    while True:
        try:
            output += os.read(terminal, 4096)
        except OSError:  # the end of a pseudo-terminal
            break
        if resize is not None:
            _set_size(terminal, resize, lines)
    os.waitpid(pid, 0)
    os.close(terminal)
    return output.decode()


def _set_size(terminal: int, columns: int, lines: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def screen(output: str, columns: int) -> list[str]:
    """The lines on a screen of so many columns: what is too long goes on in the next line, as terminals have it."""
    rows, row, column = [""], 0, 0
    for letter in output:
        if letter == "\r":
            column = 0
        elif letter == "\n":
            row += 1
            rows += [""] if row == len(rows) else []
        else:
            if column == columns:
                row, column = row + 1, 0
                rows += [""] if row == len(rows) else []
            rows[row] = rows[row][:column].ljust(column) + letter + rows[row][column + 1 :]
            column += 1
    return rows
