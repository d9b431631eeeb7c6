"""Connections from files: the same synapses as those of the list in memory, in any format, and however it is sorted."""

from __future__ import annotations

import copy
import gzip
import json
import os
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import ranvier as rv
from full_disk import files_limited_to
from ranvier import errors
from ranvier.base.mapped_arrays import MappedArray
from ranvier.network import edge_readers, edge_store

Columns = dict[str, Any]
NAMES: dict[str, Any] = {"source": "pre", "target": "post", "weight": "w", "delay": "d", "values": ["U"]}


def some_edges(rows: int = 500, sources: int = 30, targets: int = 40) -> Columns:
    random = np.random.default_rng(rows)
    return {
        "pre": random.integers(0, sources, rows),
        "post": random.integers(0, targets, rows),
        "w": random.integers(1, 100, rows) / 4.0,
        "d": random.integers(1, 20, rows) / 4.0,
        "U": random.integers(0, 9, rows) / 8.0,
    }


def write(path: Path, columns: Columns) -> Path:
    suffix = path.suffix
    if suffix == ".parquet":
        # Row groups that are not whole blocks.
        pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=77)
    elif suffix == ".h5":
        with h5py.File(path, "w") as file:
            for name, values in columns.items():
                file[name] = values
    else:
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        text = "\n".join(lines) + "\n"
        if suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
    return path


def network(rule: rv.Rule, sources: int = 30, targets: int = 40, **arguments: Any) -> rv.Network:
    net = rv.Network(resolution=0.25)
    a, b = net.create("iaf_psc_exp", sources, name="a"), net.create("iaf_psc_exp", targets, name="b")
    net.connect(a, b, rule, **arguments)
    return net


