#include "connect/rules/partners.hpp"

#include <algorithm>
#include <cassert>

namespace ranvier::connect {

namespace {

constexpr std::uint64_t words_of_32_bits = std::uint64_t{1} << 32;

/// Maps words to integers below `bound` by multiplication (D. Lemire, "Fast random integer generation in an interval",
/// 2019), skipping the excluded one. Returns whether any word must be rejected.
struct MapWords {
    RANVIER_ALWAYS_INLINE static bool run(const std::uint32_t* __restrict words, std::size_t count, std::uint32_t bound,
                                          std::uint32_t threshold, std::uint64_t excluded,
                                          std::uint64_t* __restrict out) {
        std::uint32_t rejected = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t product = std::uint64_t{words[i]} * bound;
            rejected |= static_cast<std::uint32_t>(product) < threshold ? 1U : 0U;
            const std::uint64_t value = product >> 32;
            out[i] = value + (value >= excluded ? 1 : 0);
        }
        return rejected != 0;
    }
};

std::uint64_t skip_excluded(std::uint64_t value, std::uint64_t excluded) { return value + (value >= excluded ? 1 : 0); }

/// A number below `bound` from word `index` of a stream. A word that would bias the distribution is replaced by that of
/// a later attempt, so that other indices are not shifted.
std::uint64_t draw_below_32(RandomStream stream, std::uint32_t index, std::uint32_t bound, std::uint32_t threshold) {
    while (true) {
        const std::uint64_t product = std::uint64_t{stream.word32(index)} * bound;
        if (static_cast<std::uint32_t>(product) >= threshold) return product >> 32;
        ++stream.attempt;
    }
}

std::uint64_t draw_below_64(RandomStream stream, std::uint32_t index, std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t threshold = (0 - bound) % bound;
    while (true) {
        const Wide product = static_cast<Wide>(stream.word64(index)) * bound;
        if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
        ++stream.attempt;
    }
}

/// 2^32 modulo `bound`.
std::uint32_t threshold_of(std::uint32_t bound) { return (0 - bound) % bound; }

void draw_from_large_range(RandomKey key, const MajorView& view, std::uint64_t begin, std::uint64_t stride,
                           std::span<const std::uint32_t> degrees, std::uint64_t* partners) {
    for (std::size_t i = 0; i < degrees.size(); ++i) {
        const std::uint64_t major = begin + i * stride;
        const std::uint64_t excluded = view.excluded(major);
        for (std::uint32_t j = 0; j < degrees[i]; ++j) {
            *partners++ = skip_excluded(draw_below_64({key, major, 0}, j, view.allowed(major)), excluded);
        }
    }
}

}  // namespace

std::uint64_t MajorView::count_excluded(std::uint64_t begin, std::uint64_t end) const {
    if (allow_autapses_) return 0;
    if (same_) return same_->count(side_, begin, end);
    const std::uint64_t low = std::max(first_major_ + begin, first_partner_);
    const std::uint64_t high = std::min(first_major_ + end, first_partner_ + partners_);
    return high > low ? high - low : 0;
}

std::optional<PartnerDraws> MajorView::draws(PartnerDraws::Way way, RandomKey key) const {
    if (partners_ >= words_of_32_bits) return std::nullopt;
    PartnerDraws made;
    made.way = way;
    made.majors = majors_;
    made.partners = partners_;
    made.first_major = first_major_;
    made.first_partner = first_partner_;
    made.allows_autapses = allow_autapses_;
    made.key = key;
    if (!same_ || allow_autapses_) return made;
    made.own_partners.assign(majors_, PartnerDraws::none);
    for (std::uint64_t major = 0; major < majors_; ++major) {
        if (const auto own = same_->find(side_, major)) made.own_partners[major] = static_cast<std::uint32_t>(*own);
    }
    return made;
}

WordBatches::WordBatches(InstructionSet set, RandomKey key, std::uint64_t begin, std::uint64_t stride,
                         std::span<const std::uint32_t> wanted)
    : set_(set), key_(key), begin_(begin), stride_(stride), wanted_(wanted) {
    // Allocate no more than needed: often the numbers of a single neuron are requested.
    std::uint64_t blocks = 0;
    for (std::size_t i = 0; i < wanted.size() && blocks < batch; ++i) blocks += (std::uint64_t{wanted[i]} + 3) / 4;
    const std::size_t room = std::min<std::uint64_t>(batch, blocks);
    streams_.resize(room);
    blocks_.resize(room);
    words_.resize(4 * room);
}

std::span<const WordBatches::Piece> WordBatches::next() {
    pieces_.clear();
    std::size_t used = 0;
    while (ordinal_ < wanted_.size() && used < streams_.size()) {
        const std::uint64_t needed = (std::uint64_t{wanted_[ordinal_]} + 3) / 4;
        const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(needed - block_, streams_.size() - used));
        if (taken > 0) {
            std::fill_n(streams_.begin() + static_cast<std::ptrdiff_t>(used), taken, begin_ + ordinal_ * stride_);
            for (std::size_t i = 0; i < taken; ++i) blocks_[used + i] = static_cast<std::uint32_t>(block_ + i);
            pieces_.push_back({ordinal_, 4 * block_, std::span(words_).subspan(4 * used, 4 * taken)});
            used += taken;
            block_ += taken;
        }
        if (block_ == needed) {
            ++ordinal_;
            block_ = 0;
        }
    }
    fill_blocks(set_, key_, 0, std::span(streams_).first(used), std::span(blocks_).first(used), words_.data());
    return pieces_;
}

void draw_with_repetition(InstructionSet set, RandomKey key, const MajorView& view, std::uint64_t begin,
                          std::uint64_t stride, std::span<const std::uint32_t> degrees, std::uint64_t* partners) {
    if (view.partners() >= words_of_32_bits) return draw_from_large_range(key, view, begin, stride, degrees, partners);
    const auto all = static_cast<std::uint32_t>(view.partners());
    // Thresholds cost a division; there are only two.
    const std::uint32_t threshold_all = all > 0 ? threshold_of(all) : 0;
    const std::uint32_t threshold_less = all > 1 ? threshold_of(all - 1) : 0;
    WordBatches batches(set, key, begin, stride, degrees);
    for (auto pieces = batches.next(); !pieces.empty(); pieces = batches.next()) {
        for (const auto& piece : pieces) {
            const std::uint64_t major = begin + piece.ordinal * stride;
            const std::uint64_t excluded = view.excluded(major);
            const std::uint32_t bound = excluded == no_partner ? all : all - 1;
            const std::uint32_t threshold = excluded == no_partner ? threshold_all : threshold_less;
            const auto count = static_cast<std::size_t>(
                std::min<std::uint64_t>(piece.words.size(), degrees[piece.ordinal] - piece.first));
            assert(bound > 0);
            const bool rejected =
                Dispatched<MapWords>::call(set, piece.words.data(), count, bound, threshold, excluded, partners);
            for (std::size_t i = 0; rejected && i < count; ++i) {
                const auto index = static_cast<std::uint32_t>(piece.first + i);
                partners[i] = skip_excluded(draw_below_32({key, major, 0}, index, bound, threshold), excluded);
            }
            partners += count;
        }
    }
}

}  // namespace ranvier::connect
