#include "program/block_code.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "program/evaluate.hpp"

namespace ranvier::program {

namespace {

/// Location of a value: a scalar, an external array, or a temporary that is assigned a register at the end.
struct Operand {
    enum class Kind : std::uint8_t { scalar, external, temporary };

    Kind kind = Kind::scalar;
    double value = 0.0;
    std::uint32_t index = 0;

    bool is_scalar() const { return kind == Kind::scalar; }
    friend bool operator==(const Operand& a, const Operand& b) {
        if (a.kind != b.kind) return false;
        return a.is_scalar() ? std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value)
                             : a.index == b.index;
    }
};

/// An instruction whose operands have no places yet.
struct Draft {
    BlockInstruction made;
    std::optional<Operand> out = {};
    std::vector<Operand> operands = {};
};

struct LoopRange {
    std::size_t begin;
    std::size_t end;
};

/// The values of a program that its results need.
std::vector<bool> needed_values(const Program& program, std::span<const std::uint32_t> results) {
    std::vector<bool> needed(value_count(program), false);
    for (const std::uint32_t result : results) needed[result] = true;
    std::size_t end = needed.size();
    for (std::size_t i = program.instructions.size(); i-- > 0;) {
        const Instruction& instruction = program.instructions[i];
        const std::size_t begin = end - value_count(instruction);
        bool any = false;
        for (std::size_t value = begin; value < end; ++value) any = any || needed[value];
        for (std::size_t k = 0; any && k < instruction.operands.size(); ++k) needed[instruction.operands[k]] = true;
        // All values of a loop, or none.
        for (std::size_t value = begin; value < end; ++value) needed[value] = any;
        end = begin;
    }
    return needed;
}

/// Register allocation for temporaries: a register is free again after the last use of its value.
class Registers {
   public:
    Registers(std::span<const Draft> drafts, std::span<const LoopRange> loops, std::size_t temporaries)
        : first_(temporaries, unused), last_(temporaries, 0), register_(temporaries, 0) {
        const auto see = [&](const Operand& operand, std::size_t i) {
            if (operand.kind != Operand::Kind::temporary) return;
            first_[operand.index] = std::min(first_[operand.index], i);
            last_[operand.index] = std::max(last_[operand.index], i);
        };
        for (std::size_t i = 0; i < drafts.size(); ++i) {
            const std::optional<Operand>& out = drafts[i].out;
            for (const Operand& operand : drafts[i].operands) see(operand, i);
            if (out) see(*out, i);
        }
        // A value from before a loop that is used in it lives through all iterations. Inner loops come first.
        for (const LoopRange& loop : loops) {
            for (std::size_t t = 0; t < temporaries; ++t) {
                if (first_[t] < loop.begin && last_[t] >= loop.begin) last_[t] = std::max(last_[t], loop.end);
            }
        }
        assign(drafts);
    }

    std::size_t count() const { return count_; }
    std::uint32_t of(std::uint32_t temporary) const { return register_[temporary]; }

   private:
    static constexpr std::size_t unused = std::numeric_limits<std::size_t>::max();

    void assign(std::span<const Draft> drafts) {
        std::vector<std::uint32_t> free;
        std::multimap<std::size_t, std::uint32_t> ends;  // last use of the value of a register
        for (std::size_t i = 0; i < drafts.size(); ++i) {
            while (!ends.empty() && ends.begin()->first <= i) {
                free.push_back(ends.begin()->second);
                ends.erase(ends.begin());
            }
            const std::optional<Operand>& out = drafts[i].out;
            if (!out || out->kind != Operand::Kind::temporary) continue;
            const std::uint32_t temporary = out->index;
            if (first_[temporary] != i) continue;
            if (free.empty()) free.push_back(static_cast<std::uint32_t>(count_++));
            register_[temporary] = free.back();
            free.pop_back();
            ends.emplace(last_[temporary], register_[temporary]);
        }
    }

    std::vector<std::size_t> first_;
    std::vector<std::size_t> last_;
    std::vector<std::uint32_t> register_;
    std::size_t count_ = 0;
};

class Lowering {
   public:
    Lowering(const Program& program, std::span<const InputForm> inputs, std::span<const OutputForm> outputs)
        : program_(program), inputs_(inputs), outputs_(outputs) {
        const std::vector<std::uint32_t> draws = draws_of(program);
        code_.inputs = inputs.size();
        code_.draws = draws.empty() ? 0 : draws.back() + std::size_t{1};
        code_.outputs = outputs.size();
        code_.uniform.resize(outputs.size());
    }

