#include "ranvier/connect/space/pair_function.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory_resource>
#include <utility>

#include "base/subnormals.hpp"
#include "program/interpreter.hpp"
#include "program/intervals.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/hash.hpp"

namespace ranvier::connect {

namespace {

constexpr std::array<std::string_view, pair_quantity_count> quantity_names{
    "distance", "displacement_x", "displacement_y", "displacement_z", "source_x",     "source_y",
    "source_z", "target_x",       "target_y",       "target_z",       "source_index", "target_index"};

RandomKey key_of_draw(RandomKey key, std::uint32_t draw) {
    return make_key(key.low | std::uint64_t{key.high} << 32, Purpose::expression, draw);
}

}  // namespace

std::string_view to_string(PairQuantity quantity) { return quantity_names[static_cast<std::size_t>(quantity)]; }

PairQuantity parse_pair_quantity(std::string_view name) {
    const auto found = std::ranges::find(quantity_names, name);
    if (found == quantity_names.end()) throw unknown_name("quantity of a pair", name, quantity_names);
    return static_cast<PairQuantity>(found - quantity_names.begin());
}

/// The program for the interpreter. A thread keeps the interpreters of the functions that it used last.
class PairFunction::Code {
   public:
    explicit Code(const program::Program& program) : number_(next_number()), code_(lowered(program)) {}

    program::Interpreter& interpreter(InstructionSet set) const {
        struct Kept {
            std::uint64_t number = 0;
            std::unique_ptr<program::Interpreter> interpreter;
        };
        static thread_local std::array<Kept, 4> kept;
        const auto found = std::ranges::find(kept, number_, &Kept::number);
        if (found == kept.end()) {
            // The last one was used longest ago.
            kept.back() = {number_,
                           std::make_unique<program::Interpreter>(code_, set, std::pmr::get_default_resource())};
            std::ranges::rotate(kept, kept.end() - 1);
        } else {
            std::rotate(kept.begin(), found, found + 1);
        }
        kept.front().interpreter->use(set);
        return *kept.front().interpreter;
    }
    const program::BlockCode& code() const { return code_; }

   private:
    static std::uint64_t next_number() {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }
    static program::BlockCode lowered(const program::Program& program) {
        const std::vector<program::InputForm> inputs(program.inputs.size());
        std::vector<program::OutputForm> outputs;
        for (const std::uint32_t result : program.results) outputs.push_back({.result = result});
        const FlushSubnormals flush;
        return program::lower(program, inputs, outputs);
    }

    std::uint64_t number_;  ///< of the function; 0 is no function
    program::BlockCode code_;
};

/// Evaluates blocks of pairs on one thread.
class PairFunction::Run {
   public:
    using Inputs = std::vector<const double*>;  ///< by input of the program
    using Words = std::vector<const std::uint64_t*>;  ///< by draw
    using Outputs = std::vector<double*>;  ///< by result of the program

    Run(const PairFunction& function, InstructionSet set)
        : code_(function.code_->code()), interpreter_(function.code_->interpreter(set)) {}

    std::size_t most_pairs() const { return interpreter_.most_lanes(); }

    /// @param count at most most_pairs(), the number of elements of each array
    void block(std::size_t count, const Inputs& inputs, const Words& words, const Outputs& outputs) {
        const std::size_t whole = count / lanes * lanes;
        if (whole > 0) run(whole, inputs, words, outputs);
        if (const std::size_t rest = count - whole; rest > 0) run_padded(whole, rest, inputs, words, outputs);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            if (code_.uniform[o]) std::fill_n(outputs[o], count, *code_.uniform[o]);
        }
    }

   private:
    static constexpr std::size_t lanes = program::lanes_of_kernel;

    void run(std::size_t count, const Inputs& inputs, const Words& words, const Outputs& outputs) {
        for (std::size_t i = 0; i < inputs.size(); ++i) interpreter_.set_input(i, inputs[i]);
        for (std::size_t d = 0; d < code_.draws; ++d) interpreter_.set_draw(d, words[d]);
        for (std::size_t o = 0; o < outputs.size(); ++o) interpreter_.set_output(o, outputs[o]);
        interpreter_.run({.lanes = count, .valid = count});
    }

