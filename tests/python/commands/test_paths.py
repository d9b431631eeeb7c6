"""Files that users name are checked before, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.figure
import pytest

import ranvier as rv
from full_disk import files_limited_to
from ranvier import errors, plot
from ranvier.base import paths
from ranvier.command_line import main


def test_another_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    with path.open() as old:
        paths.write_whole(path, b"new")
        assert old.read() == "old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_on_a_full_disk_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    with files_limited_to(1000), pytest.raises(errors.FileError, match="cannot be written"):
        paths.write_whole(path, bytes(2000))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_mode_of_new_files_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    new, usual, old = tmp_path / "new", tmp_path / "usual", tmp_path / "old"
    usual.write_text("")
    old.write_text("")
    old.chmod(0o640)
    for path in (new, old):
        paths.write_whole(path, b"text")
    assert new.stat().st_mode == usual.stat().st_mode
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


@pytest.mark.parametrize("exists", [True, False])
def test_links_stay_and_what_they_lead_to_is_written(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, middle, link = folder / "target", tmp_path / "middle", tmp_path / "link"
    if exists:
        target.write_text("old")
    middle.symlink_to("elsewhere/target")
    link.symlink_to(middle)
    paths.write_whole(link, b"new")
    assert link.is_symlink()
    assert middle.is_symlink()
    assert target.read_bytes() == b"new"
    assert list(folder.iterdir()) == [target]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    # It must not find the end of the file there already.
    paths.check_writable(path)
    paths.write_whole(path, bytes(100_000))
    reader.join()
    assert received == [bytes(100_000)]
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_in_a_file_keeps_what_stands_before_and_after(name: str, capfd: Any) -> None:
    print("before")
    paths.write_whole(name, b"results\n")
    print("after")
    assert capfd.readouterr().out == "before\nresults\nafter\n"


def test_a_full_device() -> None:
    with pytest.raises(errors.FileError, match="cannot be written"):
        paths.write_whole("/dev/full", b"text")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_folder_that_takes_no_other_file(tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"
    path.write_text("a longer text than the new one")
    open_file = os.open

    def refuse(name: Any, flags: int, *mode: int, **options: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(code, os.strerror(code))
        return open_file(name, flags, *mode, **options)

    monkeypatch.setattr(os, "open", refuse)
    paths.write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    # There is not even space for it.
    with files_limited_to(1000), pytest.raises(errors.FileError):
        paths.write_whole(path, bytes(2000))
    assert path.read_bytes() == b"new"
    with pytest.raises(errors.FileError):
        paths.write_whole(tmp_path / "another", b"new")


def test_a_file_that_was_mounted_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(Path, "replace", refuse)
    paths.write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_figures(tmp_path: Path) -> None:
    figure = plot.Figure()
    path = tmp_path / "figure.svg"
    figure.savefig(path)
    drawn = path.read_bytes()
    assert drawn.startswith(b"<?xml")
    with files_limited_to(100), pytest.raises(errors.FileError):
        figure.savefig(path)
    assert path.read_bytes() == drawn
    figure.savefig(tmp_path / "without", format="pdf")
    assert (tmp_path / "without").read_bytes().startswith(b"%PDF")
    figure.savefig(tmp_path / "suffixed")
    assert (tmp_path / "suffixed.png").read_bytes().startswith(b"\x89PNG")
    paths.save_figure(matplotlib.figure.Figure(), tmp_path / "figure.PNG")
    assert (tmp_path / "figure.PNG").read_bytes().startswith(b"\x89PNG")


def record_to(path: str) -> object:
    net = rv.Network()
    net.create("iaf_psc_exp", 1)
    return net.record_spikes(to=path)


USES: dict[str, Callable[[str], object]] = {
    "check_writable": paths.check_writable,
    "write_whole": lambda path: paths.write_whole(path, b""),
    "savefig": lambda path: plot.Figure().savefig(path),
    "record": record_to,
    "read_spikes": rv.read_spikes,
    "read_state": rv.read_state,
    "read_weights": rv.read_weights,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["a\0b.csv", "a\0b.h5", "\ud800.csv", "\ud800.h5", ""])
def test_names_that_no_file_can_have(name: str, use: str) -> None:
    with pytest.raises(errors.FileError, match="use another file name") as caught:
        USES[use](name)
    # It can be printed anywhere.
    str(caught.value).encode()


@pytest.mark.parametrize("use", sorted(set(USES) - {"savefig"}))
@pytest.mark.parametrize("path", [b"name.csv", 5, ["name.csv"]])
def test_what_is_no_path(path: Any, use: str) -> None:
    with pytest.raises(TypeError, match="must be a path"):
        USES[use](path)


def test_names_of_bytes_that_are_no_text(tmp_path: Path) -> None:
    for suffix in (b"csv", b"h5"):
        net = rv.Network()
        net.create("iaf_psc_exp", 2, I_e=500.0)
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff." + suffix)
        recorder = net.record_spikes(to=path)
        sim = rv.Simulation(net)
        sim.run(30.0)
        assert rv.read_spikes(path).digest() == sim.spikes(recorder).digest()


def test_command_line_says_what_cannot_be_written(tmp_path: Path, capfd: Any) -> None:
    for option in ("--json", "--plot"):
        assert main(["run", "brunel", option, f"a\0{tmp_path}.png"]) == 2
        assert capfd.readouterr().err.startswith("ranvier: error: path is 'a\\x00")


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_command_line_keeps_the_old_file(tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.svg"
    path.write_text("precious")
    settings = ["--set", "order=10", "time=10", "threads=1"]
    # Not before: matplotlib keeps files of its own.
    monkeypatch.setattr(os, "fsync", fail)
    assert main(["run", "brunel", option, str(path), *settings]) == 2
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def fail(_: int) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("read", [rv.read_nmodl, rv.read_nestml])
def test_what_has_no_end_is_not_read(read: Callable[[Path], object], tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as opened:
        opened.truncate(1 << 40)
    for path, words in ((Path("/dev/zero"), "not a regular file"), (pipe, "not a regular file"), (large, "more than")):
        with pytest.raises(errors.FileError, match=words):
            read(path)