def synapses(net: rv.Network, threads: int = 1) -> list[tuple[Any, ...]]:
    found = rv.Simulation(net, threads=threads).connections()
    columns = [found.sources, found.targets, found.weights, found.delays]
    if net.projections[0].synapse.name == "tsodyks2":
        columns.append(found.get("U"))
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def listed(columns: Columns) -> rv.Network:
    rule = rv.Explicit(columns["pre"], columns["post"])
    return network(rule, weight=columns["w"], delay=columns["d"], synapse=rv.tsodyks2(U=columns["U"]))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read, distribute and sort the rows in many parts."""
    monkeypatch.setattr(edge_readers, "BLOCK_ROWS", 64)
    monkeypatch.setattr(edge_store, "_RANGE_ROWS", 50)


@pytest.mark.parametrize("order", ["shuffled", "sorted", "one target"])
@pytest.mark.parametrize("name", ["edges.csv", "edges.csv.gz", "edges.parquet", "edges.h5"])
@pytest.mark.usefixtures("small_blocks")
def test_synapses_are_those_of_the_list(tmp_path: Path, name: str, order: str) -> None:
    columns = some_edges()
    if order == "sorted":
        places = np.argsort(columns["post"], kind="stable")
        columns = {key: values[places] for key, values in columns.items()}
    elif order == "one target":
        columns["post"][:] = 7
    expected = synapses(listed(columns))
    path = write(tmp_path / name, columns)
    for store in (None, tmp_path / "store"):
        edges = rv.EdgeFile(path, first=0, store=store, **NAMES)
        assert (edges.store is None) == (store is None)
        net = network(edges, synapse=rv.tsodyks2(U=edges["U"]))
        assert isinstance(net.projections[0].weight, MappedArray) == (store is not None)
        assert synapses(net) == synapses(net, threads=3) == expected


def test_order_of_the_rows_of_a_target(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", {"a": [5, 0, 5, 3], "b": [2, 1, 2, 2], "w": [1.0, 2.0, 3.0, 4.0]})
    edges = rv.EdgeFile(path, source="a", target="b", first=0, weight="w")
    assert edges.sources.tolist() == [0, 5, 5, 3]
    assert edges.targets.tolist() == [1, 2, 2, 2]
    assert edges["w"].tolist() == [2.0, 1.0, 3.0, 4.0]
    assert repr(edges) == "EdgeFile('e.csv', 4 connections)"
    with pytest.raises(errors.UnknownNameError, match="'x'"):
        edges["x"]


@pytest.mark.parametrize("first", [1, (1, 31), (0, 5)])
def test_numbers_of_the_first_neurons(tmp_path: Path, first: Any) -> None:
    columns = some_edges(100)
    expected = synapses(listed(columns))
    of_source, of_target = first if isinstance(first, tuple) else (first, first)
    shifted = {**columns, "pre": columns["pre"] + of_source, "post": columns["post"] + of_target}
    edges = rv.EdgeFile(write(tmp_path / "e.parquet", shifted), first=first, **NAMES)
    assert synapses(network(edges, synapse=rv.tsodyks2(U=edges["U"]))) == expected


def test_csv_files_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("# from to weight\n0\t1  2.5\n\n2 0 1e1 # strong\n1 1 -1\n")
    edges = rv.EdgeFile(path, source=0, target=1, first=0, weight=2, delimiter=None)
    expected = [(0, 4, 2.5, 1.0), (1, 4, -1.0, 1.0), (2, 3, 10.0, 1.0)]
    assert synapses(network(edges, 3, 2)) == expected
    path.write_text('"0";"1";2.5\n2;0;10\n1;1;-1')
    edges = rv.EdgeFile(path, source=0, target=1, first=0, weight=2, delimiter=";")
    assert synapses(network(edges, 3, 2)) == expected


def test_columns_of_one_type_in_files(tmp_path: Path) -> None:
    """Unsigned and short numbers, and whole numbers as weights."""
    columns = {
        "pre": np.array([1, 2], np.uint64),
        "post": np.array([0, 1], np.int8),
        "w": np.array([7, 9], np.uint16),
    }
    for name in ("e.h5", "e.parquet"):
        edges = rv.EdgeFile(write(tmp_path / name, columns), source="pre", target="post", first=0, weight="w")
        assert synapses(network(edges, 3, 2)) == [(1, 3, 7.0, 1.0), (2, 4, 9.0, 1.0)]


def test_weights_of_the_call(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", {"pre": [1, 0], "post": [0, 1], "w": [7.0, 9.0]})
    edges = rv.EdgeFile(path, source="pre", target="post", first=0)
    assert synapses(network(edges, 2, 2, weight=3.0, delay=2.0)) == [(0, 3, 3.0, 2.0), (1, 2, 3.0, 2.0)]
    with pytest.raises(errors.RuleError, match=r"leave out weight=\.\.\., or make EdgeFile without weight="):
        network(rv.EdgeFile(path, source="pre", target="post", first=0, weight="w"), 2, 2, weight=3.0)


def test_lists_in_files_are_not_copied(tmp_path: Path) -> None:
    columns = some_edges(40_000)
    path = write(tmp_path / "e.h5", columns)
    in_memory = rv.EdgeFile(path, first=0, **NAMES)
    in_files = rv.EdgeFile(path, first=0, store=tmp_path / "store", **NAMES)
    nets = [network(each, synapse=rv.tsodyks2(U=each["U"])) for each in (in_memory, in_files)]
    bytes_of_arrays = [rv.predict_memory(net, threads=1)["arrays"] for net in nets]
    assert bytes_of_arrays[0] - bytes_of_arrays[1] == 4 * 8 * 40_000
    texts = [pickle.dumps(net) for net in nets]
    assert len(texts[1]) < 10_000 < len(texts[0])
    again = pickle.loads(texts[1])
    assert again == nets[1] == copy.deepcopy(nets[1])
    assert isinstance(again.projections[0].delay, MappedArray)
    assert synapses(again) == synapses(nets[0])
    # A part of a column is an ordinary array.
    part = in_files["w"][:3]
    assert pickle.loads(pickle.dumps(part)).tolist() == part.tolist() == copy.deepcopy(part).tolist()
    store = in_files.store
    assert store is not None
    (store / "0").unlink()
    with pytest.raises(errors.FileError, match="make the rule of the file again"):
        pickle.loads(texts[1])


def test_a_list_is_made_again_if_the_file_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "e.csv", {"pre": [1, 0], "post": [0, 1]})
    conversions = []
    convert = edge_store._convert

    def counted_convert(*arguments: Any) -> None:
        conversions.append(1)
        convert(*arguments)

    monkeypatch.setattr(edge_store, "_convert", counted_convert)
    made: Callable[[], rv.EdgeFile] = lambda: rv.EdgeFile(  # noqa: E731
        path, source="pre", target="post", first=0, store=tmp_path / "store"
    )
    first = made()
    assert first == made()
    assert len(conversions) == 1
    write(path, {"pre": [1, 0, 1], "post": [0, 1, 1]})
    assert len(made()) == 3
    assert len(conversions) == 2
    # A conversion that was killed leaves a folder without contents.
    store = first.store
    assert store is not None
    (store / "contents.json").unlink()
    write(path, {"pre": [1, 0], "post": [0, 1]})
    assert len(made()) == 2


def test_large_files_are_converted_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(edge_store, "_MOST_IN_MEMORY", 100)
    edges = rv.EdgeFile(write(tmp_path / "e.csv", some_edges()), first=0, **NAMES)
    store = edges.store
    assert store is not None
    assert store.parent == tmp_path / "cache/ranvier/edges"
    assert json.loads((store / "contents.json").read_text())["rows"] == 500


def test_memory_does_not_grow_with_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_readers, "BLOCK_ROWS", 1 << 12)
    monkeypatch.setattr(edge_store, "_RANGE_ROWS", 1 << 13)
    rows = 150_000
    path = write(tmp_path / "e.h5", some_edges(rows, 1000, 1000))
    tracemalloc.start()
    try:
        rule = rv.EdgeFile(path, first=0, store=tmp_path / "store", **NAMES)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(rule) == rows
    # The list takes 32 bytes for each row.
    assert peak < 8 * rows


def edge_file(path: Path, **keywords: Any) -> rv.EdgeFile:
    return rv.EdgeFile(path, **{"source": "pre", "target": "post", "first": 0, **keywords})


@pytest.mark.parametrize(
    ("text", "keywords", "kind", "message"),
    [
        ("pre,post\n1,0\n0,x\n", {}, errors.ValueOutOfBoundsError, r"post in line 3 of e\.csv is 'x'.*whole number"),
        ("pre,post\n1,0\n\n#\n1.5,0\n", {}, errors.ValueOutOfBoundsError, r"pre in line 5.*'1\.5'.*whole number"),
        ("pre,post\n1,0\n1.0,0\n", {}, errors.ValueOutOfBoundsError, r"pre in line 3.*'1\.0'.*whole number"),
        ("pre,post\n1,0\n1_0,0\n", {}, errors.ValueOutOfBoundsError, r"pre in line 3.*'1_0'.*whole number"),
        ("pre,post\n9223372036854775808,0\n", {}, errors.ValueOutOfBoundsError, r"line 2.*below 2\^63"),
        ("pre,post\n1,0\n-1,0\n", {}, errors.ValueOutOfBoundsError, r"pre in line 3 of e\.csv is -1.*first one is 0"),
        ("pre,post\n1,0\n", {"first": 1}, errors.ValueOutOfBoundsError, r"post in line 2.*is 0.*first one is 1"),
        ("pre,post,w\n1,0,2\n1,0,nan\n", {"weight": "w"}, errors.ValueOutOfBoundsError, r"w in line 3.*nan.*finite"),
        ("pre,post,w\n1,0,2\n1,0,strong\n", {"weight": "w"}, errors.ValueOutOfBoundsError, r"w in line 3.*'strong'"),
        ("pre,post,w\n1,0,\n", {"weight": "w"}, errors.ValueOutOfBoundsError, r"w in line 2.*''.*must be a number"),
        ("pre,post,w\n1,0,2\n1,0\n", {"weight": "w"}, errors.FileError, "line 3 .*2 columns.*'w' is the 3rd"),
        ("pre,post\n1,0\n", {"weight": "w"}, errors.UnknownNameError, r"column of e\.csv is 'w'"),
        ("pre,post,pre\n1,0,1\n", {}, errors.FileError, "two columns 'pre'"),
        ("", {}, errors.FileError, "it is empty"),
        ("\n# nothing\n", {}, errors.FileError, "it is empty"),
        ("pre,post\n", {}, errors.FileError, "it has no rows"),
        ("0,1\n", {"source": 0, "target": 2}, errors.FileError, "no column 2.*2 columns"),
        ("pre,post\n1,0\n", {"source": 0}, errors.WrongTypeError, "all names, or all numbers"),
        ("pre,post\n1,0\n", {"source": None}, errors.WrongTypeError, "must be a name"),
        ("pre,post\n1,0\n", {"values": "w"}, errors.WrongTypeError, r"write \['w'\]"),
        ("pre,post\n1,0\n", {"first": (0, 1, 2)}, errors.ShapeError, "3 numbers"),
        ("pre,post\n1,0\n", {"first": -1}, errors.ValueOutOfBoundsError, "at least 0"),
        ('pre,post,name\n1,0,"a"\n1,0,"b\n2,0,c\n', {}, errors.FileError, "line 3 of .* quotation mark is not closed"),
        ("pre,post\n1,0\n", {"delimiter": ";;"}, errors.ValueOutOfBoundsError, "';;'.*one character"),
        ("pre,post\n1,0\n", {"delimiter": "#"}, errors.ValueOutOfBoundsError, "'#'.*one character"),
        ("pre,post\n1,0\n", {"delimiter": 1}, errors.WrongTypeError, "must be a character"),
        ("pre,post\n" + 140_000 * "1" + ",0\n", {}, errors.FileError, "cannot be read"),
        ("pre,post\n1,0\n", {"format": "xml"}, errors.UnknownNameError, "xml"),
        ("pre,post\n1,0\n", {"format": "hdf5"}, errors.FileError, "cannot be read"),
        ("pre,post\n1,0\n", {"format": "parquet"}, errors.FileError, "cannot be read"),
    ],
)
def test_bad_csv_files(
    tmp_path: Path, text: str, keywords: dict[str, Any], kind: type[Exception], message: str
) -> None:
    path = tmp_path / "e.csv"
    path.write_text(text)
    with pytest.raises(kind, match=message):
        edge_file(path, **keywords)


@pytest.mark.parametrize(
    ("columns", "kind", "message"),
    [
        ({"pre": [1]}, errors.UnknownNameError, "post"),
        ({"pre": ["a"], "post": [0]}, errors.WrongTypeError, "'pre' of .* must be whole numbers"),
        ({"pre": [0.0], "post": [0]}, errors.WrongTypeError, "'pre' of .* must be whole numbers"),
        ({"pre": [0], "post": [0], "w": ["a"]}, errors.WrongTypeError, "'w' of .* must be numbers"),
        ({"pre": [0, 1], "post": [0, -3]}, errors.ValueOutOfBoundsError, "post in row 1 of e.* is -3"),
        ({"pre": [0, 1], "post": [0, 1], "w": [1.0, np.inf]}, errors.ValueOutOfBoundsError, "w in row 1 of e.* is inf"),
        ({"pre": np.array([2**63], np.uint64), "post": [0]}, errors.ValueOutOfBoundsError, r"'pre'.*below 2\^63"),
        ({"pre": np.empty(0, dtype=int), "post": np.empty(0, dtype=int)}, errors.FileError, "it has no rows"),
    ],
)
@pytest.mark.parametrize("name", ["e.parquet", "e.h5"])
def test_bad_tables(tmp_path: Path, name: str, columns: Columns, kind: type[Exception], message: str) -> None:
    path = write(tmp_path / name, columns)
    with pytest.raises(kind, match=message):
        edge_file(path, weight="w" if "w" in columns else None)


def test_bad_tables_of_one_format(tmp_path: Path) -> None:
    path = write(tmp_path / "e.h5", {"pre": [1, 2], "post": [1]})
    with pytest.raises(errors.ShapeError, match=r"length of dataset 'post' of e.h5 is 1"):
        edge_file(path)
    path = write(tmp_path / "f.h5", {"pre": [[1, 2]], "post": [1]})
    with pytest.raises(errors.ShapeError, match=r"'pre' of f.h5 is 2 dimensions"):
        edge_file(path)
    path = write(tmp_path / "e.parquet", {"pre": [1, 2, None], "post": [1, 1, 1]})
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"pre in row 2 of e.parquet is missing"):
        edge_file(path)
    table = pyarrow.Table.from_arrays([pyarrow.array([0])] * 3, ["pre", "post", "pre"])
    pyarrow.parquet.write_table(table, tmp_path / "f.parquet")
    with pytest.raises(errors.FileError, match="two columns 'pre'"):
        edge_file(tmp_path / "f.parquet")
    with h5py.File(tmp_path / "g.h5", "w") as file:
        file["pre"], file["post"] = h5py.ExternalLink("none.h5", "/pre"), [0]
    with pytest.raises(errors.FileError, match=r"dataset 'pre' of g\.h5: it is a link that leads nowhere"):
        edge_file(tmp_path / "g.h5")
    with pytest.raises(errors.FileError, match="its suffix tells no format"):
        edge_file(write(tmp_path / "e.csv", {"pre": [1]}).rename(tmp_path / "e.abc"))
    with pytest.raises(errors.FileError, match="No such file"):
        edge_file(tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["e.csv.gz", "e.parquet", "e.h5"])
def test_truncated_files(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, some_edges(2000))
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(errors.FileError, match="cannot be read"):
        edge_file(path, store=tmp_path / "store")
    assert not [each for each in (tmp_path / "store").glob("*") if each.is_dir()]


def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "e.csv", some_edges(100))
    checked = edge_store._check_block

    def check_and_touch(reader: Any, *others: Any) -> None:
        checked(reader, *others)
        os.utime(path, ns=(0, 0))

    monkeypatch.setattr(edge_store, "_check_block", check_and_touch)
    with pytest.raises(errors.FileError, match=r"it has changed while it was read"):
        edge_file(path, store=tmp_path / "store")
    assert not [each for each in (tmp_path / "store").glob("*") if each.is_dir()]


def test_rows_that_are_not_among_the_neurons(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", {"pre": [1, 9, 2, 9], "post": [4, 1, 1, 1]})
    edges = edge_file(path, first=1)
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"source in line 3 of e\.csv is 9.*8 neurons, from 1 to 8"):
        network(edges, 8, 4)
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"target in line 2 of e\.csv is 4.*3 neurons, from 1 to 3"):
        network(edges, 9, 3)
    assert network(edges, 9, 4).expected_synapses == network(edges, 20, 30).expected_synapses == 4


def test_disk_that_is_full(tmp_path: Path) -> None:
    path = write(tmp_path / "e.h5", some_edges(20_000))
    with files_limited_to(100_000), pytest.raises(errors.FileError, match="space left"):
        edge_file(path, store=tmp_path / "store")
    assert len(edge_file(path, store=tmp_path / "store")) == 20_000