    void run_padded(std::size_t begin, std::size_t count, Inputs inputs, Words words, Outputs outputs) {
        numbers_.assign((inputs.size() + outputs.size()) * lanes, 0.0);
        words_.assign(code_.draws * lanes, 0);
        double* place = numbers_.data();
        for (const double*& input : inputs) {
            std::copy_n(input + begin, count, place);
            input = place;
            place += lanes;
        }
        for (std::size_t d = 0; d < code_.draws; ++d) {
            std::copy_n(words[d] + begin, count, words_.data() + d * lanes);
            words[d] = words_.data() + d * lanes;
        }
        const Outputs wanted = outputs;
        for (double*& output : outputs) {
            output = place;
            place += lanes;
        }
        run(lanes, inputs, words, outputs);
        for (std::size_t o = 0; o < outputs.size(); ++o) std::copy_n(outputs[o], count, wanted[o] + begin);
    }

    const program::BlockCode& code_;
    program::Interpreter& interpreter_;
    std::vector<double> numbers_;
    std::vector<std::uint64_t> words_;
};

/// Draws the random numbers of some objects, and those of redraws. Most redraws need few of the lanes of a block, so
/// those of many blocks are evaluated together.
class PairFunction::Drawing {
   public:
    /// Objects that are drawn together, at most.
    static constexpr std::size_t most = 4096;

    Drawing(const PairFunction& function, InstructionSet set, RandomKey key)
        : function_(function), set_(set), run_(function, set), words_(function.draw_count_ * most) {
        for (std::uint32_t d = 0; d < function.draw_count_; ++d) keys_.push_back(key_of_draw(key, d));
        further_.resize((results() - 1) * most);
    }

    /// @param count at most `most`
    void draw(std::size_t count, const Run::Inputs& inputs, const Objects& objects, double* out) {
        for (std::size_t d = 0; d < keys_.size(); ++d) fill_words(keys_[d], objects, count, words_.data() + d * most);
        const std::size_t at_once = run_.most_pairs();
        for (std::size_t begin = 0; begin < count; begin += at_once) {
            Run::Inputs given = inputs;
            for (const double*& each : given) each += begin;
            Run::Words drawn;
            for (std::size_t d = 0; d < keys_.size(); ++d) drawn.push_back(words_.data() + d * most + begin);
            Run::Outputs made{out + begin};
            for (std::size_t r = 1; r < results(); ++r) made.push_back(further_.data() + (r - 1) * most + begin);
            const std::size_t some = std::min(at_once, count - begin);
            run_.block(some, given, drawn, made);
            check_widths(given, made, some);
        }
        if (!function_.redraws_.empty()) redraw(count, inputs, objects, out);
    }

   private:
    /// Of the program.
    std::size_t results() const { return function_.result_of(function_.widths_.size()); }
    void check_widths(const Run::Inputs& inputs, const Run::Outputs& outputs, std::size_t count) const {
        if (function_.widths_.empty()) return;
        const std::vector<const double*> widths(outputs.begin() + static_cast<std::ptrdiff_t>(function_.result_of(0)),
                                                outputs.end());
        function_.check_widths(inputs, widths, count);
    }

    static std::uint64_t word(RandomKey key, const Objects& objects, std::size_t i, std::uint32_t attempt) {
        if (objects.streams != nullptr) {
            return RandomStream{key, objects.streams[i], attempt}.word64(objects.indices[i]);
        }
        return RandomStream{key, objects.stream, attempt}.word64(objects.first + static_cast<std::uint32_t>(i));
    }

