"""Compiled code is read from the cache only if nobody else can have written it, and is never needed from there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from full_disk import files_limited_to
from ranvier.compiled.cache import Cache

DATA = bytes(range(256)) * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "programs"


def written(folder: Path, name: str = "one") -> Path:
    kept = Cache(folder)
    kept.write(name, DATA)
    assert kept.problem == ""
    assert kept.read(name) == DATA
    return folder / name


def test_what_is_written_is_read_by_its_name_only(folder: Path) -> None:
    path = written(folder)
    assert Cache(folder).read("two") is None
    path.rename(folder / "two")
    kept = Cache(folder)
    assert kept.read("two") is None
    assert "damaged" in kept.problem
    kept.write("two", DATA[:10])
    assert kept.read("two") == DATA[:10]


def test_only_the_user_can_read_and_write(folder: Path) -> None:
    old = os.umask(0)
    try:
        path = written(folder)
    finally:
        os.umask(old)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("size", [0, 10, 60, len(DATA)])
def test_a_file_that_was_cut_is_not_read(folder: Path, size: int) -> None:
    path = written(folder)
    path.write_bytes(path.read_bytes()[:size])
    kept = Cache(folder)
    assert kept.read("one") is None
    assert "damaged" in kept.problem
    kept.write("one", DATA)
    assert kept.read("one") == DATA


@pytest.mark.parametrize("place", [0, 30, 60, -1])
def test_a_file_with_a_wrong_byte_is_not_read(folder: Path, place: int) -> None:
    path = written(folder)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert Cache(folder).read("one") is None


def _writable_folder(folder: Path) -> None:
    folder.chmod(0o770)


def _writable_by_all(folder: Path) -> None:
    folder.chmod(0o1777)


def _writable_file(folder: Path) -> None:
    (folder / "one").chmod(0o662)


def _linked_folder(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def _linked_file(folder: Path) -> None:
    (folder / "one").rename(folder.parent / "one")
    (folder / "one").symlink_to(folder.parent / "one")


def _pipe(folder: Path) -> None:
    (folder / "one").unlink()
    os.mkfifo(folder / "one", 0o600)


def _folder_in_place_of_a_file(folder: Path) -> None:
    (folder / "one").unlink()
    (folder / "one").mkdir()


def _file_in_place_of_the_folder(folder: Path) -> None:
    (folder / "one").unlink()
    folder.rmdir()
    folder.write_bytes(DATA)


@pytest.mark.parametrize(
    "change",
    [
        _writable_folder,
        _writable_by_all,
        _writable_file,
        _linked_folder,
        _linked_file,
        _pipe,
        _folder_in_place_of_a_file,
        _file_in_place_of_the_folder,
    ],
)
def test_what_others_may_have_written_is_not_read(folder: Path, change: Callable[[Path], None]) -> None:
    written(folder)
    change(folder)
    kept = Cache(folder)
    assert kept.read("one") is None
    assert kept.problem


@pytest.mark.parametrize("change", [_writable_folder, _writable_by_all, _linked_folder, _file_in_place_of_the_folder])
def test_nothing_is_written_where_others_can_write(folder: Path, change: Callable[[Path], None]) -> None:
    written(folder)
    change(folder)
    kept = Cache(folder)
    kept.write("two", DATA)
    assert kept.problem
    assert kept.look()
    assert not folder.is_dir() or not (folder / "two").exists()


def test_a_folder_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    kept = Cache(folder)
    assert kept.read("one") is None
    assert "belongs to another user" in kept.problem
    kept.write("two", DATA)
    assert not (folder / "two").exists()


def test_a_full_disk_leaves_the_old_file_and_nothing_else(folder: Path) -> None:
    written(folder)
    kept = Cache(folder)
    with files_limited_to(100):
        kept.write("one", DATA[::-1])
        assert kept.problem
    assert kept.read("one") == DATA
    assert [each.name for each in folder.iterdir()] == ["one"]


def test_no_home_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
    kept = Cache()
    kept.write("one", DATA)
    assert kept.read("one") is None
    assert kept.look() == "the user has no home"


def test_old_files_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ranvier.compiled.cache._MOST_FILES", 6)
    for i in range(6):
        os.utime(written(folder, f"{i}"), (i, i))
    left = folder / ".0123"
    left.write_bytes(DATA)
    os.utime(left, (0, 0))
    written(folder, "new")
    assert sorted(each.name for each in folder.iterdir()) == ["3", "4", "5", "new"]
