"""Files of morphologies that are drawn at random, and damage to them."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from damaged_files import mutated

__all__ = ["Sample", "damaged_text", "draw_tree", "neurolucida", "swc", "write_damaged_hdf5"]

NUMBERS = [
    *("nan", "NaN", "inf", "-inf", "1e400", "-1e400", "1e300", "1e38", "3.5e38", "1e-40", "1e-400", "-1", "0", "-0"),
    *("1.5", "+1", "1e0", "0x10", "1,5", "1_0", "--1", "1e", "", ".", "abc", "\u0661", "2147483647", "2147483648"),
    *("4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999"),
    *("1", "2", "3", "4", "5", "16", "19", "20", "300", "1e-7", "1e9", "1e10", "1d0", "1f", "nan(1)", "infinity"),
]


@dataclass(frozen=True)
class Sample:
    """A point of a tree, as SWC files have them."""

    number: int
    tag: int
    place: tuple[float, float, float]
    radius: float
    parent: int


def draw_tree(chance: random.Random) -> list[Sample]:
    """Return the samples of a soma and some neurites that are sound."""
    samples = [Sample(1, 1, (0.0, 0.0, 0.0), round(chance.uniform(2.0, 12.0), 3), -1)]

    def add(tag: int, parent: Sample, length: float) -> Sample:
        way = [chance.gauss(0.0, 1.0) for _ in range(3)]
        size = math.hypot(*way) or 1.0
        x, y, z = (round(p + length * w / size, 4) for p, w in zip(parent.place, way, strict=True))
        samples.append(Sample(len(samples) + 1, tag, (x, y, z), round(chance.uniform(0.1, 2.0), 3), parent.number))
        return samples[-1]

    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        tag = chance.choice([2, 3, 4, 5, 7])
        ends = [add(tag, samples[0], samples[0].radius)]
        for _ in range(chance.randint(1, 5)):
            end = chance.choice(ends[-2:])
            grown = add(tag, end, chance.uniform(0.5, 40.0))
            # Twigs at the last of them make forks; one at an end goes on.
            ends.append(grown)
    return samples


def swc(samples: list[Sample]) -> str:
    """Return the text of an SWC file."""
    lines = [f"{s.number} {s.tag} {' '.join(map(repr, s.place))} {s.radius!r} {s.parent}" for s in samples]
    return "# drawn\n" + "\n".join(lines) + "\n"


_KINDS = {2: "Axon", 3: "Dendrite", 4: "Apical", 5: "Dendrite", 7: "Axon"}


def neurolucida(samples: list[Sample]) -> str:
    """Return the text of a Neurolucida file of the same neurites; the soma is a contour."""
    children: dict[int, list[Sample]] = {}
    for sample in samples[1:]:
        children.setdefault(sample.parent, []).append(sample)
    size = samples[0].radius
    around = [(size, 0.0), (0.0, size), (-size, 0.0), (0.0, -size)]
    corners = "\n".join(f"  ({x:g} {y:g} 0 0.1)" for x, y in around)
    parts = [f'("CellBody"\n  (Color Red)\n  (CellBody)\n{corners}\n)\n']

    def grow(sample: Sample, depth: int) -> str:
        text = f"{'  ' * depth}({' '.join(map(repr, sample.place))} {2.0 * sample.radius!r})  ; {sample.number}\n"
        own = children.get(sample.number, [])
        if len(own) == 1:
            return text + grow(own[0], depth)
        if own:
            space = "  " * depth
            twigs = f"{space}|\n".join(grow(child, depth + 1) for child in own)
            text += f"{space}(\n{twigs}{space})\n"
        return text

    for root in children.get(1, []):
        text = grow(root, 1)
        parts += [f"((Color Cyan)\n  ({_KINDS[root.tag]})\n{text}  Normal\n)\n"]
    return "".join(parts)


def _damaged_lines(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    accident = chance.randrange(5)
    if accident == 0:
        del lines[i]
    elif accident == 1:
        lines[i], lines[j] = lines[j], lines[i]
    elif accident == 2:
        lines.insert(j, lines[i])
    elif accident == 3:
        lines[i] = lines[i][: chance.randrange(len(lines[i]) + 1)]
    else:
        words = lines[i].split(" ")
        del words[chance.randrange(len(words))]
        lines[i] = " ".join(words)
    return "\n".join(lines)


def _damaged_word(text: str, chance: random.Random) -> str:
    """Return the text with another number, or another word in the place of a number."""
    lines = text.split("\n")
    i = chance.randrange(len(lines))
    words = lines[i].split(" ")
    numbers = [k for k, word in enumerate(words) if any(c.isdigit() for c in word)]
    if not numbers:
        return text
    k = chance.choice(numbers)
    begin = "(" if words[k].startswith("(") else ""
    end = ")" if words[k].endswith(")") else ""
    words[k] = begin + chance.choice(NUMBERS) + end
    lines[i] = " ".join(words)
    return "\n".join(lines)


def damaged_text(text: str, chance: random.Random) -> bytes:
    """Return a text as after one or a few accidents."""
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        kind = chance.randrange(8)
        if kind < 2:
            text = _damaged_lines(text, chance)
        elif kind < 6:
            text = _damaged_word(text, chance)
        elif kind == 6:
            place = chance.randrange(len(text) + 1)
            words = [
                "(",
                ")",
                "|",
                "#",
                '"',
                ";",
                "\r",
                "\0",
                "\ufeff",
                "(Spine)",
                "<",
                "Generated",
                "((",
                "))",
                "\t",
                "-",
            ]
            text = text[:place] + chance.choice(words) + text[place + chance.randint(0, 2) :]
        elif text:
            return mutated(text.encode(errors="surrogateescape"), chance)
    return text.encode(errors="surrogateescape")


def write_damaged_hdf5(path: Path, samples: list[Sample], chance: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Write points and structure of a tree, one of them damaged, and return what was written."""
    size = samples[0].radius
    points = [[size, 0.0, 0.0, 0.0], [0.0, size, 0.0, 0.0], [-size, 0.0, 0.0, 0.0]]
    rows = [[0, 1, -1]]
    number: dict[int, int] = {1: 0}
    for sample in samples[1:]:
        before = samples[sample.parent - 1]
        if before.number == 1:
            continue
        # One section for each pair of points.
        rows.append([len(points), sample.tag if sample.tag < 5 else 3, number.get(before.number, 0)])
        number[sample.number] = len(rows) - 1
        points += [[*each.place, 2.0 * each.radius] for each in (before, sample)]
    p, s = np.array(points, dtype=np.float32), np.array(rows)
    for _ in range(chance.choice([0, 1, 1, 1, 2])):
        if chance.random() < 0.4:
            p[chance.randrange(len(p)), chance.randrange(4)] = chance.choice(
                [math.nan, math.inf, -math.inf, 1e300, 1e38, -1.0, 0.0, 1e-300, 1e9]
            )
        else:
            values = [-2, -1, 0, 1, 2, 3, len(p), len(p) - 1, len(s), len(s) - 1, 10**6, 2**31 - 1, -(2**31), 2**32, -5]
            s[chance.randrange(len(s)), chance.randrange(3)] = chance.choice(values)
    if chance.random() < 0.1:
        p = chance.choice([p[:0], p[:, :3], p[:1], p.ravel(), p[:-1], p.astype(np.int64), p.astype("S4")])
    if chance.random() < 0.1:
        s = chance.choice([s[:0], s[:, :2], s[1:], s.ravel(), s[::-1], s.astype(np.float64), s[:1]])
    with h5py.File(path, "w", libver="latest") as file:
        if chance.random() > 0.02:
            file["points"] = p
        if chance.random() > 0.02:
            file["structure"] = s
        if chance.random() < 0.5:
            group = file.create_group("metadata")
            version = chance.choice([[1, 1], [1, 2], [1, 3], [1, 3], [2, 0], [0, 0]])
            group.attrs["version"] = np.array(version, dtype=np.uint32)
            group.attrs["cell_family"] = np.array([chance.choice([0, 0, 1, 9])], dtype=np.uint32)
    return p, s