    void fill_stretch(RandomKey key, std::uint64_t stream, std::uint32_t first, std::size_t count, std::uint64_t* out) {
        halves_.resize(2 * count);
        RandomStream{key, stream, 0}.fill(set_, 2 * first, 2 * count, halves_.data());
        for (std::size_t i = 0; i < count; ++i) out[i] = halves_[2 * i] | std::uint64_t{halves_[2 * i + 1]} << 32;
    }

    /// Successive numbers of a stream are drawn together, and the blocks of short stretches, each with two numbers.
    void fill_words(RandomKey key, const Objects& objects, std::size_t count, std::uint64_t* out) {
        if (objects.streams == nullptr) return fill_stretch(key, objects.stream, objects.first, count, out);
        constexpr std::size_t short_stretch = 32;
        block_streams_.clear();
        block_numbers_.clear();
        block_of_.clear();
        const std::uint64_t* const streams = objects.streams;
        const std::uint32_t* const indices = objects.indices;
        for (std::size_t begin = 0; begin < count;) {
            std::size_t end = begin + 1;
            while (end < count && streams[end] == streams[begin] && indices[end] == indices[end - 1] + 1) ++end;
            if (end - begin > short_stretch) {
                fill_stretch(key, streams[begin], indices[begin], end - begin, out + begin);
                begin = end;
                continue;
            }
            for (; begin < end; ++begin) {
                const std::uint32_t number = indices[begin] / 2;
                if (block_numbers_.empty() || block_numbers_.back() != number ||
                    block_streams_.back() != streams[begin]) {
                    block_streams_.push_back(streams[begin]);
                    block_numbers_.push_back(number);
                }
                block_of_.emplace_back(static_cast<std::uint32_t>(begin),
                                       static_cast<std::uint32_t>(2 * block_numbers_.size() - 2 + indices[begin] % 2));
            }
        }
        halves_.resize(4 * block_numbers_.size());
        fill_blocks(set_, key, 0, block_streams_, block_numbers_, halves_.data());
        for (const auto& [object, half] : block_of_) {
            out[object] = halves_[2 * half] | std::uint64_t{halves_[2 * half + 1]} << 32;
        }
    }

    /// The first redraw, in their order, that has not accepted a pair; none if all have.
    const Redraw* open(std::size_t pair) const {
        for (std::size_t r = 0; r < function_.redraws_.size(); ++r) {
            if (!program::lane::is_true(further_[r * most + pair])) return &function_.redraws_[r];
        }
        return nullptr;
    }

    void redraw(std::size_t count, const Run::Inputs& inputs, const Objects& objects, double* out) {
        const std::size_t draws = keys_.size();
        std::vector<std::size_t> waiting;
        for (std::size_t i = 0; i < count; ++i) {
            if (open(i) != nullptr) waiting.push_back(i);
        }
        std::vector<std::uint32_t> attempts(waiting.size() * draws, 0);
        const std::size_t redraws = function_.redraws_.size();
        std::vector<double> numbers((inputs.size() + results()) * waiting.size());
        std::vector<std::uint64_t> words(draws * waiting.size());
        for (std::uint32_t round = 0; round < most_attempts && !waiting.empty(); ++round) {
            const std::size_t size = waiting.size();
            for (std::size_t c = 0; c < size; ++c) {
                const std::size_t pair = waiting[c];
                for (const std::uint32_t draw : open(pair)->draws) {
                    const std::uint32_t attempt = ++attempts[c * draws + draw];
                    words_[draw * most + pair] = word(keys_[draw], objects, pair, attempt);
                }
                for (std::size_t k = 0; k < inputs.size(); ++k) numbers[k * size + c] = inputs[k][pair];
                for (std::size_t d = 0; d < draws; ++d) words[d * size + c] = words_[d * most + pair];
            }
            for (std::size_t begin = 0; begin < size; begin += run_.most_pairs()) {
                Run::Inputs gathered;
                Run::Words drawn;
                Run::Outputs made;
                for (std::size_t k = 0; k < inputs.size(); ++k) gathered.push_back(numbers.data() + k * size + begin);
                for (std::size_t d = 0; d < draws; ++d) drawn.push_back(words.data() + d * size + begin);
                for (std::size_t r = 0; r < results(); ++r) {
                    made.push_back(numbers.data() + (inputs.size() + r) * size + begin);
                }
                const std::size_t some = std::min(run_.most_pairs(), size - begin);
                run_.block(some, gathered, drawn, made);
                check_widths(gathered, made, some);
            }
            const double* const made = numbers.data() + inputs.size() * size;
            std::size_t still = 0;
            for (std::size_t c = 0; c < size; ++c) {
                const std::size_t pair = waiting[c];
                out[pair] = made[c];
                for (std::size_t r = 1; r <= redraws; ++r) further_[(r - 1) * most + pair] = made[r * size + c];
                if (open(pair) == nullptr) continue;
                std::copy_n(attempts.data() + c * draws, draws, attempts.data() + still * draws);
                waiting[still++] = pair;
            }
            waiting.resize(still);
        }
    }

