#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "connect/rules/partners.hpp"
#include "ranvier/base/hash.hpp"

namespace ranvier::connect {

namespace {

/// A set of numbers below a bound: a bitmap if that is small compared to the number of draws, otherwise a hash table.
/// The choice affects only the run time.
class NumberSet {
   public:
    NumberSet(std::uint64_t bound, std::uint64_t most_members, bool as_bitmap) {
        if (as_bitmap) {
            bits_.resize(bound / 64 + 1);
        } else {
            const std::uint64_t slots = std::bit_ceil(4 * most_members + 2);
            slots_.assign(slots, empty);
            shift_ = 64 - std::countr_zero(slots);
        }
    }

    /// Returns whether the number is new.
    bool insert(std::uint64_t value) {
        if (!bits_.empty()) {
            const std::uint64_t bit = std::uint64_t{1} << (value % 64);
            const bool is_new = (bits_[value / 64] & bit) == 0;
            bits_[value / 64] |= bit;
            return is_new;
        }
        std::uint64_t slot = first_slot(value);
        while (slots_[slot] != empty) {
            if (slots_[slot] == value) return false;
            slot = (slot + 1) & (slots_.size() - 1);
        }
        slots_[slot] = value;
        return true;
    }

    /// Empties the set, given all its members.
    void erase(const std::uint64_t* members, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            if (!bits_.empty()) {
                bits_[members[i] / 64] = 0;
            } else {
                for (std::uint64_t slot = first_slot(members[i]); slots_[slot] != empty;
                     slot = (slot + 1) & (slots_.size() - 1)) {
                    slots_[slot] = empty;
                }
            }
        }
    }

    /// Writes the numbers below `bound` that are not members, ascending, and empties the set. Bitmaps only.
    std::uint64_t* take_missing(std::uint64_t bound, std::uint64_t* out) {
        for (std::uint64_t first = 0; first < bound; first += 64) {
            std::uint64_t missing = ~bits_[first / 64];
            if (bound - first < 64) missing &= (std::uint64_t{1} << (bound - first)) - 1;
            for (; missing != 0; missing &= missing - 1) {
                *out++ = first + static_cast<std::uint64_t>(std::countr_zero(missing));
            }
            bits_[first / 64] = 0;
        }
        return out;
    }

   private:
    static constexpr std::uint64_t empty = no_partner;

    std::uint64_t first_slot(std::uint64_t value) const { return (value * golden_ratio) >> shift_; }

    std::vector<std::uint64_t> bits_;
    std::vector<std::uint64_t> slots_;
    int shift_ = 0;
};

/// Draws distinct partners by rejection: candidates are taken in the order of the words of the neuron's stream, and
/// repeated ones are skipped. If more than half of all partners are needed, the excluded ones are drawn instead.
class DistinctSampler {
   public:
    DistinctSampler(RandomKey key, const MajorView& view, std::uint64_t begin, std::uint64_t stride,
                    std::span<const std::uint32_t> degrees, std::uint64_t* partners)
        : key_(key),
          view_(view),
          begin_(begin),
          stride_(stride),
          degrees_(degrees),
          out_(partners),
          drawn_(view.partners(), most_drawn(), use_bitmap()) {}

