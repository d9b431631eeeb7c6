"""Constants of a program that often differ between neurons: those that depend on currents."""

from __future__ import annotations

from ranvier.equations.program import NeuronProgram

__all__ = ["constants_of_currents"]

_CURRENTS = frozenset(("A", "mA", "uA", "µA", "nA", "pA", "fA"))


def constants_of_currents(program: NeuronProgram) -> set[int]:
    """Return the numbers of the constants that depend on parameters which are currents, such as ``I_e``.

    In most networks, only these are drawn for each neuron, and all other parameters are equal for all neurons.
    """
    prepare = program.prepare
    follow = {i for i, each in enumerate(program.parameters) if each.unit in _CURRENTS}
    value = len(prepare.inputs)
    for each in prepare.instructions:
        made = 1 if each.body is None else each.count + 1
        if not follow.isdisjoint(each.operands):
            follow.update(range(value, value + made))
        value += made
    results = [each in follow for each in prepare.results]
    outputs = [(each, constant) for each in program.propagators for _, _, constant in each.outputs]
    found = {constant for each, constant in outputs if any(i >= 0 and results[i] for i in each.entries)}
    first_of_propagators = min((constant for _, constant in outputs), default=program.constants)
    return found | {i for i in range(first_of_propagators) if results[i]}
