"""A machine as a tree, with the threads that run on it.

Equal neighbours are drawn as one, so that a large machine fits on a screen: cores with equal caches and the same number
of threads on each processing unit, caches with such cores below them, and, if the tree would be long, nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from rich.text import Text
from rich.tree import Tree

from ranvier.commands.thread_places import ThreadPlaces

__all__ = ["draw"]

# If the tree has more lines than this, equal nodes are drawn as one.
_MOST_LINES = 40
# If there are more nodes than this, only the smallest and the largest distance of a node are shown.
_MOST_DISTANCES = 8

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class _Cache:
    """A cache as a core sees it."""

    level: int
    size: int
    number: int  # identifies it
    cores: int  # of a node that share it


@dataclass(frozen=True)
class _Core:
    number: int  # physical, -1 if unknown
    processors: tuple[int, ...]
    shared: tuple[_Cache, ...]  # with other cores of the node, from the outside
    private: tuple[_Cache, ...]


@dataclass(frozen=True)
class _Node:
    number: int
    memory: int
    free: int | None
    distances: tuple[int, ...]
    cores: tuple[_Core, ...]


class _Threads:
    """The threads on each processor, and their text."""

    def __init__(self, places: ThreadPlaces) -> None:
        self._on_processor = places.by_processor()
        self._several_ranks = len(places.ranks) > 1
        self._are_pinned = places.are_pinned

    def count(self, processor: int) -> int:
        return len(self._on_processor.get(processor, ()))

    def describe(self, processors: Sequence[int]) -> Text:
        """Return "threads 0-3", or "ranks 0-1: threads 0-3 each" if there are several processes."""
        threads = [each for processor in processors for each in self._on_processor.get(processor, ())]
        if not threads:
            return Text("idle" if self._are_pinned else "", style="dim")
        by_rank = defaultdict(list)
        for rank, thread in threads:
            by_rank[rank].append(thread)
        parts = []
        for ranks in _runs(by_rank, lambda rank: tuple(by_rank[rank])):
            text = _named("thread", by_rank[ranks[0]])
            if self._several_ranks:
                text = f"{_named('rank', ranks)}: {text}{' each' if len(ranks) > 1 else ''}"
            parts.append(text)
        return Text(", ".join(parts), style="bold red" if len(threads) > len(processors) else "bold green")


def draw(topology: Mapping[str, Any], places: ThreadPlaces) -> Tree:
    """Return the tree of a machine.

    Parameters
    ----------
    topology:
        Result of ``_core.Topology.describe()``; nodes may also have ``free_bytes``.
    places:
        The threads on the machine.
    """
    nodes = [_read_node(topology, index) for index in range(len(topology["nodes"]))]
    threads = _Threads(places)
    tree = _draw_nodes(topology, nodes, threads, [[node] for node in nodes])
    if _count_lines(tree) <= _MOST_LINES:
        return tree
    alike = _runs(nodes, lambda node: (node.memory, _pattern(node.cores, threads, 0)))
    return _draw_nodes(topology, nodes, threads, alike)


def _draw_nodes(
    topology: Mapping[str, Any], nodes: Sequence[_Node], threads: _Threads, together: Iterable[Sequence[_Node]]
) -> Tree:
    tree = Tree(_machine_label(topology, nodes), guide_style="dim")
    for run in together:
        branch = tree.add(_node_label(run, topology["distance_source"]))
        _add_cores(branch, [node.cores for node in run], 0, threads)
    return tree


def _count_lines(tree: Tree) -> int:
    return 1 + sum(map(_count_lines, tree.children))


# ---- reading ---------------------------------------------------------------------------------------------------------


def _read_node(topology: Mapping[str, Any], index: int) -> _Node:
    node = topology["nodes"][index]
    caches_of = defaultdict(list)
    for number, cache in enumerate(topology["caches"]):
        for processor in cache["processors"]:
            caches_of[processor].append(number)
    sharing: defaultdict[int, int] = defaultdict(int)
    for core in node["cores"]:
        for number in caches_of[core["processors"][0]]:
            sharing[number] += 1
    cores = []
    for core in node["cores"]:
        caches = [
            _Cache(cache["level"], cache["bytes"], number, sharing[number])
            for number in reversed(caches_of[core["processors"][0]])
            for cache in [topology["caches"][number]]
        ]
        # A cache of the only core of a node may also be shared with cores of other nodes.
        shared = tuple(each for each in caches if each.cores > 1 or each.level > 2)
        private = tuple(each for each in caches if each not in shared)
        cores.append(_Core(core["os_index"], tuple(core["processors"]), shared, private))
    return _Node(
        node["os_index"],
        node["memory_bytes"],
        node.get("free_bytes"),
        tuple(topology["distances"][index]),
        tuple(cores),
    )


# ---- grouping of equal parts -----------------------------------------------------------------------------------------


def _runs(items: Iterable[_Item], key: Callable[[_Item], Hashable]) -> list[list[_Item]]:
    return [list(run) for _, run in groupby(items, key)]


def _likeness(core: _Core, threads: _Threads, depth: int) -> Hashable:
    """Return a key that is equal for cores drawn as one, below `depth` levels of shared caches."""
    return (
        core.number >= 0,
        tuple((cache.level, cache.size, cache.cores) for cache in (*core.shared[depth:], *core.private)),
        tuple(threads.count(processor) for processor in core.processors),
    )


def _pattern(cores: Sequence[_Core], threads: _Threads, depth: int) -> Hashable:
    """Return a key that is equal for groups of cores drawn as one: of each core, and of the caches they share."""
    return tuple(
        (
            _likeness(core, threads, depth),
            tuple(cache in before.shared for cache in core.shared[depth:]),
        )
        for before, core in zip((cores[0], *cores), cores, strict=False)
    )


def _add_cores(branch: Tree, groups: Sequence[Sequence[_Core]], depth: int, threads: _Threads) -> None:
    """Add groups of cores with the same pattern, and the caches that they share from level `depth` on."""
    first = groups[0]
    below = _runs(range(len(first)), lambda i: first[i].shared[depth].number if len(first[i].shared) > depth else -1)
    for run in _runs(below, lambda part: _pattern([first[i] for i in part], threads, depth)):
        cache = first[run[0][0]].shared[depth : depth + 1]
        if cache:
            parts = [[group[i] for i in part] for group in groups for part in run]
            _add_cores(branch.add(_cache_label(cache[0], len(parts))), parts, depth + 1, threads)
            continue
        for part in run:
            for alike in _runs(part, lambda i: _likeness(first[i], threads, depth)):
                _add_equal_cores(branch, [group[i] for group in groups for i in alike], threads)


def _add_equal_cores(branch: Tree, cores: Sequence[_Core], threads: _Threads) -> None:
    if cores[0].number >= 0:
        branch = branch.add(_core_label(cores))
    for hardware_thread in range(len(cores[0].processors)):
        processors = [core.processors[hardware_thread] for core in cores]
        branch.add(Text.assemble(_named("processor", processors), "  ", threads.describe(processors)))


# ---- labels ----------------------------------------------------------------------------------------------------------


def _machine_label(topology: Mapping[str, Any], nodes: Sequence[_Node]) -> Text:
    cores = [core for node in nodes for core in node.cores]
    units = sum(len(core.processors) for core in cores)
    parts = [_count(len(nodes), "NUMA node"), _count(len(cores), "core"), _count(units, "processor")]
    if topology["memory_bytes"]:
        parts.insert(0, size_text(topology["memory_bytes"]))
    return Text.assemble((topology["name"] or "This machine", "bold"), "  ", ", ".join(parts))


def _node_label(nodes: Sequence[_Node], distance_source: str) -> Text:
    first = nodes[0]
    parts = []
    if first.memory:
        parts.append(size_text(first.memory) + (" each" if len(nodes) > 1 else ""))
    free = [node.free for node in nodes if node.free is not None]
    if len(free) == len(nodes):
        parts.append(f"{size_text(sum(free))} free")
    if not first.cores:
        parts.append("memory without cores")
    distances = ""
    if len(first.distances) > 1:
        if len(nodes) == 1 and len(first.distances) <= _MOST_DISTANCES:
            distances = "  distances " + " ".join(map(str, first.distances))
        else:
            distances = f"  distances {min(first.distances)} to {max(first.distances)}"
        distances += "" if distance_source == "reported" else f" ({distance_source})"
    name = _named("NUMA node", [node.number for node in nodes])
    return Text.assemble((name, "bold cyan"), "  ", ", ".join(parts), (distances, "dim"))


def _cache_label(cache: _Cache, count: int) -> Text:
    text = _cache_text(cache)
    if count > 1:
        text = f"{count} x {text}, each for {_count(cache.cores, 'core')}"
    return Text(text, style="magenta")


def _core_label(cores: Sequence[_Core]) -> Text:
    label = Text(_named("core", [core.number for core in cores]))
    if cores[0].private:
        caches = ", ".join(map(_cache_text, cores[0].private))
        label.append(f"  {caches}{' each' if len(cores) > 1 else ''}", style="dim")
    return label


def _cache_text(cache: _Cache) -> str:
    return f"L{cache.level} {size_text(cache.size)}" if cache.size else f"L{cache.level}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _named(noun: str, numbers: Sequence[int]) -> str:
    return f"{noun}{'' if len(numbers) == 1 else 's'} {range_text(numbers)}"


def range_text(numbers: Sequence[int]) -> str:
    """Return whole numbers with ranges: "0-3, 8", and "0, 2 .. 22" for equal distances."""
    parts = []
    rest = list(numbers)
    while rest:
        step = rest[1] - rest[0] if len(rest) > 1 else 1
        length = 1
        while length < len(rest) and rest[length] - rest[length - 1] == step:
            length += 1
        if step == 1 and length > 1:
            parts.append(f"{rest[0]}-{rest[length - 1]}")
        elif length > 3 and step > 1:
            parts.append(f"{rest[0]}, {rest[1]} .. {rest[length - 1]}")
        else:
            length = 1
            parts.append(str(rest[0]))
        rest = rest[length:]
    return ", ".join(parts)


def size_text(size: int) -> str:
    """Return a number of bytes as text: "48 KiB", "23.5 GiB"."""
    number = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1023.95:
            return f"{number:.1f}".removesuffix(".0") + f" {unit}"
        number /= 1024
    return f"{number:.1f}".removesuffix(".0") + " TiB"
