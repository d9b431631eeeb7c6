"""The effects of spikes on weights, as a text in the language of LLVM.

The arguments of the functions are described in core/program/event_function.hpp.
"""

from __future__ import annotations

from collections.abc import Iterable

from ranvier.compiled.bodies import Body, first_values, needed
from ranvier.compiled.elementary import BINARY
from ranvier.compiled.places import ALIGNED
from ranvier.compiled.texts import module
from ranvier.compiled.vectors import Vectors, number
from ranvier.equations.program import Program, SynapseProgram

__all__ = ["ENTRIES", "event_functions"]

ENTRIES = tuple(f"ranvier_{side}_{what}" for side in ("presynaptic", "postsynaptic") for what in ("uniforms", "event"))
"""The functions: for each side, one that calculates numbers shared by all synapses, and one that changes weights."""

# Two vectors of double precision of the widest registers: a processor works at one while it waits for the other.
_LANES = 16
# Members of EventArguments, by their offset in units of 8 bytes, and the inputs before parameters of a program.
_COUNT, _WEIGHTS, _TRACES, _OWN, _PARAMETERS, _UNIFORMS = range(6)
_WEIGHT, _TRACE, _OWN_TRACE, _FIRST_PARAMETER = range(4)


def event_functions(
    program: SynapseProgram, per_synapse: Iterable[int], double_weights: bool, attributes: str, truths_are_bits: bool
) -> str:
    """Return the text of a module with the functions `ENTRIES`.

    Parameters
    ----------
    program
        The synapses.
    per_synapse
        Indices of the parameters with one value per synapse.
    double_weights
        Whether weights, traces and these parameters are numbers of double precision, not of single precision.
    attributes, truths_are_bits
        As for `ranvier.compiled.emission.step_function`.
    """
    functions = []
    for event, names in zip((program.presynaptic, program.postsynaptic), (ENTRIES[:2], ENTRIES[2:]), strict=True):
        written = _Event(event, sorted(per_synapse), "double" if double_weights else "float", truths_are_bits)
        functions += [written.uniforms(names[0]), written.changes(names[1])]
    return module(_LANES, functions, attributes)


