"""The step function of a program with a loop whose number of iterations differs between neurons.

Most neurons need no iteration: the part before the loop has done their work. So neurons in their order go
through the program as if it had no loop, without a stop. This is right for those whose loop ends at once. The others
go to a *frame*, where each of the numbers that the loop carries, or that it or what follows reads, has a row with an
element for each lane. Whenever the frame is full, its neurons iterate until some have finished, and the part after the
loop is executed for those; the rest continues when the call has no more neurons. So a few slow neurons do not delay
others. Before that, neurons are collected in another frame, in their order. The results of a lane do not depend on its
place, so this changes no bit.
"""

from __future__ import annotations

from dataclasses import dataclass

from ranvier.compiled.bodies import Body, needed
from ranvier.compiled.frames import Frame, Rows
from ranvier.compiled.kept_constants import KeptConstants
from ranvier.compiled.places import ALIGNED, RARELY, Places
from ranvier.compiled.vectors import Vectors
from ranvier.equations.program import NeuronProgram, Program

__all__ = ["ENTRY", "CompactedStep", "loop_to_compact"]

ENTRY = "ranvier_step"
"""Name of step functions."""

_TURN, _FINISH = "turn", "finish"


def loop_to_compact(step: Program) -> int | None:
    """Return the place of the largest outer loop that can have several iterations; None without one."""
    sizes = {
        place: sum(1 for _ in each.body.all_instructions())
        for place, each in enumerate(step.instructions)
        if each.body is not None and each.number >= 2.0
    }
    return max(sizes, key=lambda place: sizes[place]) if sizes else None


@dataclass(frozen=True)
class _Counters:
    """Addresses of the counters of the function."""

    k: str
    """The first neuron that is in the first frame."""
    left: str
    """Bits of the lanes of the first frame that have yet to be moved to the second one."""
    alive: str
    """Bits of the lanes of the second frame with a neuron."""
    turns: str
    """How many turns the second frame has made."""
    flags: str
    """Result of the function."""
    neuron: str
    """Neuron of each lane of the second frame."""
    last: str
    """Largest number of iterations of each lane."""