    BlockCode run() {
        std::vector<std::uint32_t> results;
        for (const OutputForm& output : outputs_) results.push_back(output.result);
        const std::vector<bool> needed = needed_values(program_, results);
        std::vector<Operand> values(needed.size());
        for (std::uint32_t i = 0; i < program_.inputs.size(); ++i) {
            if (needed[i] || inputs_[i].kind == InputForm::Kind::weights) values[i] = input(i);
        }
        std::vector<bool> made(needed.size(), false);
        lower_instructions(program_, needed, values, made);
        store(values);
        finish();
        return std::move(code_);
    }

   private:
    /// A loop that is not nested in another one.
    struct OuterLoop {
        std::uint32_t number;
        LoopRange range;
        std::size_t check;
        Operand continues;
        std::vector<Operand> carried;
    };
    using Copies = std::vector<std::pair<Operand, Operand>>;  // to, from

    static Operand scalar(double value) { return {.kind = Operand::Kind::scalar, .value = value}; }
    static Operand external(std::size_t index) {
        return {.kind = Operand::Kind::external, .index = static_cast<std::uint32_t>(index)};
    }
    Operand temporary() { return {.kind = Operand::Kind::temporary, .index = temporaries_++}; }

    void emit(BlockInstruction made, std::optional<Operand> out, std::vector<Operand> operands) {
        drafts_.push_back({made, out, std::move(operands)});
    }
    Operand emit(Action action, std::vector<Operand> operands) {
        const Operand out = temporary();
        emit({.action = action}, out, std::move(operands));
        return out;
    }

    Operand input(std::uint32_t i) {
        switch (inputs_[i].kind) {
            case InputForm::Kind::uniform:
                return scalar(inputs_[i].value);
            case InputForm::Kind::weights:
                return emit(Action::take_weights, {external(i)});
            case InputForm::Kind::refractory:
                return emit(Action::take_refractory, {});
            case InputForm::Kind::last_refractory:
                return emit(Action::take_last_refractory, {});
            case InputForm::Kind::lanes:
                break;
        }
        return external(i);
    }

    /// Computes the needed values that are not computed yet, after those of inputs.
    void lower_instructions(const Program& program, const std::vector<bool>& needed, std::vector<Operand>& values,
                            std::vector<bool>& made) {
        std::size_t value = program.inputs.size();
        for (const Instruction& instruction : program.instructions) {
            const std::size_t first = value;
            value += value_count(instruction);
            if (!needed[first] || made[first]) continue;
            std::vector<Operand> operands;
            operands.reserve(instruction.operands.size());
            for (const std::uint32_t operand : instruction.operands) operands.push_back(values[operand]);
            std::ranges::copy(lower(instruction, operands), values.begin() + static_cast<std::ptrdiff_t>(first));
            made[first] = true;
        }
    }

    std::vector<Operand> lower(const Instruction& instruction, const std::vector<Operand>& operands) {
        if (is_draw(instruction.operation)) {
            const auto index = static_cast<std::size_t>(instruction.number);
            return {operate(instruction.operation, {external(code_.inputs + index)})};
        }
        if (std::ranges::all_of(operands, &Operand::is_scalar)) {
            std::vector<double> numbers;
            numbers.reserve(operands.size());
            for (const Operand& operand : operands) numbers.push_back(operand.value);
            std::vector<Operand> made;
            for (const double value : evaluate(instruction, numbers)) made.push_back(scalar(value));
            return made;
        }
        if (instruction.operation == Operation::loop) return lower_loop(instruction, operands);
        if (instruction.operation == Operation::select && operands[0].is_scalar()) {
            return {operands[std::bit_cast<std::uint64_t>(operands[0].value) != 0 ? 1 : 2]};
        }
        if (instruction.operation == Operation::pow && operands[1].is_scalar()) {
            if (operands[1].value == 0.0) return {scalar(1.0)};
            if (operands[1].value == 1.0) return {operands[0]};
        }
        return {operate(instruction.operation, operands)};
    }

    Operand operate(Operation operation, std::vector<Operand> operands) {
        const Operand out = temporary();
        emit({.action = Action::operate, .operation = operation}, out, std::move(operands));
        return out;
    }

