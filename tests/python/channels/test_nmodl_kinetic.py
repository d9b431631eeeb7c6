"""Rate equations of KINETIC blocks, against NumPy and SciPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve

import ranvier as rv
from ranvier.channels.nmodl_kinetic import Reaction, Scheme
from ranvier.equations.trees import Node
from ranvier.errors import EquationError
from test_implicit_integration import stepped, tree

PLACE = tree("1").place


def names(*given: str) -> dict[str, Node]:
    return {name: tree(name) for name in given}


@pytest.mark.parametrize("seed", range(12))
def test_random_reactions(seed: int) -> None:
    """Of up to two reactants on each side, some twice, with sources, volumes and rates that depend on the potential."""
    random = np.random.default_rng(seed)
    states = [f"s{i}" for i in range(int(random.integers(2, 6)))]
    reactions, numbers = [], []
    for _ in range(int(random.integers(1, 6))):
        sides = [
            {str(name): int(random.integers(1, 3)) for name in random.choice(states, random.integers(1, 3), False)}
            for _ in range(2)
        ]
        up, down = (float(each) for each in random.uniform(0.05, 1.0, 2).round(3))
        reactions.append(Reaction(PLACE, sides[0], sides[1], tree(f"{up}*exp((v + 60)/20)"), tree(str(down))))
        numbers.append((sides, up * np.exp(1.0 / 2.0), down))
    volumes = {states[0]: 2.5}
    scheme = Scheme(reactions, [(states[-1], tree("0.3"))], {name: tree(str(each)) for name, each in volumes.items()})
    begin = {name: float(each) for name, each in zip(states, random.uniform(0.2, 1.0, len(states)), strict=True)}

    def lack(x: Any) -> list[float]:
        values = dict(zip(states, x, strict=True))
        flows = dict.fromkeys(states, 0.0)
        flows[states[-1]] += 0.3
        for (left, right), up, down in numbers:
            net = up * np.prod([values[n] ** c for n, c in left.items()])
            net -= down * np.prod([values[n] ** c for n, c in right.items()])
            for name in states:
                flows[name] += net * (right.get(name, 0) - left.get(name, 0))
        return [volumes.get(n, 1.0) * (values[n] - begin[n]) - 0.1 * flows[n] for n in states]

    statement = scheme.statement(names(*states), states)
    made, ended = stepped(statement, begin, 0.1, potential=-50.0)
    assert ended
    np.testing.assert_allclose(lack(made), 0.0, atol=1e-10)
    np.testing.assert_allclose(made, fsolve(lack, list(begin.values()), xtol=1e-13), rtol=1e-8)


def test_a_sum_that_is_conserved_counts_amounts() -> None:
    scheme = Scheme(
        [Reaction(PLACE, {"a": 1}, {"b": 1}, tree("0.4"), tree("0.1"))],
        volumes={"a": tree("3")},
        sums=[(PLACE, {"a": 1, "b": 1}, tree("2"))],
    )
    made, _ = stepped(scheme.statement(names("a", "b"), ["a", "b"], steady=True), {"a": 0.0, "b": 0.0}, 0.1)
    assert 3 * made[0] + made[1] == pytest.approx(2.0)
    assert 0.4 * made[0] == pytest.approx(0.1 * made[1])


def test_a_reactant_that_is_no_state_is_held() -> None:
    scheme = Scheme([Reaction(PLACE, {"a": 1, "v": 1}, {"b": 1}, tree("0.01"), None)])
    assert set(scheme.derivatives(names("a", "b", "v"), ["a", "b"])) == {"a", "b"}
    made, _ = stepped(scheme.statement(names("a", "b", "v"), ["a", "b"]), {"a": 1.0, "b": 0.0}, 0.1, potential=20.0)
    np.testing.assert_allclose(made, [1.0 / 1.02, 0.02 / 1.02], rtol=1e-14)


def test_sums_that_no_equation_can_make_room_for_are_refused() -> None:
    reaction = Reaction(PLACE, {"a": 1}, {"b": 1}, tree("1"), tree("2"))
    for sums in ([{"a": 1, "c": 1}], [{"a": 1, "b": 1}, {"a": 1}, {"b": 1}]):
        scheme = Scheme([reaction], sums=[(PLACE, each, tree("1")) for each in sums])
        with pytest.raises(EquationError, match="conserved"):
            scheme.statement(names("a", "b", "c"), ["a", "b", "c"])


def test_a_scheme_that_no_current_depends_on_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "unused.mod"
    file.write_text("""NEURON { SUFFIX unused NONSPECIFIC_CURRENT i }
    ASSIGNED { v (mV) i (mA/cm2) }
    STATE { c o }
    INITIAL { SOLVE kin STEADYSTATE sparse }
    BREAKPOINT { SOLVE kin METHOD sparse i = 0.001*(v + 50) }
    KINETIC kin { ~ c <-> o (0.2, 0.1) CONSERVE c + o = 1 }
    """)
    channel = rv.read_nmodl(file)
    assert channel.gates == ()
    ball = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
    assert rv.Cell(ball, membrane=[("all", channel())]).compartment_count == 1
