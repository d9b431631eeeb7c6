#include "models/equations/program_draws.hpp"

#include <algorithm>

#include "base/philox_lanes.hpp"

namespace ranvier::models {

namespace {

/// Index of a block of random bits in the stream of a neuron.
struct BlockNumber {
    /// The step, or the pair of steps, whose draws are in one block.
    std::uint64_t turn;
    /// The upper bits of the turn share a word with the index of the pair of draws.
    std::uint32_t attempt;

    BlockNumber(Step step, std::uint32_t pair, bool is_single)
        : turn(static_cast<std::uint64_t>(step) >> (is_single ? 1 : 0)),
          attempt(static_cast<std::uint32_t>(turn >> 32) * pairs + pair) {}

    static constexpr std::uint32_t pairs = 1 << 7;  ///< of program::most_draws
};

struct DrawPairs {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(RandomKey key, std::uint64_t attempt, std::uint64_t step,
                                          const std::uint64_t* ids, std::size_t lanes, std::uint64_t* first,
                                          std::uint64_t* second) {
        constexpr std::size_t count = philox_lanes::count;
        alignas(64) std::uint64_t c0[count], c1[count], c3[count];
        for (std::size_t begin = 0; begin < lanes; begin += count) {
            for (std::size_t k = 0; k < count; ++k) {
                c0[k] = step;
                c1[k] = attempt;
                c3[k] = ids[begin + k] >> 32;
            }
            philox_lanes::run<set>(key, c0, c1, ids + begin, c3, first + begin, second + begin);
        }
    }
};

}  // namespace

ProgramDraws::ProgramDraws(const std::vector<std::uint32_t>& indices, RandomKey key, InstructionSet set,
                           std::size_t most_lanes, std::pmr::memory_resource* memory)
    : key_(key),
      instruction_set_(set),
      most_lanes_(most_lanes),
      words_(indices.empty() ? 0 : indices.back() + std::size_t{1}, nullptr),
      drawn_(memory),
      ids_(indices.empty() ? 0 : most_lanes, 0, memory) {
    for (const std::uint32_t index : indices) {
        if (pairs_.empty() || pairs_.back().number != index / 2) {
            pairs_.push_back({.number = index / 2, .is_single = true, .index = index});
        } else {
            pairs_.back().is_single = false;
        }
    }
    drawn_.assign(2 * pairs_.size() * most_lanes_, 0);
    for (const std::uint32_t index : indices) {
        const auto place =
            static_cast<std::size_t>(std::ranges::find(pairs_, index / 2, &Pair::number) - pairs_.begin());
        words_[index] = drawn_.data() + (2 * place + index % 2) * most_lanes_;
    }
}

void ProgramDraws::draw(const IdSequence& ids, std::size_t begin, std::size_t lanes, Step step) {
    if (pairs_.empty()) return;
    const bool are_same = begin == begin_ && lanes == lanes_;
    if (!are_same) take_ids(ids, begin, lanes);
    for (std::size_t place = 0; place < pairs_.size(); ++place) {
        const Pair& pair = pairs_[place];
        std::uint64_t* const first = drawn_.data() + 2 * place * most_lanes_;
        if (pair.is_single) words_[pair.index] = first + (step % 2 == 0 ? 0 : most_lanes_);
        // The previous step drew these words together with those of its step.
        if (pair.is_single && are_same && step % 2 != 0 && step == step_ + 1) continue;
        const BlockNumber block(step, pair.number, pair.is_single);
        Dispatched<DrawPairs>::call(instruction_set_, key_, std::uint64_t{block.attempt}, block.turn,
                                    static_cast<const std::uint64_t*>(ids_.data()), lanes, first, first + most_lanes_);
    }
    step_ = step;
}

void ProgramDraws::take_ids(const IdSequence& ids, std::size_t begin, std::size_t lanes) {
    const std::size_t valid = std::min<std::size_t>(lanes, ids.size() - begin);
    ids.copy(begin, std::span(ids_).first(valid));
    std::fill(ids_.begin() + static_cast<std::ptrdiff_t>(valid), ids_.begin() + static_cast<std::ptrdiff_t>(lanes),
              ids_[valid - 1]);
    begin_ = begin;
    lanes_ = lanes;
}

std::uint64_t program_draw(RandomKey key, NeuronId neuron, Step step, std::uint32_t index, bool is_single) {
    const BlockNumber number(step, index / 2, is_single);
    const auto block = RandomStream{key, neuron.value, number.attempt}.block(static_cast<std::uint32_t>(number.turn));
    const std::size_t first = (is_single ? static_cast<std::size_t>(step % 2) : index % 2) * 2;
    return block[first] | std::uint64_t{block[first + 1]} << 32;
}

}  // namespace ranvier::models