    const PairFunction& function_;
    InstructionSet set_;
    Run run_;
    std::vector<RandomKey> keys_;  ///< by draw
    std::vector<std::uint64_t> words_;  ///< of the last attempts, by draw, `most` each
    std::vector<double> further_;  ///< results of redraws and widths, `most` each
    std::vector<std::uint32_t> halves_;
    // Blocks of short stretches: their streams and numbers, and objects with the number of their half of a block.
    std::vector<std::uint64_t> block_streams_;
    std::vector<std::uint32_t> block_numbers_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> block_of_;
};

PairFunction::PairFunction(program::Program program, std::vector<PairQuantity> inputs, std::string text,
                           std::vector<Redraw> redraws, std::vector<Width> widths)
    : program_(std::move(program)),
      inputs_(std::move(inputs)),
      text_(std::move(text)),
      redraws_(std::move(redraws)),
      widths_(std::move(widths)) {
    const std::string object = "expression '" + text_ + "'";
    program::check(program_, object, true);
    const std::vector<program::Type> results = program::result_types(program_);
    const std::vector<std::uint32_t> draws = program::draws_of(program_);
    draw_count_ = draws.empty() ? 0 : draws.back() + std::size_t{1};
    const auto is_valid = [&](std::size_t i, const Redraw& redraw) {
        return redraw.accepted == i + 1 && results[i + 1] == program::Type::truth && !redraw.draws.empty() &&
               std::ranges::all_of(redraw.draws, [&](std::uint32_t draw) { return draw < draw_count_; });
    };
    bool valid = results.size() == result_of(widths_.size()) && results[0] == program::Type::number &&
                 std::all_of(results.begin() + static_cast<std::ptrdiff_t>(std::min(result_of(0), results.size())),
                             results.end(), [](auto type) { return type == program::Type::number; }) &&
                 program_.inputs.size() == inputs_.size() &&
                 std::ranges::all_of(program_.inputs, [](auto type) { return type == program::Type::number; }) &&
                 std::ranges::none_of(program_.instructions,
                                      [](const auto& each) { return each.operation == program::Operation::loop; });
    for (std::size_t i = 0; valid && i < redraws_.size(); ++i) valid = is_valid(i, redraws_[i]);
    if (!valid) {
        throw ShapeError({.object = object,
                          .value = std::to_string(results.size()) + " results of " + std::to_string(inputs_.size()) +
                                   " inputs, with " + std::to_string(redraws_.size()) + " redraws",
                          .bound = "it must have one number as its result, a truth for each redraw, and a quantity "
                                   "for each input",
                          .remedy = "give one expression"});
    }
    code_ = std::make_shared<const Code>(program_);
}

PairFunction PairFunction::with_widths(std::vector<Width> widths) const {
    program::Program program = program_;
    program.results.resize(result_of(widths.size()));
    return {std::move(program), inputs_, text_, redraws_, std::move(widths)};
}