    std::vector<Operand> lower_loop(const Instruction& loop, const std::vector<Operand>& operands) {
        const auto number = static_cast<std::uint32_t>(code_.loops.size());
        code_.loops.emplace_back();
        std::vector<Operand> carried;
        carried.reserve(loop.count + 1);
        for (std::size_t k = 0; k < loop.count; ++k) carried.push_back(emit(Action::copy, {operands[k]}));
        const Operand continues = masks_.empty() ? emit(Action::take_valid, {}) : emit(Action::copy, {masks_.back()});
        emit({.action = Action::begin_loop, .loop = number}, {}, {});
        const std::size_t begin = drafts_.size();

        const Program& body = *loop.body;
        std::vector<Operand> values = carried;
        values.insert(values.end(), operands.begin() + loop.count, operands.end());
        values.resize(value_count(body));
        std::vector<bool> made(values.size(), false);
        masks_.push_back(continues);
        // Whether lanes continue is known long before the values to continue with.
        lower_instructions(body, needed_values(body, std::span(body.results).first(1)), values, made);
        const Operand again = in_lanes(values[body.results[0]]);
        const std::size_t check = drafts_.size();
        emit({.action = Action::check_loop, .loop = number}, continues, {again, continues});
        lower_instructions(body, needed_values(body, std::span(body.results).subspan(1)), values, made);
        masks_.pop_back();
        std::vector<Operand> next;
        for (std::size_t k = 0; k < loop.count; ++k) {
            next.push_back(values[body.results[k + 1]]);
            // Carried values change one after another.
            const bool changes = std::ranges::find(carried, next[k]) != carried.end() && !(next[k] == carried[k]);
            if (changes) next[k] = emit(Action::copy, {next[k]});
        }
        for (std::size_t k = 0; k < loop.count; ++k) {
            if (next[k] == carried[k]) continue;
            emit({.action = Action::operate, .operation = Operation::select}, carried[k],
                 {continues, next[k], carried[k]});
        }
        emit({.action = Action::next_iteration,
              .loop = number,
              .target = static_cast<std::uint32_t>(begin),
              .most = static_cast<std::uint32_t>(loop.number)},
             {}, {});
        ranges_.push_back({begin, drafts_.size() - 1});
        if (masks_.empty()) outer_.push_back({number, ranges_.back(), check, continues, carried});
        drafts_[check].made.target = static_cast<std::uint32_t>(drafts_.size());
        carried.push_back(operate(Operation::negation, {continues}));
        return carried;
    }

    void store(const std::vector<Operand>& values) {
        std::vector<Operand> sources;
        for (const OutputForm& output : outputs_) sources.push_back(values[output.result]);
        std::optional<Operand> all_ended;
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            const OutputForm& output = outputs_[o];
            if (output.kind == OutputForm::Kind::ended) {
                all_ended = all_ended ? conjunction(*all_ended, sources[o]) : sources[o];
            } else if (output.kind == OutputForm::Kind::fires) {
                report(Action::report_fires, sources[o]);
            } else if (sources[o].is_scalar()) {
                code_.uniform[o] = sources[o].value;
            }
        }
        if (all_ended) report(Action::report_failures, negated(*all_ended));
        place_outputs(sources);
    }

    Operand conjunction(const Operand& a, const Operand& b) {
        if (a.is_scalar() && b.is_scalar()) {
            return scalar(evaluate({.operation = Operation::both}, std::vector{a.value, b.value})[0]);
        }
        return operate(Operation::both, {a, b});
    }
    Operand negated(const Operand& a) {
        if (a.is_scalar()) return scalar(evaluate({.operation = Operation::negation}, std::vector{a.value})[0]);
        return operate(Operation::negation, {a});
    }
    Operand in_lanes(const Operand& operand) { return operand.is_scalar() ? emit(Action::copy, {operand}) : operand; }
    void report(Action action, const Operand& truth) { emit({.action = action}, {}, {in_lanes(truth)}); }