class CompactedStep:
    """Writes the functions.

    Parameters
    ----------
    program
        The neurons.
    loop
        Place of the loop in `program.step`.
    lanes
        Lanes of a frame.
    truths_are_bits
        See `step_function`.
    """

    def __init__(self, program: NeuronProgram, loop: int, lanes: int, truths_are_bits: bool) -> None:
        self.program = program
        self.loop = program.step.instructions[loop]
        self.rows = Rows(program, loop)
        self.lanes = lanes
        self.truths_are_bits = truths_are_bits
        count = len(program.variables)
        results = program.step.results
        self.changed = [v for v in range(count) if results[v] != v]
        self.can_fail = len(results) > count + 1

    def functions(self) -> list[str]:
        """Return their texts."""
        return [self._turn(), self._finish(), _Main(self).text()]

    def body(self, to: Vectors, valid: str) -> Body:
        """Return the writer of functions on a frame, which neither draw nor have the numbers of neurons."""

        def no_words(index: int) -> str:
            raise AssertionError(f"draw {index} precedes the loop")

        return Body(to, self.truths_are_bits, no_words, lambda: valid)

    def _turn(self) -> str:
        """Return the function for an iteration in a frame. It takes and returns bits of the lanes that continue."""
        to, loop = Vectors(self.lanes), self.loop
        program = loop.body
        assert program is not None
        to.begin("entry")
        alive = to.unpacked(to.make(f"trunc i32 %bits to i{self.lanes}"))
        frame = Frame(to, self.rows, "%frame")
        body = self.body(to, alive)
        truths = [kind == "truth" for kind in program.inputs]
        first = self.rows.first_carried
        old = [frame.load(first + i, truths[i]) for i in range(loop.count)]
        captured = [self._captured(frame, body, value) for value in self.rows.captured]
        values = [*old, *captured]
        check = needed(program, program.results[:1])
        body.masks.append(alive)
        body.write(program, values, check)
        going = to.both(values[program.results[0]], alive)
        work, done = to.label(), to.label()
        to.do(f"br i1 {to.some(going)}, label %{work}, label %{done}")
        to.begin(done)
        to.do("ret i32 0")
        to.begin(work)
        body.masks.append(going)
        body.write(program, values, needed(program, program.results[1:]) - check)
        new = [
            body.chosen(going, values[result], before, is_truth)
            for result, before, is_truth in zip(program.results[1:], old, truths, strict=False)
        ]
        for i, value in enumerate(new):
            frame.store(value, first + i, truths[i])
        again = [*new, *captured]
        body.write(program, again, check)
        bits = to.packed(to.both(again[program.results[0]], going))
        to.do(f"ret i32 {to.make(f'zext i{self.lanes} {bits} to i32')}")
        return _function(to, _TURN, "ptr noalias %frame, i32 %bits")

    def _captured(self, frame: Frame, body: Body, value: int) -> str:
        row = self.rows.row(value)
        if row is None:
            return body.constant(self.rows.numbers[value])
        return frame.load(row, self.rows.is_truth(value))

    def _finish(self) -> str:
        """Return the function for the part after the loop.

        It takes bits of the lanes in which the loop has ended in time, and of those that are of interest. It writes the
        variables that change, one row after another, and returns bits of lanes that fire, and above them of those that
        fail.
        """
        to, rows, step = Vectors(self.lanes), self.rows, self.program.step
        to.begin("entry")
        ended, active = (to.unpacked(to.make(f"trunc i32 {each} to i{self.lanes}")) for each in ("%ended", "%active"))
        frame, out = Frame(to, rows, "%frame"), Frame(to, rows, "%out")
        body = self.body(to, active)
        values = frame.values(body)
        values[rows.end_of_loop - 1] = ended
        body.write(step, values, rows.after)
        for row, variable in enumerate(self.changed):
            out.store(values[step.results[variable]], row, False)
        _, *truths = (values[each] for each in step.results[len(self.program.variables) - 1 :])
        made = to.make(f"zext i{self.lanes} {to.packed(truths[0])} to i32")
        if self.can_fail:
            in_time = truths[1]
            for each in truths[2:]:
                in_time = to.both(in_time, each)
            fails = to.make(f"zext i{self.lanes} {to.packed(to.negation(in_time))} to i32")
            made = to.make(f"or i32 {made}, {to.make(f'shl i32 {fails}, {self.lanes}')}")
        to.do(f"ret i32 {made}")
        return _function(to, _FINISH, "ptr noalias %frame, ptr noalias %out, i32 %ended, i32 %active")


def _function(to: Vectors, name: str, parameters: str) -> str:
    body = "\n".join(to.lines)
    return f"define internal i32 @{name}({parameters}) noinline #0 {{\n{body}\n}}"