    void draw(InstructionSet set) {
        if (view_.partners() >= std::uint64_t{1} << 32) return draw_from_large_range();
        std::vector<std::uint32_t> wanted(degrees_.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = estimate_words(i);
        WordBatches batches(set, key_, begin_, stride_, wanted);
        for (auto pieces = batches.next(); !pieces.empty(); pieces = batches.next()) {
            for (const auto& piece : pieces) {
                // Neurons in between that need no word.
                while (ordinal_ < piece.ordinal) finish();
                take(piece.words);
                const std::uint64_t end = piece.first + piece.words.size();
                if (end < wanted[ordinal_]) continue;
                SequentialRandom more({key_, major(), 0}, static_cast<std::uint32_t>(end / 4));
                while (found_ < to_draw(ordinal_)) {
                    const std::uint32_t word = more.next32();
                    take({&word, 1});
                }
                finish();
            }
        }
        while (ordinal_ < degrees_.size()) finish();
    }

   private:
    std::uint64_t major() const { return begin_ + ordinal_ * stride_; }
    std::uint64_t allowed(std::size_t ordinal) const { return view_.allowed(begin_ + ordinal * stride_); }
    bool by_complement(std::size_t ordinal) const { return degrees_[ordinal] > allowed(ordinal) / 2; }
    std::uint64_t to_draw(std::size_t ordinal) const {
        assert(degrees_[ordinal] <= allowed(ordinal));
        return by_complement(ordinal) ? allowed(ordinal) - degrees_[ordinal] : degrees_[ordinal];
    }

    std::uint64_t most_drawn() const {
        std::uint64_t most = 0;
        for (std::size_t i = 0; i < degrees_.size(); ++i) most = std::max(most, to_draw(i));
        return most;
    }

    bool use_bitmap() const {
        constexpr std::uint64_t always_cheap = 1 << 14;
        std::uint64_t total = 0;
        for (const std::uint32_t degree : degrees_) total += degree;
        return view_.partners() <= std::max(always_cheap, 64 * total);
    }

    /// Estimated number of words; affects only the run time.
    std::uint32_t estimate_words(std::size_t ordinal) const {
        const auto count = static_cast<double>(to_draw(ordinal));
        if (count == 0.0) return 0;
        const double repeated = 0.5 * count * count / static_cast<double>(allowed(ordinal));
        return static_cast<std::uint32_t>(std::min(count + 1.5 * repeated, 4e9));
    }

    void take(std::span<const std::uint32_t> words) {
        const std::uint64_t needed = to_draw(ordinal_);
        const bool complement = by_complement(ordinal_);
        const auto bound = static_cast<std::uint32_t>(allowed(ordinal_));
        const std::uint32_t threshold = (0 - bound) % bound;
        std::uint64_t found = found_;
        for (const std::uint32_t word : words) {
            if (found == needed) break;
            const std::uint64_t product = std::uint64_t{word} * bound;
            if (static_cast<std::uint32_t>(product) < threshold) continue;
            if (!drawn_.insert(product >> 32)) continue;
            if (!complement) out_[found] = product >> 32;
            ++found;
        }
        found_ = found;
    }

    /// Writes the partners of the current neuron and advances to the next.
    void finish() {
        const std::uint64_t excluded = view_.excluded(major());
        const std::uint64_t degree = degrees_[ordinal_];
        if (degree > 0 && by_complement(ordinal_)) {
            drawn_.take_missing(allowed(ordinal_), out_);
        } else {
            drawn_.erase(out_, degree);
        }
        if (excluded != no_partner) {
            for (std::uint64_t i = 0; i < degree; ++i) out_[i] += out_[i] >= excluded ? 1 : 0;
        }
        out_ += degree;
        ++ordinal_;
        found_ = 0;
    }

    void draw_from_large_range() {
        while (ordinal_ < degrees_.size()) {
            SequentialRandom random({key_, major(), 0});
            const bool complement = by_complement(ordinal_);
            while (found_ < to_draw(ordinal_)) {
                const std::uint64_t value = random.next_below(allowed(ordinal_));
                if (!drawn_.insert(value)) continue;
                if (!complement) out_[found_] = value;
                ++found_;
            }
            finish();
        }
    }

    RandomKey key_;
    const MajorView& view_;
    std::uint64_t begin_;
    std::uint64_t stride_;
    std::span<const std::uint32_t> degrees_;
    std::uint64_t* out_;
    NumberSet drawn_;
    std::size_t ordinal_ = 0;
    std::uint64_t found_ = 0;
};

}  // namespace

void draw_without_repetition(InstructionSet set, RandomKey key, const MajorView& view, std::uint64_t begin,
                             std::uint64_t stride, std::span<const std::uint32_t> degrees, std::uint64_t* partners) {
    DistinctSampler(key, view, begin, stride, degrees, partners).draw(set);
}

}  // namespace ranvier::connect