void PairFunction::check_widths(const std::vector<const double*>& inputs, std::span<const double* const> widths,
                                std::size_t count) const {
    for (std::size_t w = 0; w < widths.size(); ++w) {
        const auto* const found =
            std::find_if_not(widths[w], widths[w] + count, [](double each) { return each >= 0.0; });
        if (found == widths[w] + count) continue;
        std::string place;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            std::string name(to_string(inputs_[k]));
            std::ranges::replace(name, '_', ' ');
            place += (place.empty() ? " at " : ", ") + name + " " + to_text(inputs[k][found - widths[w]]);
        }
        throw ValueOutOfBoundsError({.object = widths_[w].name,
                                     .value = to_text(*found) + place,
                                     .bound = "it must be >= 0",
                                     .remedy = widths_[w].remedy});
    }
}

bool PairFunction::uses(PairQuantity quantity) const { return std::ranges::find(inputs_, quantity) != inputs_.end(); }

bool PairFunction::is_spatial() const { return std::ranges::any_of(inputs_, connect::is_spatial); }

bool PairFunction::is_radial() const {
    return std::ranges::all_of(inputs_, [](PairQuantity input) { return input == PairQuantity::distance; });
}

std::vector<const double*> PairFunction::inputs_from(const Quantities& quantities, std::size_t begin) const {
    std::vector<const double*> arrays;
    arrays.reserve(inputs_.size());
    for (const PairQuantity input : inputs_) arrays.push_back(quantities[static_cast<std::size_t>(input)] + begin);
    return arrays;
}

void PairFunction::evaluate(InstructionSet set, std::size_t count, const Quantities& quantities,
                            std::span<const std::uint64_t* const> words, double* out) const {
    // The same bits, whatever the thread has set.
    const FlushSubnormals flush;
    Run run(*this, set);
    const std::size_t most = run.most_pairs();
    std::vector<std::vector<double>> further(result_of(widths_.size()) - 1, std::vector<double>(std::min(count, most)));
    std::vector<const double*> widths;
    for (std::size_t w = 0; w < widths_.size(); ++w) widths.push_back(further[result_of(w) - 1].data());
    for (std::size_t begin = 0; begin < count; begin += most) {
        Run::Words drawn(words.begin(), words.end());
        for (const std::uint64_t*& each : drawn) each += begin;
        Run::Outputs outputs{out + begin};
        for (std::vector<double>& each : further) outputs.push_back(each.data());
        const std::vector<const double*> inputs = inputs_from(quantities, begin);
        const std::size_t size = std::min(most, count - begin);
        run.block(size, inputs, drawn, outputs);
        if (!widths.empty()) check_widths(inputs, widths, size);
    }
}

void PairFunction::draw(InstructionSet set, std::size_t count, const Quantities& quantities, RandomKey key,
                        const Objects& objects, double* out) const {
    if (!draws()) return evaluate(set, count, quantities, {}, out);
    const FlushSubnormals flush;
    Drawing drawing(*this, set, key);
    for (std::size_t begin = 0; begin < count; begin += Drawing::most) {
        drawing.draw(std::min(Drawing::most, count - begin), inputs_from(quantities, begin), objects.from(begin),
                     out + begin);
    }
}