class _Main:
    """Writes the function that is called. Its counters are in memory, so that its parts can be written one by one."""

    def __init__(self, step: CompactedStep) -> None:
        self.step = step
        self.rows = step.rows
        self.lanes = step.lanes
        self.all = (1 << step.lanes) - 1
        to = self.to = Vectors(step.lanes)
        to.begin("entry")
        self.places = Places(to, step.program)
        rows = self.rows.count * step.lanes
        self.first, self.second = (to.make(f"alloca [{rows} x double], align {ALIGNED}") for _ in range(2))
        self.out = to.make(f"alloca [{max(1, len(step.changed)) * step.lanes} x double], align {ALIGNED}")
        self.apart = self._constants_of_no_row()
        self.beside = to.make(f"alloca [{max(1, len(self.apart)) * step.lanes} x double], align {ALIGNED}")
        self.at = _Counters(
            k=to.make("alloca i64"),
            left=to.make("alloca i32"),
            alive=to.make("alloca i32"),
            turns=to.make("alloca i32"),
            flags=to.make("alloca i32"),
            neuron=to.make(f"alloca [{step.lanes} x i64]"),
            last=to.make(f"alloca [{step.lanes} x i32], align {ALIGNED}"),
        )

    def text(self) -> str:
        """Return it."""
        to, at = self.to, self.at
        block, insert, move, next_block, more, advance, end = (to.label() for _ in range(7))
        to.do(f"store i64 0, ptr {at.k}, align 8")
        for each in (at.left, at.alive, at.turns, at.flags):
            self._set(each, "0")
        self.constants = self._begin_frames()
        to.do(f"br label %{block}")

        to.begin(block)
        self._block()
        to.do(f"br label %{insert}")

        to.begin(insert)
        left, alive = self._get(at.left), self._get(at.alive)
        place_found = to.label()
        none_left = to.make(f"icmp eq i32 {left}, 0")
        to.do(f"br i1 {none_left}, label %{next_block}, label %{place_found}")
        to.begin(place_found)
        is_full = to.make(f"icmp eq i32 {alive}, {self.all}")
        to.do(f"br i1 {is_full}, label %{advance}, label %{move}")

        to.begin(move)
        self._move(left, alive)
        to.do(f"br label %{insert}")

        to.begin(next_block)
        k = to.make(f"add i64 {self._k()}, {self.lanes}")
        is_one = to.make(f"icmp ult i64 {k}, {self.places.lanes}")
        taken = to.label()
        to.do(f"br i1 {is_one}, label %{taken}, label %{more}")
        to.begin(taken)
        to.do(f"store i64 {k}, ptr {at.k}, align 8")
        to.do(f"br label %{block}")

        to.begin(more)
        some = to.make(f"icmp ne i32 {self._get(at.alive)}, 0")
        to.do(f"br i1 {some}, label %{advance}, label %{end}")

        to.begin(advance)
        self._advance()
        to.do(f"br label %{insert}")

        to.begin(end)
        to.do(f"ret i32 {self._get(at.flags)}")
        body = "\n".join(to.lines)
        return f"define i32 @{ENTRY}(ptr noalias readonly %arguments) #0 {{\n{body}\n}}"

    def _get(self, place: str) -> str:
        return self.to.make(f"load i32, ptr {place}, align 4")

    def _set(self, place: str, value: str) -> None:
        self.to.do(f"store i32 {value}, ptr {place}, align 4")

    def _k(self) -> str:
        return self.to.make(f"load i64, ptr {self.at.k}, align 8")

    def _flag(self, bits: str, flag: int) -> None:
        """Set a flag of a lane if bits are not 0."""
        to = self.to
        some = to.make(f"icmp ne i32 {bits}, 0")
        new = to.make(f"select i1 {some}, i32 {flag}, i32 0")
        self._set(self.at.flags, to.make(f"or i32 {self._get(self.at.flags)}, {new}"))

    def _begin_frames(self) -> KeptConstants:
        """Let lanes that have no neuron have zeros, and constants be in both frames, or where no frame has them."""
        to, rows = self.to, self.rows
        second = Frame(to, rows, self.second)
        for row in range(rows.count):
            second.store("zeroinitializer", row, False)
        addresses: dict[int, list[str]] = {}
        for row, value in enumerate(rows.constants):
            frames = (Frame(to, rows, each) for each in (self.first, self.second))
            addresses[self._constant(value)] = [each.address_of(row) for each in frames]
        for place, constant in enumerate(self.apart):
            addresses[constant] = [to.element("double", self.beside, str(place * self.lanes))]
        return KeptConstants(to, self.places, addresses)

    def _constants_of_no_row(self) -> list[int]:
        """Return the constants that are read beside the loop only."""
        rows, count = self.rows, len(self.step.program.variables)
        places = rows.before | rows.after
        read = {each for place in places for each in rows.step.instructions[place].operands} | set(rows.initial)
        of_constants = range(count, count + self.step.program.constants)
        return sorted(each - count for each in read & set(of_constants) - set(rows.constants))

    def _constant(self, value: int) -> int:
        """Return the number of a constant, from the number of its value."""
        return value - len(self.step.program.variables)

    def _block(self) -> None:
        """Write the loop over neurons in their order; those that need iterations are moved to a frame."""
        to, places, step, rows = self.to, self.places, self.step, self.rows
        k = self._k()
        body, values = self._fill(k)
        initial = [values[each] for each in rows.initial]
        loop = step.loop.body
        assert loop is not None
        carried = [*initial, *(values[each] for each in rows.captured)]
        body.write(loop, carried, needed(loop, loop.results[:1]))
        valid = places.valid(k)
        going = to.both(carried[loop.results[0]], valid)
        values[rows.first_of_loop : rows.end_of_loop] = [*initial, to.negation(going)]
        kept = [(values[value], rows.is_truth(value)) for value in rows.kept]
        kept += [(start, rows.is_truth(value)) for start, value in zip(initial, rows.initial, strict=True)]
        body.write(rows.step, values, rows.after)
        results = rows.step.results
        for variable in step.changed:
            places.store(values[results[variable]], places.state[variable], k)
        places.clear_inputs(k)
        _, *truths = (values[each] for each in results[len(step.program.variables) - 1 :])
        self._report(places.fires, to.both(truths[0], to.negation(going)), k, 1)
        if step.can_fail:
            in_time = truths[1]
            for each in truths[2:]:
                in_time = to.both(in_time, each)
            self._report(places.failures, to.both(to.negation(in_time), to.negation(going)), k, 2)
        left = to.make(f"zext i{self.lanes} {to.packed(going)} to i32")
        self._set(self.at.left, left)
        some, after = to.label(), to.label()
        to.do(f"br i1 {to.make(f'icmp ne i32 {left}, 0')}, label %{some}, label %{after}, !prof {RARELY}")
        to.begin(some)
        frame = Frame(to, rows, self.first)
        for row, (value, is_truth) in enumerate(kept, len(rows.constants)):
            frame.store(value, row, is_truth)
        to.do(f"br label %{after}")
        to.begin(after)

    def _report(self, array: str, truth: str, k: str, flag: int) -> None:
        bits = self.to.packed(truth)
        self.places.report(bits, array, k)
        self._flag(self.to.make(f"zext i{self.lanes} {bits} to i32"), flag)

    def _reports(self) -> list[tuple[int, str, int]]:
        """Return the reports: the first bit of each among those that `finish` returns, its array and its flag."""
        fires, fails = (0, self.places.fires, 1), (self.lanes, self.places.failures, 2)
        return [fires, fails] if self.step.can_fail else [fires]

    def _fill(self, k: str) -> tuple[Body, list[str]]:
        """Write the part before the loop; constants of each neuron are stored in the first frame."""
        to, places, rows = self.to, self.places, self.rows
        frame = Frame(to, rows, self.first)
        self.constants.write(k)
        constants = [""] * self.step.program.constants
        for row, value in enumerate(rows.constants):
            constants[self._constant(value)] = frame.load(row, False)
        for place, constant in enumerate(self.apart):
            address = to.element("double", self.beside, str(place * self.lanes))
            constants[constant] = to.make(f"load {to.numbers}, ptr {address}, align {ALIGNED}")
        values = [*places.old_state(k), *constants, *places.given(k)]
        body = Body(to, self.step.truths_are_bits, places.words(k), lambda: places.valid(k))
        body.write(rows.step, values, rows.before)
        for value, known in rows.numbers.items():
            values[value] = values[value] or body.constant(known)
        return body, values

    def _move(self, left: str, alive: str) -> None:
        """Write the move of the first remaining neuron to the first free lane."""
        to, at = self.to, self.at
        lane, to_lane = self._lowest(left), self._lowest(to.make(f"xor i32 {alive}, {self.all}"))
        address = to.element("double", self.second, "0")
        # Constants that are the same for all are there.
        begin = to.make(f"select i1 {self.places.is_shared}, i64 {len(self.rows.constants)}, i64 0")
        before, head = to.block, to.label()
        to.do(f"br label %{head}")
        to.begin(head)
        row, next_row = to.name(), to.name()
        to.do(f"{row} = phi i64 [ {begin}, {before} ], [ {next_row}, %{head} ]")
        base = to.make(f"mul i64 {row}, {self.lanes}")
        value = to.make(
            f"load double, ptr {to.element('double', self.first, to.make(f'add i64 {base}, {lane}'))}, align 8"
        )
        to.do(
            f"store double {value}, ptr {to.element('double', address, to.make(f'add i64 {base}, {to_lane}'))}, align 8"
        )
        to.do(f"{next_row} = add i64 {row}, 1")
        again, after = to.make(f"icmp ult i64 {next_row}, {self.rows.count}"), to.label()
        to.do(f"br i1 {again}, label %{head}, label %{after}")
        to.begin(after)
        neuron = to.make(f"add i64 {self._k()}, {lane}")
        to.do(f"store i64 {neuron}, ptr {to.element('i64', at.neuron, to_lane)}, align 8")
        last = to.make(f"add i32 {self._get(at.turns)}, {int(self.step.loop.number)}")
        self._set(to.element("i32", at.last, to_lane), last)
        self._set(at.left, to.make(f"and i32 {left}, {to.make(f'sub i32 {left}, 1')}"))
        bit = to.make(f"shl i32 1, {to.make(f'trunc i64 {to_lane} to i32')}")
        self._set(at.alive, to.make(f"or i32 {alive}, {bit}"))

    def _lowest(self, bits: str) -> str:
        """Return the place of the lowest bit."""
        to = self.to
        return to.make(f"zext i32 {to.make(f'call i32 @llvm.cttz.i32(i32 {bits}, i1 true)')} to i64")

    def _advance(self) -> None:
        """Write an iteration of the second frame, and the part after the loop for lanes that have finished."""
        to, at = self.to, self.at
        alive = self._get(at.alive)
        going = to.make(f"call i32 @{_TURN}(ptr {self.second}, i32 {alive})")
        turns = to.make(f"add i32 {self._get(at.turns)}, 1")
        self._set(at.turns, turns)
        kind = f"<{self.lanes} x i32>"
        last = to.make(f"load {kind}, ptr {at.last}, align {ALIGNED}")
        expired = to.make(f"icmp eq {kind} {last}, {to.repeated('i32', turns)}")
        in_time = to.make(f"xor i32 {to.make(f'zext i{self.lanes} {to.packed(expired)} to i32')}, {self.all}")
        staying = to.make(f"and i32 {going}, {in_time}")
        leaving = to.make(f"and i32 {alive}, {to.make(f'xor i32 {staying}, {self.all}')}")
        self._set(at.alive, staying)
        finish, after = to.label(), to.label()
        some = to.make(f"icmp ne i32 {leaving}, 0")
        to.do(f"br i1 {some}, label %{finish}, label %{after}")
        to.begin(finish)
        made = to.make(f"call i32 @{_FINISH}(ptr {self.second}, ptr {self.out}, i32 {in_time}, i32 {leaving})")
        for shift, _, flag in self._reports():
            self._flag(to.make(f"and i32 {to.make(f'lshr i32 {made}, {shift}')}, {leaving}"), flag)
        self._put_back(made, leaving, after)
        to.begin(after)

    def _put_back(self, made: str, leaving: str, after: str) -> None:
        """Write the copy of variables and reports from lanes to their neurons."""
        to, at, places = self.to, self.at, self.places
        before, head = to.block, to.label()
        to.do(f"br label %{head}")
        to.begin(head)
        bits, rest = to.name(), to.name()
        to.do(f"{bits} = phi i32 [ {leaving}, {before} ], [ {rest}, %{head} ]")
        lane = self._lowest(bits)
        neuron = to.make(f"load i64, ptr {to.element('i64', at.neuron, lane)}, align 8")
        for row, variable in enumerate(self.step.changed):
            from_here = to.element("double", self.out, to.make(f"add i64 {lane}, {row * self.lanes}"))
            value = to.make(f"load double, ptr {from_here}, align 8")
            to.do(f"store double {value}, ptr {to.element('double', places.state[variable], neuron)}, align 8")
        short, in_byte = (to.make(f"trunc i64 {each} to i32") for each in (lane, to.make(f"and i64 {neuron}, 7")))
        for shift, array, _ in self._reports():
            place = to.make(f"add i32 {short}, {shift}")
            bit = to.make(f"and i32 {to.make(f'lshr i32 {made}, {place}')}, 1")
            byte = to.make(f"trunc i32 {to.make(f'shl i32 {bit}, {in_byte}')} to i8")
            address = to.element("i8", array, to.make(f"lshr i64 {neuron}, 3"))
            merged = to.make(f"or i8 {to.make(f'load i8, ptr {address}, align 1')}, {byte}")
            to.do(f"store i8 {merged}, ptr {address}, align 1")
        to.do(f"{rest} = and i32 {bits}, {to.make(f'sub i32 {bits}, 1')}")
        more = to.make(f"icmp ne i32 {rest}, 0")
        to.do(f"br i1 {more}, label %{head}, label %{after}")
