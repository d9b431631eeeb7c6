"""The step function of a neuron model as a text in the language of LLVM.

Its arguments are described in core/program/step_function.hpp. Some neurons at a time go through the whole
program, so that only variables and inputs touch memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from ranvier.compiled.bodies import Body, first_values, needed
from ranvier.compiled.compaction import ENTRY, CompactedStep, loop_to_compact
from ranvier.compiled.current_constants import constants_of_currents
from ranvier.compiled.places import RARELY, Places
from ranvier.compiled.texts import module
from ranvier.compiled.vectors import Vectors
from ranvier.equations.program import NeuronProgram, Program

__all__ = ["ENTRY", "step_function"]

# As many as the widest registers have.
_LANES = 8
# Fewer instructions take less time than the branch that would leave them out.
_LEAST_SAVED = 8
# Programs of more instructions gain little where no current flows, and another loop takes long to compile.
_MOST_OF_QUIET_LOOP = 64


def step_function(program: NeuronProgram, attributes: str, truths_are_bits: bool, lanes_of_loops: int) -> str:
    """Return the text of a module with one function that can be called, `ENTRY`.

    Parameters
    ----------
    program
        The neurons.
    attributes
        Attributes of functions in the language of LLVM: the available instructions.
    truths_are_bits
        Whether the processor keeps truths as single bits; otherwise loops keep them as numbers of 64 bits.
    lanes_of_loops
        Number of neurons in an iteration of a loop, 8 or 16.
    """
    loop = loop_to_compact(program.step)
    if loop is None:
        lanes, functions = _LANES, [_Step(program, truths_are_bits).text()]
    else:
        lanes, functions = lanes_of_loops, CompactedStep(program, loop, lanes_of_loops, truths_are_bits).functions()
    return module(lanes, functions, attributes)


def resets_of(step: Program, variables: int) -> dict[int, int]:
    """Return the variables that a spike sets, and by each the value that it has without one.

    Few neurons fire in a step, so that what sets the variables need not be calculated for all. None are returned where
    little would be saved.
    """
    firsts = first_values(step)
    made = {firsts[place]: each for place, each in enumerate(step.instructions)}
    used = Counter(operand for each in step.instructions for operand in each.operands)
    used.update(step.results)
    fires = step.results[variables]
    found = {}
    for variable, result in enumerate(step.results[:variables]):
        instruction = made.get(result)
        if instruction is None or instruction.op != "select" or used[result] > 1:
            continue
        if instruction.operands[0] == fires:
            found[variable] = instruction.operands[2]
    silent = [found.get(variable, step.results[variable]) for variable in range(variables)]
    saved = needed(step, step.results) - needed(step, [*silent, *step.results[variables:]])
    return found if len(saved) >= _LEAST_SAVED else {}


def fixed_places(step: Program, known: Iterable[int]) -> set[int]:
    """Return which instructions make the same for all neurons if some values are the same for all."""
    firsts = first_values(step)
    fixed, places = set(known), set()
    for place, each in enumerate(step.instructions):
        if each.body is None and each.operands and fixed.issuperset(each.operands):
            fixed.add(firsts[place])
            places.add(place)
    return places


class _Step:
    """Writes the function for a program without loops whose number of iterations could differ."""

    def __init__(self, program: NeuronProgram, truths_are_bits: bool) -> None:
        self.to = Vectors(_LANES)
        self.program = program
        self.truths_are_bits = truths_are_bits
        self.places: Places

    def text(self) -> str:
        """Return it: a loop over the neurons for constants that may all differ between them, and faster ones.

        In these, only those differ that follow from currents; the others stay in registers. In one of them no current
        flows, so that its results and those of constants are calculated once.
        """
        to = self.to
        to.begin("entry")
        places = self.places = Places(to, self.program)
        every = range(self.program.constants)
        currents = sorted(constants_of_currents(self.program))
        shared, separate = to.label(), to.label()
        is_shared = places.are_shared(each for each in every if each not in currents)
        to.do(f"br i1 {is_shared}, label %{shared}, label %{separate}")
        to.begin(shared)
        masks = {each: places.mask(each) for each in currents}
        same = {each: places.shared_constant(each) for each in every if each not in masks}

        def constants(k: str) -> list[str]:
            return [same[each] if each in same else places.masked_constant(each, masks[each], k) for each in every]

        if places.is_quiet and len(self.program.step.instructions) <= _MOST_OF_QUIET_LOOP:
            quiet, driven = to.label(), to.label()
            to.do(f"br i1 {places.is_quiet}, label %{quiet}, label %{driven}")
            to.begin(quiet)
            self._loop(constants, same, self._body("").constant(0.0))
            to.begin(driven)
        self._loop(constants)
        to.begin(separate)
        self._loop(lambda k: [places.neuron_constant(each, k) for each in every])
        body = "\n".join(to.lines)
        return f"define i32 @{ENTRY}(ptr noalias readonly %arguments) #0 {{\n{body}\n}}"

    def _body(self, k: str) -> Body:
        return Body(self.to, self.truths_are_bits, self.places.words(k), lambda: self.places.valid(k))

    def _fixed(self, same: Mapping[int, str], current: str) -> tuple[set[int], dict[int, str]]:
        """Write the instructions on constants, and on a current, that are equal for all neurons.

        Returns the places of these instructions, and their values.
        """
        step, variables = self.program.step, len(self.program.variables)
        known = {variables + constant: value for constant, value in same.items()}
        known[variables + self.program.constants + len(self.program.receptors)] = current
        places = fixed_places(step, known)
        firsts = first_values(step)
        values = [known.get(each, "") for each in range(len(step.inputs))]
        self._body("").write(step, values, places)
        return places, {firsts[place]: values[firsts[place]] for place in places}

    def _loop(
        self, constants: Callable[[str], list[str]], same: Mapping[int, str] | None = None, current: str = ""
    ) -> None:
        """Write a loop. If a current is given, it flows into all, and the constants `same` are the same for all."""
        to = self.to
        fixed = self._fixed(same, current) if same is not None else (set[int](), dict[int, str]())
        before, label, after = to.block, to.label(), to.label()
        to.do(f"br label %{label}")
        to.begin(label)
        k, flags, next_k, next_flags = to.name(), to.name(), to.name(), to.name()
        # The last block of an iteration is only known when the iteration has been written.
        head = len(to.lines)
        made = self._iteration([*constants(k), *self.places.given(k, current)], *fixed, k, flags)
        end = to.block
        to.lines[head:head] = [
            f"  {k} = phi i64 [ 0, {before} ], [ {next_k}, {end} ]",
            f"  {flags} = phi i32 [ 0, {before} ], [ {next_flags}, {end} ]",
        ]
        to.do(f"{next_k} = add nuw i64 {k}, {_LANES}")
        to.do(f"{next_flags} = or i32 {made}, 0")
        more = to.make(f"icmp ult i64 {next_k}, {self.places.lanes}")
        to.do(f"br i1 {more}, label %{label}, label %{after}")
        to.begin(after)
        to.do(f"ret i32 {next_flags}")

    def _iteration(self, given: list[str], fixed: set[int], known: Mapping[int, str], k: str, flags: str) -> str:
        """Write the step of some neurons. All is read before anything is written. Returns the flags.

        Some instructions have been written already, and the values that they make are known.
        """
        to, step, places = self.to, self.program.step, self.places
        state = places.old_state(k)
        values = [*state, *given, *[""] * (first_values(step)[-1] - len(step.inputs))]
        for each, value in known.items():
            values[each] = value
        body = self._body(k)
        count = len(state)
        resets = resets_of(step, count)
        silent = [resets.get(variable, step.results[variable]) for variable in range(count)]
        always = needed(step, [*silent, *step.results[count:]]) | fixed
        body.write(step, values, always - fixed)
        for old, new, array in zip(state, (values[each] for each in silent), places.state, strict=True):
            if new != old:
                places.store(new, array, k)
        places.clear_inputs(k)
        flags, some = self._report(values[step.results[count]], places.fires, k, flags, 1)
        if resets:
            after, work = to.label(), to.label()
            to.do(f"br i1 {some}, label %{work}, label %{after}, !prof {RARELY}")
            to.begin(work)
            body.write(step, values, needed(step, [step.results[each] for each in resets]) - always)
            for variable in resets:
                places.store(values[step.results[variable]], places.state[variable], k)
            to.do(f"br label %{after}")
            to.begin(after)
        if len(step.results) > count + 1:
            ended = values[step.results[count + 1]]
            for each in step.results[count + 2 :]:
                ended = to.both(ended, values[each])
            flags, _ = self._report(to.negation(ended), places.failures, k, flags, 2)
        return flags

    def _report(self, truth: str, array: str, k: str, flags: str, flag: int) -> tuple[str, str]:
        """Write a truth as bits. Return the flags, with one more if it holds in a lane, and whether it does."""
        to = self.to
        bits = to.packed(truth)
        self.places.report(bits, array, k)
        some = to.make(f"icmp ne i{to.lanes} {bits}, 0")
        return to.make(f"or i32 {flags}, {to.make(f'select i1 {some}, i32 {flag}, i32 0')}"), some