    /// Writes results to their arrays: directly by the instruction that computes them if the array is not read
    /// afterwards, otherwise by a copy at the end.
    void place_outputs(std::vector<Operand>& sources) {
        const std::size_t first_output = code_.inputs + code_.draws;
        Copies copies;
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            const bool in_place = outputs_[o].kind == OutputForm::Kind::in_place;
            if (!in_place && (outputs_[o].kind != OutputForm::Kind::lanes || sources[o].is_scalar())) continue;
            const Operand target = external(in_place ? outputs_[o].input : first_output + o);
            if (sources[o] == target || place_in_array(target, sources[o], sources, copies)) continue;
            // The input may be overwritten before it is copied.
            if (sources[o].kind == Operand::Kind::external) sources[o] = emit(Action::copy, {sources[o]});
            copies.emplace_back(target, sources[o]);
        }
        for (const auto& [to, from] : copies) emit({.action = Action::copy}, to, {from});
    }

    /// Places a temporary in an array, if possible.
    bool place_in_array(const Operand& target, const Operand source, std::vector<Operand>& sources, Copies& copies) {
        if (source.kind != Operand::Kind::temporary || std::ranges::find(sources, target) != sources.end())
            return false;
        std::size_t made = drafts_.size();
        std::size_t times = 0;
        for (std::size_t i = 0; i < drafts_.size(); ++i) {
            if (drafts_[i].out != source) continue;
            made = i;
            ++times;
        }
        const auto is_in = [&](const LoopRange& loop) { return made >= loop.begin && made <= loop.end; };
        if (times != 1 || std::ranges::any_of(ranges_, is_in)) return false;
        for (std::size_t i = made + 1; i < drafts_.size(); ++i) {
            if (std::ranges::find(drafts_[i].operands, target) != drafts_[i].operands.end()) return false;
        }
        drafts_[made].out = target;
        for (Draft& draft : drafts_) std::ranges::replace(draft.operands, source, target);
        std::ranges::replace(sources, source, target);
        for (auto& [to, from] : copies) {
            if (from == source) from = target;
        }
        return true;
    }

    void finish() {
        const Registers registers(drafts_, ranges_, temporaries_);
        code_.registers = registers.count();
        for (const Draft& draft : drafts_) {
            for (const Operand& operand : draft.operands) {
                if (operand.is_scalar()) (void)scalar_place(operand.value);
            }
        }
        const auto place = [&](const Operand& operand) {
            switch (operand.kind) {
                case Operand::Kind::external:
                    return operand.index;
                case Operand::Kind::scalar:
                    return static_cast<std::uint32_t>(code_.first_scalar() + scalar_place(operand.value));
                case Operand::Kind::temporary:
                    break;
            }
            return static_cast<std::uint32_t>(code_.first_register() + registers.of(operand.index));
        };
        for (const OuterLoop& loop : outer_) {
            if (keeps_over_check(loop)) continue;
            LoopPlaces& places = code_.loops[loop.number];
            places.carried.push_back(place(loop.continues));
            for (const Operand& carried : loop.carried) {
                if (changes_in(loop.range, carried)) places.carried.push_back(place(carried));
            }
            std::set<std::uint32_t> read;
            for (std::size_t i = loop.range.begin; i <= loop.range.end; ++i) {
                for (const Operand& operand : drafts_[i].operands) {
                    if (!operand.is_scalar()) read.insert(place(operand));
                }
            }
            for (std::size_t i = loop.range.begin; i <= loop.range.end; ++i) {
                const std::optional<Operand>& out = drafts_[i].out;
                if (out) read.erase(place(*out));
            }
            for (const std::uint32_t carried : places.carried) read.erase(carried);
            places.read.assign(read.begin(), read.end());
        }
        for (const Draft& draft : drafts_) {
            BlockInstruction made = draft.made;
            if (draft.out) made.out = place(*draft.out);
            for (std::size_t k = 0; k < draft.operands.size(); ++k) {
                made.operands[k] = place(draft.operands[k]);
                if (draft.operands[k].is_scalar()) made.scalars = static_cast<std::uint8_t>(made.scalars | 1U << k);
            }
            code_.instructions.push_back(made);
        }
    }

    /// Whether an iteration uses a value from before its check after the check, which assumes that lanes keep their
    /// positions.
    bool keeps_over_check(const OuterLoop& loop) const {
        const auto is_used = [&](const Operand& made) {
            for (std::size_t i = loop.check + 1; i <= loop.range.end; ++i) {
                if (std::ranges::find(drafts_[i].operands, made) != drafts_[i].operands.end()) return true;
            }
            return false;
        };
        for (std::size_t i = loop.range.begin; i < loop.check; ++i) {
            const std::optional<Operand>& out = drafts_[i].out;
            if (out && is_used(*out)) return true;
        }
        return false;
    }

    bool changes_in(const LoopRange& range, const Operand& operand) const {
        const auto changes = [&](const Draft& draft) { return draft.out == operand; };
        return std::any_of(drafts_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                           drafts_.begin() + static_cast<std::ptrdiff_t>(range.end) + 1, changes);
    }

    std::size_t scalar_place(double value) {
        const auto [found, is_new] = scalar_places_.emplace(std::bit_cast<std::uint64_t>(value), code_.scalars.size());
        if (is_new) code_.scalars.push_back(value);
        return found->second;
    }

    const Program& program_;
    std::span<const InputForm> inputs_;
    std::span<const OutputForm> outputs_;
    BlockCode code_;
    std::vector<Draft> drafts_;
    std::vector<LoopRange> ranges_;  ///< of loops, inner ones first
    std::vector<OuterLoop> outer_;
    std::vector<Operand> masks_;  ///< lanes that still continue in the enclosing loops
    std::uint32_t temporaries_ = 0;
    std::map<std::uint64_t, std::size_t> scalar_places_;
};

}  // namespace

BlockCode lower(const Program& program, std::span<const InputForm> inputs, std::span<const OutputForm> outputs) {
    return Lowering(program, inputs, outputs).run();
}

}  // namespace ranvier::program
