#include "models/program_draws.hpp"

#include <algorithm>

#include "base/philox_lanes.hpp"

namespace ranvier::models {

namespace {

/// A block of random bits holds two draws. Its number in the stream of a neuron is the step, the upper bits of which stand
/// with the number of the pair of draws.
std::uint32_t attempt_of(Step step, std::uint32_t index) {
    constexpr std::uint32_t pairs = 1 << 7;  // of program::most_draws
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(step) >> 32) * pairs + index / 2;
}

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
        if (pairs_.empty() || pairs_.back() != index / 2) pairs_.push_back(index / 2);
    }
    drawn_.assign(2 * pairs_.size() * most_lanes_, 0);
    for (const std::uint32_t index : indices) {
        const auto place = static_cast<std::size_t>(std::ranges::find(pairs_, index / 2) - pairs_.begin());
        words_[index] = drawn_.data() + (2 * place + index % 2) * most_lanes_;
    }
}

void ProgramDraws::draw(const IdSequence& ids, std::size_t begin, std::size_t lanes, Step step) {
    if (pairs_.empty()) return;
    const std::size_t valid = std::min<std::size_t>(lanes, ids.size() - begin);
    ids.copy(begin, std::span(ids_).first(valid));
    std::fill(ids_.begin() + static_cast<std::ptrdiff_t>(valid), ids_.begin() + static_cast<std::ptrdiff_t>(lanes),
              ids_[valid - 1]);
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        std::uint64_t* const first = drawn_.data() + 2 * pair * most_lanes_;
        Dispatched<DrawPairs>::call(instruction_set_, key_, std::uint64_t{attempt_of(step, 2 * pairs_[pair])},
                                    static_cast<std::uint64_t>(step), static_cast<const std::uint64_t*>(ids_.data()),
                                    lanes, first, first + most_lanes_);
    }
}

std::uint64_t program_draw(RandomKey key, NeuronId neuron, Step step, std::uint32_t index) {
    const RandomStream stream{key, neuron.value, attempt_of(step, index)};
    const auto block = stream.block(static_cast<std::uint32_t>(static_cast<std::uint64_t>(step)));
    const std::size_t first = index % 2 * 2;
    return block[first] | std::uint64_t{block[first + 1]} << 32;
}

}  // namespace ranvier::models