class _Event:
    """Writes the functions of one side."""

    def __init__(self, event: Program, per_synapse: list[int], real: str, truths_are_bits: bool) -> None:
        self.event = event
        self.per_synapse = per_synapse
        self.real = real
        self.truths_are_bits = truths_are_bits
        self.firsts = first_values(event)
        self.is_truth = [kind == "truth" for kind in event.types()]
        shared = [n for n in range(len(event.inputs) - _FIRST_PARAMETER) if n not in per_synapse]
        self.same = {_FIRST_PARAMETER + n for n in shared}
        for place, each in enumerate(event.instructions):
            if self.same.issuperset(each.operands):
                self.same.add(self.firsts[place])
        self.constants = {self.firsts[i]: each.number for i, each in enumerate(event.instructions) if not each.operands}
        places = needed(event, event.results)
        self.different = {place for place in places if self.firsts[place] not in self.same}
        read = {each for place in self.different for each in event.instructions[place].operands} | set(event.results)
        self.read = read
        # Contents of the uniform numbers of a call, in this order; truths are 1 or 0.
        self.kept = sorted((read & self.same) - set(self.constants))

    def uniforms(self, name: str) -> str:
        """Return the function that calculates, from parameters, the numbers that all synapses share."""
        to = Vectors(_LANES)
        to.begin("entry")
        values = [""] * self.firsts[-1]
        for n in range(_FIRST_PARAMETER, len(self.event.inputs)):
            if n in self.same:
                address = to.element("double", "%parameters", str(n - _FIRST_PARAMETER))
                values[n] = to.repeated("double", to.make(f"load double, ptr {address}, align 8"))
        self._body(to).write(self.event, values, needed(self.event, self.kept))
        for row, value in enumerate(self.kept):
            kept = values[value] if not self.is_truth[value] else to.select(values[value], number(1.0), number(0.0))
            one = to.make(f"extractelement {to.numbers} {kept}, i64 0")
            to.do(f"store double {one}, ptr {to.element('double', '%uniforms', str(row))}, align 8")
        to.do("ret void")
        return _defined(name, "ptr noalias readonly %parameters, ptr noalias %uniforms", to)

    def changes(self, name: str) -> str:
        """Return the function that changes weights."""
        to = Vectors(_LANES)
        to.begin("entry")
        if self.event.results[0] != _WEIGHT:
            self._loop(to)
        to.do("ret void")
        return _defined(name, "ptr noalias readonly %arguments", to)

    def _loop(self, to: Vectors) -> None:
        count, weights = _member(to, _COUNT, "i64"), _member(to, _WEIGHTS, "ptr")
        arrays = {_WEIGHT: weights, _TRACE: _member(to, _TRACES, "ptr"), _OWN_TRACE: _member(to, _OWN, "ptr")}
        parameters = _member(to, _PARAMETERS, "ptr")
        for row, n in enumerate(self.per_synapse):
            arrays[_FIRST_PARAMETER + n] = to.make(f"load ptr, ptr {to.element('ptr', parameters, str(row))}, align 8")
        numbers = _member(to, _UNIFORMS, "ptr")
        body = self._body(to)
        values = [""] * self.firsts[-1]
        for row, value in enumerate(self.kept):
            address = to.element("double", numbers, str(row))
            kept = to.repeated("double", to.make(f"load double, ptr {address}, align 8"))
            values[value] = kept if not self.is_truth[value] else to.compare("ogt", kept, number(0.0))
        for value in self.read & set(self.constants):
            values[value] = body.constant(self.constants[value])
        before, label, after = to.block, to.label(), to.label()
        to.do(f"br label %{label}")
        to.begin(label)
        k, next_k = to.name(), to.name()
        head = len(to.lines)
        for value, array in arrays.items():
            if value in self.read:
                values[value] = self._loaded(to, array, k)
        for place in sorted(self.different):
            instruction = self.event.instructions[place]
            if instruction.op == "pow" and instruction.operands[1] in self.same:
                values[self.firsts[place]] = self._power(to, *(values[each] for each in instruction.operands))
            else:
                body.write(self.event, values, [place])
        self._store(to, values[self.event.results[0]], weights, k)
        to.lines.insert(head, f"  {k} = phi i64 [ 0, {before} ], [ {next_k}, {to.block} ]")
        to.do(f"{next_k} = add nuw i64 {k}, {_LANES}")
        to.do(f"br i1 {to.make(f'icmp ult i64 {next_k}, {count}')}, label %{label}, label %{after}")
        to.begin(after)

    def _power(self, to: Vectors, base: str, exponent: str) -> str:
        """Write a power with the same exponent for all synapses: the usual exponents, 0 and 1, need no logarithm."""
        one = to.make(f"extractelement {to.numbers} {exponent}, i64 0")
        is_one, is_zero = (to.make(f"fcmp oeq double {one}, {each}") for each in ("1.0", "0.0"))
        is_simple = to.make(f"or i1 {is_one}, {is_zero}")
        kind = to.numbers
        simple = to.make(f"select i1 {is_one}, {kind} {base}, {kind} {number(1.0)}")
        before, work, after = to.block, to.label(), to.label()
        to.do(f"br i1 {is_simple}, label %{after}, label %{work}")
        to.begin(work)
        power = BINARY["pow"](to, base, exponent)
        to.do(f"br label %{after}")
        to.begin(after)
        return to.make(f"phi {kind} [ {simple}, {before} ], [ {power}, %{work} ]")

    def _body(self, to: Vectors) -> Body:
        def none(*_: object) -> str:
            raise AssertionError("events do not draw or have loops")

        return Body(to, self.truths_are_bits, none, none)

    def _loaded(self, to: Vectors, array: str, k: str) -> str:
        kind = f"<{_LANES} x {self.real}>"
        loaded = to.make(f"load {kind}, ptr {to.element(self.real, array, k)}, align {ALIGNED}")
        if self.real == "float":
            loaded = to.make(f"fpext {kind} {loaded} to {to.numbers}")
        return to.add(loaded, number(0.0))

    def _store(self, to: Vectors, value: str, array: str, k: str) -> None:
        kind = f"<{_LANES} x {self.real}>"
        if self.real == "float":
            value = to.make(f"fptrunc {to.numbers} {value} to {kind}")
        stored = to.make(f"fadd {kind} {value}, zeroinitializer")
        to.do(f"store {kind} {stored}, ptr {to.element(self.real, array, k)}, align {ALIGNED}")


def _member(to: Vectors, index: int, kind: str) -> str:
    return to.make(f"load {kind}, ptr {to.element('i64', '%arguments', str(index))}, align 8")


def _defined(name: str, arguments: str, to: Vectors) -> str:
    body = "\n".join(to.lines)
    return f"define void @{name}({arguments}) #0 {{\n{body}\n}}"