double PairFunction::acceptance(const std::array<double, pair_quantity_count>& pair) const {
    constexpr std::uint32_t samples = 20'000;
    constexpr std::uint32_t few = 500;
    constexpr double clearly_enough = 0.1;
    const FlushSubnormals flush;
    Run run(*this, InstructionSet::baseline);
    const std::size_t most = run.most_pairs();
    std::vector<double> inputs(inputs_.size() * most);
    std::vector<std::uint64_t> words(draw_count_ * most);
    const std::size_t result_count = result_of(widths_.size());
    std::vector<double> results(result_count * most);
    Run::Inputs given;
    Run::Words drawn;
    Run::Outputs outputs;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
        given.push_back(inputs.data() + k * most);
        std::fill_n(inputs.data() + k * most, most, pair[static_cast<std::size_t>(inputs_[k])]);
    }
    for (std::size_t d = 0; d < draw_count_; ++d) drawn.push_back(words.data() + d * most);
    for (std::size_t r = 0; r < result_count; ++r) outputs.push_back(results.data() + r * most);
    // Draws of an outer part count only where all inner parts have accepted theirs.
    std::vector<std::uint32_t> tried(redraws_.size(), 0);
    std::vector<std::uint32_t> accepted(redraws_.size(), 0);
    const auto is_within = [&](const Redraw& inner, const Redraw& outer) {
        return std::ranges::includes(outer.draws, inner.draws);
    };
    const auto least = [&] {
        double fraction = 1.0;
        for (std::size_t r = 0; r < redraws_.size(); ++r) {
            fraction = std::min(fraction, tried[r] == 0 ? 0.0 : static_cast<double>(accepted[r]) / tried[r]);
        }
        return fraction;
    };
    for (std::uint32_t first = 0; first < samples; first += static_cast<std::uint32_t>(most)) {
        // What is accepted so often needs no closer estimate.
        if (first >= few && least() > clearly_enough) break;
        for (std::uint32_t d = 0; d < draw_count_; ++d) {
            const RandomStream stream{key_of_draw({}, d), 0, 0};
            for (std::size_t i = 0; i < most; ++i) {
                words[d * most + i] = stream.word64(first + static_cast<std::uint32_t>(i));
            }
        }
        run.block(most, given, drawn, outputs);
        for (std::size_t i = 0; i < most; ++i) {
            for (std::size_t r = 0; r < redraws_.size(); ++r) {
                bool counts = true;
                for (std::size_t inner = 0; inner < r; ++inner) {
                    counts = counts && (!is_within(redraws_[inner], redraws_[r]) ||
                                        program::lane::is_true(results[(1 + inner) * most + i]));
                }
                tried[r] += counts ? 1 : 0;
                accepted[r] += counts && program::lane::is_true(results[(1 + r) * most + i]) ? 1 : 0;
            }
        }
    }
    return least();
}

PairRanges::Range PairFunction::range(const PairRanges& ranges, std::size_t result) const {
    // The memory is used again: bounds are found thousands of times for a projection.
    static thread_local std::vector<program::Interval> inputs;
    static thread_local std::vector<program::Interval> values;
    inputs.clear();
    for (const PairQuantity input : inputs_) inputs.push_back({ranges[input].low, ranges[input].high});
    program::find_intervals(program_, inputs, values);
    const program::Interval& found = values[program_.results[result]];
    if (found.may_fail) return {};
    return {found.low, found.high};
}

std::vector<double> PairFunction::upper_bounds(std::span<const double> edges) const {
    if (!is_radial()) throw InternalError("bounds by distance of a function that is not radial");
    std::vector<double> bounds;
    bounds.reserve(edges.size());
    PairRanges ranges;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        ranges[PairQuantity::distance] = {edges[i], edges[i + 1]};
        bounds.push_back(range(ranges).high);
    }
    return bounds;
}

std::uint64_t PairFunction::fingerprint() const {
    SequenceHash hash;
    const auto add_all = [&](const auto& numbers) {
        hash.add(numbers.size());
        for (const auto number : numbers) hash.add(static_cast<std::uint64_t>(number));
    };
    add_all(inputs_);
    hash.add(program_.instructions.size());
    for (const program::Instruction& instruction : program_.instructions) {
        hash.add(static_cast<std::uint64_t>(instruction.operation));
        add_all(instruction.operands);
        hash.add(std::bit_cast<std::uint64_t>(instruction.number));
    }
    add_all(program_.results);
    for (const Redraw& redraw : redraws_) add_all(redraw.draws);
    return hash.value();
}

std::uint64_t PairFunction::bytes() const {
    return sizeof(PairFunction) + text_.capacity() +
           program_.instructions.capacity() * (sizeof(program::Instruction) + 2 * sizeof(std::uint32_t)) +
           program::Interpreter::bytes(code_->code());
}

}  // namespace ranvier::connect
