"""Files are written whole or not at all, and are then what plain open() would have made of them."""

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import armspan
from armspan._files import whole_file, write_text
from armspan.cli.output import output_folder
from armspan.environments import paper_1a
from armspan.errors import BadFile
from armspan.report import figures, tables
from armspan.sweeps.cell_files import CellFolder

posix = pytest.mark.skipif(os.name != "posix", reason="permissions, links and pipes of POSIX")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_an_older_files_permissions_are_kept(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    seen = []
    with whole_file(path) as file:
        file.write(b"new")
        (temporary,) = (entry for entry in tmp_path.iterdir() if entry != path)
        seen.append(mode_of(temporary))
    assert path.read_bytes() == b"new"
    assert (mode_of(path), *seen) == (mode, mode)  # nor can others read what is not yet finished


@posix
def test_a_new_file_has_the_permissions_that_open_gives_and_the_umask_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mask in (0o022, 0o077, 0o002):
        before = os.umask(mask)
        try:
            (tmp_path / f"plain {mask}").touch()
            with monkeypatch.context() as patch:
                patch.setattr(os, "umask", lambda mask: pytest.fail("the umask is the whole process's"))
                write_text(tmp_path / f"whole {mask}", "x")
        finally:
            os.umask(before)
        assert mode_of(tmp_path / f"whole {mask}") == mode_of(tmp_path / f"plain {mask}")


@posix
def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    link, middle, target = tmp_path / "here" / "link", tmp_path / "middle", tmp_path / "there" / "target"
    link.symlink_to("../middle")
    middle.symlink_to(target)
    for text in ("made", "replaced"):  # at first nothing is where it leads
        write_text(link, text)
        assert link.is_symlink()
        assert middle.is_symlink()
        assert target.read_text() == text
    assert len(list(tmp_path.rglob("*"))) == 5
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(BadFile, match=r"cannot write .*link: .*symbolic links"):
        write_text(link, "for ever")


@posix
def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_text(path, "through it")
    assert os.read(reader, 100) == b"through it"
    os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


@posix
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="a process's open files as Linux shows them")
@pytest.mark.parametrize("name", ["/proc/self/fd/1", "link"])
def test_standard_output_is_written_to(name: str, tmp_path: Path) -> None:
    """/dev/stdout is such a link; here it is one of our own, since a fault would replace it."""
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    code = f"from armspan._files import write_text; write_text({name!r}, 'said')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"said"
    with (tmp_path / "kept").open("wb") as kept:
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=kept, check=True)
        assert os.fstat(kept.fileno()).st_nlink == 1  # it is still the same file
    assert (tmp_path / "kept").read_bytes() == b"said"


@posix
def test_what_is_no_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"^cannot write .*: Is a directory$"):
        write_text(tmp_path, "x")
    with pytest.raises(BadFile, match=r"^cannot write .*: File name too long$"):
        write_text(tmp_path / ("x" * 256), "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "x.y" * 85])
def test_the_longest_names_can_be_written(name: str, tmp_path: Path) -> None:
    for text in ("first", "second"):
        write_text(tmp_path / name, text)
    assert (tmp_path / name).read_text() == "second"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("path", [None, 3, "a\0b", b"a", "\ud800", ["a"]])
def test_what_is_no_path_is_refused_in_a_sentence(path: Any) -> None:
    agent = armspan.LinUCBd(feature_bound=1.0, parameter_bound=1.0).agent(2, 2)
    result = armspan.simulate(paper_1a(), armspan.Greedy(), horizon=5, runs=1)
    for use in (agent.save, armspan.load_agent, result.save, armspan.load_result):
        with pytest.raises(BadFile, match=r"^path must be the path of a file, got "):
            use(path)


WRITER = """
import sys
from armspan._files import whole_file
with whole_file(sys.argv[1]) as file:
    file.write(bytes(100_000))
    file.flush()
    print("half", flush=True)
    sys.stdin.read()
"""


@contextmanager
def writer(path: Path) -> Iterator[Any]:
    """A process that has written half of a file."""
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        yield process


@posix
def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    write_text(path, "old")
    for target in (path, other):
        with writer(target) as process:
            os.kill(process.pid, signal.SIGKILL)
    left = set(tmp_path.iterdir()) - {path}
    assert len(left) == 2
    (tmp_path / "file.part").touch()  # somebody else's
    with writer(path) as process:  # it removes what was left for this file
        (mine,) = set(tmp_path.iterdir()) - left - {path, tmp_path / "file.part"}
        (of_other,) = left & set(tmp_path.iterdir())
        write_text(path, "new")
        assert set(tmp_path.iterdir()) == {path, tmp_path / "file.part", of_other, mine}  # who wrote mine still lives
        process.communicate()
    assert path.read_bytes() == bytes(100_000)
    write_text(other, "new")
    assert set(tmp_path.iterdir()) == {path, tmp_path / "file.part", other}


@posix
def test_a_sweeps_folder_is_tidied_when_it_is_opened(tmp_path: Path) -> None:
    with writer(tmp_path / "cell.parquet") as process:
        os.kill(process.pid, signal.SIGKILL)
    assert len(list(tmp_path.iterdir())) == 1
    CellFolder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def at_once(work: Any) -> list[Exception]:
    """What goes wrong when eight threads do this many times."""
    wrong: list[Exception] = []

    def many() -> None:
        for _ in range(100):
            try:
                work()
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_one_folder_may_be_probed_by_many_at_once(tmp_path: Path) -> None:
    assert at_once(lambda: output_folder(tmp_path / "new" / "folder")) == []
    assert at_once(lambda: CellFolder(tmp_path / "cells")) == []
    assert [entry.name for entry in (tmp_path / "new").rglob("*")] == ["folder"]


def test_one_file_may_be_written_by_many_at_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert at_once(lambda: write_text(path, "x" * 10_000)) == []
    assert path.read_text() == "x" * 10_000
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_older_figure_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures.save(Figure(), tmp_path, "figure")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def half(self: Figure, place: Any, **options: Any) -> None:
        write: Any = place.write_bytes if isinstance(place, Path) else place.write
        write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(BadFile, match=r"^cannot write .*figure.svg: No space left on device$"):
        figures.save(Figure(), tmp_path, "figure")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@posix
def test_tables_are_written_whole(tmp_path: Path) -> None:
    """A file that is open elsewhere keeps what it was: the new one takes its place."""
    path = tmp_path / "curves.csv"
    path.write_text("old")
    result = armspan.simulate(paper_1a(), armspan.Greedy(), horizon=5, runs=2)
    with path.open() as old:
        tables.write_curves({"a": result}, path)
        assert old.read() == "old"
    assert path.read_bytes().startswith(b"figure,policy,step,runs,mean,sd,low,high\r\na,greedy,1,2,")
