#pragma once

#include "base/math.hpp"
#include "device/kernel/machine.hpp"
#include "device/kernel/network.hpp"
#include "device/kernel/poisson.hpp"

/// Rows of synapses that a device draws itself: the partners of connect/rules and the values of base/distribution.cpp, from
/// the same words of the same random numbers.
namespace ranvier::device {

/// How the partners of a neuron are drawn; as connect::PartnerDraws::Way.
enum class DrawWay : u32 { with_repetition, without_repetition, by_skips, all, same };

/// How a weight or a delay is drawn; as Distribution.
enum class ValueKind : u32 { constant, normal, lognormal, uniform, exponential };
enum class ValueBounds : u32 { none, clip, redraw };
struct ValueDraws {
    ValueKind kind = ValueKind::constant;
    ValueBounds bounds = ValueBounds::none;
    double first = 0.0;
    double second = 0.0;
    double lower = 0.0;
    double upper = 0.0;
    u32 key_low = 0;
    u32 key_high = 0;
};

/// A projection, whose synapses are drawn for each *major* neuron: a target or, if `by_source`, a source.
struct ProjectionDraws {
    DrawWay way = DrawWay::with_repetition;
    u32 by_source = 0;
    u64 partners = 0;
    u64 first_major = 0;    ///< id
    u64 first_partner = 0;  ///< id
    u32 allows_autapses = 0;
    u32 degree = 0;                ///< of each major neuron,
    const u32* degrees = nullptr;  ///< or by major neuron
    // Where there are gaps between ids; see connect::PartnerDraws.
    const u32* numbers = nullptr;
    const u32* partner_ids = nullptr;
    const u32* own_partners = nullptr;
    double inverse_log_of_failure = 0.0;
    u32 key_low = 0;
    u32 key_high = 0;
    /// Without repetition: slots of a hash table of the partners of a neuron, a power of two; 0: a bit for each possible
    /// partner.
    u32 set_slots = 0;
    u32 set_shift = 0;  ///< 32 minus the logarithm of the slots
    /// A thread draws so many partners of a neuron at most, if they do not depend on each other; otherwise all.
    u32 partners_of_item = 0xFFFFFFFF;
    u32 parts = 1;  ///< of the partners of a neuron, one for each thread
    ValueDraws weights;
    ValueDraws delays;
    double steps_per_millisecond = 1.0;  ///< with the guard of half_up()
    u32 delay_stride = 1;
    u32 receptors[2] = {0, 0};  ///< of weights >= 0, and of weights < 0
    u32 most_spikes = 1;        ///< of a source in a step
};

/// Major neurons of a projection in a block, whose numbers follow each other.
struct DrawSegment {
    u64 first_item = 0;
    u32 projection = 0;
    u32 first_neuron = 0;  ///< of the process
};

/// What was drawn of a projection, of weights >= 0 and of weights < 0: bits of absolute values, which have the order of
/// the numbers.
struct DrawnWeights {
    u32 least_less_one[2] = {0xFFFFFFFF, 0xFFFFFFFF};  ///< zeros wrap around
    u32 greatest[2] = {0, 0};
    u32 is_lost = 0;  ///< a weight has no normal number in single precision
};

/// Parts of a construction. All threads finish a part before the next one begins.
enum class BuildPart : u32 {
    count,  ///< synapses of rows
    sum,    ///< of stretches of rows
    scan,   ///< of all stretches
    place,  ///< starts of rows
    fill,   ///< rows
    join,   ///< rows that are given, of one block
    order,  ///< synapses of rows: those with a delay of one step first
};
inline constexpr u32 build_parts = 7;

/// Synapses of a block with a delay of one step.
struct UrgentSynapses {
    u64 all = 0;
    u32 most = 0;  ///< of a row
    u32 unused = 0;
};

/// A network while its rows are drawn. Neurons of the process are numbered by block.
struct Construction {
    u32 blocks = 0;
    u64 neurons = 0;
    const u32* numbers = nullptr;        ///< by id
    const u64* ids = nullptr;            ///< by neuron; 0 between populations
    const u32* block_of = nullptr;       ///< by neuron
    const u32* first_neurons = nullptr;  ///< by block
    const Receptor* receptors = nullptr;  ///< [block][receptor]
    u32 receptor_count = 0;
    u32 projections = 0;
    const ProjectionDraws* draws = nullptr;
    const DrawSegment* segments = nullptr;  ///< and one after the last
    u32 segment_count = 0;
    /// A row for each block and source, then one end. While rows are counted, element n + 2 has the synapses of row n,
    /// at first those that are given; while they are filled, element n + 1 is the place of its next synapse.
    u64* row_begin = nullptr;
    u64 rows = 0;
    u64 stretch = 1;  ///< rows that a thread sums
    u64* sums = nullptr;  ///< of stretches
    u64 stretches = 0;
    Synapse* synapses = nullptr;
    // Rows of tables of a block.
    u32 given_block = 0;
    const u64* given_begin = nullptr;  ///< by source, and the end of the last one
    const Synapse* given = nullptr;
    DrawnWeights* weights = nullptr;  ///< by projection
    UrgentSynapses* urgent = nullptr;  ///< by block
    u32* delay_counts = nullptr;       ///< [receptor][delay] of some synapses
    u32 delay_room = 0;                ///< of a receptor: more than the greatest delay
    u64* input_counts = nullptr;      ///< [receptor][neuron]: spikes that can arrive at once
    u32* scratch = nullptr;           ///< of threads, cleared
    u64 scratch_words = 0;            ///< of a thread
};
inline constexpr u64 no_partner_index = ~u64{0};
inline constexpr u32 no_number = ~u32{0};

RANVIER_DEVICE_CALL Words words_of(u32 index, u32 attempt, u64 stream, u32 key_low, u32 key_high) {
    return philox(index, attempt, static_cast<u32>(stream), static_cast<u32>(stream >> 32), key_low, key_high);
}

/// The words of a stream, as RandomStream: those of a block are drawn together.
class StreamWords {
   public:
    RANVIER_DEVICE StreamWords(u32 key_low, u32 key_high, u64 stream)
        : key_low_(key_low), key_high_(key_high), stream_(stream) {}

    RANVIER_DEVICE u32 word32(u32 index) {
        find(index / 4);
        const u32 low = (index & 1) != 0 ? words_.values[1] : words_.values[0];
        const u32 high = (index & 1) != 0 ? words_.values[3] : words_.values[2];
        return (index & 2) != 0 ? high : low;
    }
    RANVIER_DEVICE u64 word64(u32 index) {
        find(index / 2);
        return (index & 1) != 0 ? words_.values[2] | u64{words_.values[3]} << 32
                                : words_.values[0] | u64{words_.values[1]} << 32;
    }
    /// Words of a redraw.
    RANVIER_DEVICE Words block(u32 index, u32 attempt) const {
        return words_of(index, attempt, stream_, key_low_, key_high_);
    }

   private:
    RANVIER_DEVICE void find(u32 index) {
        if (has_block_ && index == block_) return;
        words_ = block(index, 0);
        block_ = index;
        has_block_ = true;
    }

    u32 key_low_;
    u32 key_high_;
    u64 stream_;
    Words words_{};
    u32 block_ = 0;
    bool has_block_ = false;
};

/// A value from a word, as transform_one() in base/distribution.cpp.
RANVIER_DEVICE_CALL double transformed(const ValueDraws& draws, u64 word) {
    const double u = open_unit(word);
    if (draws.kind == ValueKind::uniform) return draws.first + (draws.second - draws.first) * u;
    if (draws.kind == ValueKind::exponential) return draws.first - draws.second * math::log(u);
    const double q = u - 0.5;
    const double normal =
        q >= -0.425 && q <= 0.425 ? math::detail::quantile_central(q) : math::detail::quantile_tail(u);
    const double value = draws.first + draws.second * normal;
    return draws.kind == ValueKind::lognormal ? math::exp(value) : value;
}

/// Value number `index` of a stream, as Distribution::draw().
RANVIER_DEVICE double drawn_value(const ValueDraws& draws, StreamWords& words, u32 index) {
    if (draws.kind == ValueKind::constant) return draws.first;
    constexpr u32 most_attempts = 40'000;
    double value = 0.0;
    for (u32 attempt = 0;; ++attempt) {
        u64 word = 0;
        if (attempt == 0) {
            word = words.word64(index);
        } else {
            const Words again = words.block(index / 2, attempt);
            word = (index & 1) != 0 ? again.values[2] | u64{again.values[3]} << 32
                                    : again.values[0] | u64{again.values[1]} << 32;
        }
        value = transformed(draws, word);
        if (draws.bounds != ValueBounds::redraw || attempt == most_attempts) break;
        if (value >= draws.lower && value <= draws.upper) break;
    }
    if (draws.bounds == ValueBounds::none) return value;
    return value < draws.lower ? draws.lower : draws.upper < value ? draws.upper : value;
}

/// Draws the synapses of a major neuron, and counts or stores each.
class MajorDraws {
   public:
    RANVIER_DEVICE MajorDraws(const Construction& construction, u32 projection, u32 neuron, bool fills, u32* scratch)
        : c_(construction),
          p_(construction.draws[projection]),
          projection_(projection),
          neuron_(neuron),
          fills_(fills),
          scratch_(scratch),
          id_(construction.ids[neuron] - p_.first_major),
          major_(p_.numbers != nullptr ? p_.numbers[id_] : id_),
          weight_words_(p_.weights.key_low, p_.weights.key_high, id_),
          delay_words_(p_.delays.key_low, p_.delays.key_high, id_) {}

    /// @param part of the partners
    RANVIER_DEVICE void run(u32 part) {
        if (p_.numbers != nullptr && major_ == no_number) return;
        excluded_ = excluded();
        allowed_ = p_.partners - (excluded_ == no_partner_index ? 0 : 1);
        u64 end = p_.degrees != nullptr ? p_.degrees[major_] : p_.degree;
        if (p_.way == DrawWay::all) end = allowed_;
        if (p_.way == DrawWay::by_skips) end = ~u64{0};
        const u32 bound = static_cast<u32>(allowed_);
        if (bound != 0) threshold_ = (0U - bound) % bound;
        const u64 begin = u64{part} * p_.partners_of_item;
        if (p_.parts > 1 && begin + p_.partners_of_item < end) end = begin + p_.partners_of_item;
        if (p_.way == DrawWay::without_repetition) begin_set(end);
        StreamWords words(p_.key_low, p_.key_high, major_);
        for (u64 ordinal = begin; ordinal < end; ++ordinal) {
            u64 partner = ordinal;
            if (p_.way == DrawWay::with_repetition) {
                partner = drawn(words, static_cast<u32>(ordinal));
            } else if (p_.way == DrawWay::without_repetition) {
                partner = next_new(words);
            } else if (p_.way == DrawWay::by_skips) {
                partner = next_connected(words, static_cast<u32>(ordinal));
                if (partner >= allowed_) break;
            } else if (p_.way == DrawWay::same) {
                if (excluded_ == major_) break;
                take(ordinal, major_);
                break;
            }
            take(ordinal, partner + (partner >= excluded_ ? 1 : 0));
        }
        if (p_.way == DrawWay::without_repetition) end_set();
        if (fills_) report();
    }

   private:
    /// As MajorView::excluded().
    RANVIER_DEVICE u64 excluded() const {
        if (p_.allows_autapses != 0) return no_partner_index;
        if (p_.own_partners != nullptr) {
            const u32 own = p_.own_partners[major_];
            return own == no_number ? no_partner_index : own;
        }
        const u64 partner = p_.first_major + major_ - p_.first_partner;
        return partner < p_.partners ? partner : no_partner_index;
    }

    /// As draw_with_repetition() in connect/rules/partners.cpp.
    RANVIER_DEVICE u64 drawn(StreamWords& words, u32 index) const {
        const u32 bound = static_cast<u32>(allowed_);
        u64 product = u64{words.word32(index)} * bound;
        for (u32 attempt = 1; static_cast<u32>(product) < threshold_; ++attempt) {
            product = u64{words.block(index / 4, attempt).values[index % 4]} * bound;
        }
        return product >> 32;
    }

    /// As DistinctSampler in connect/rules/distinct.cpp: if more than half of all partners are needed, the others are drawn.
    RANVIER_DEVICE void begin_set(u64 degree) {
        if (degree <= allowed_ / 2) return;
        StreamWords words(p_.key_low, p_.key_high, major_);
        is_complement_ = true;
        const u64 others = allowed_ - degree;
        for (u64 found = 0; found < others; ++found) insert_new(words);
    }
    RANVIER_DEVICE u64 next_new(StreamWords& words) {
        if (!is_complement_) return insert_new(words);
        while ((scratch_[position_ / 32] >> (position_ % 32) & 1) != 0) ++position_;
        return position_++;
    }
    RANVIER_DEVICE void end_set() const {
        const u64 scratch_words = p_.set_slots != 0 ? p_.set_slots : (p_.partners + 31) / 32;
        for (u64 i = 0; i < scratch_words; ++i) scratch_[i] = 0;
    }
    /// Draws partners until one is new.
    RANVIER_DEVICE u32 insert_new(StreamWords& words) {
        const u32 bound = static_cast<u32>(allowed_);
        for (;;) {
            const u64 product = u64{words.word32(next_word_++)} * bound;
            if (static_cast<u32>(product) < threshold_) continue;
            const u32 value = static_cast<u32>(product >> 32);
            if (insert(value)) return value;
        }
    }
    /// Returns whether a partner is new. Slots of the hash table have the partner plus one; 0 is free.
    RANVIER_DEVICE bool insert(u32 value) const {
        if (p_.set_slots == 0) {
            const u32 bit = 1U << (value % 32);
            const bool is_new = (scratch_[value / 32] & bit) == 0;
            scratch_[value / 32] |= bit;
            return is_new;
        }
        u32 slot = (value * 0x9E3779B1U) >> p_.set_shift;
        while (scratch_[slot] != 0) {
            if (scratch_[slot] == value + 1) return false;
            slot = (slot + 1) & (p_.set_slots - 1);
        }
        scratch_[slot] = value + 1;
        return true;
    }

    /// As PairwiseBernoulli: partners that are skipped before the next one are geometrically distributed. Returns a number
    /// that is not below allowed_ after the last one.
    RANVIER_DEVICE u64 next_connected(StreamWords& words, u32 index) {
        constexpr double beyond_all = 0x1p62;
        if (position_ >= allowed_) return allowed_;
        const double skip = math::log(open_unit(words.word64(index))) * p_.inverse_log_of_failure;
        const u64 whole = static_cast<u64>(static_cast<i64>(skip < beyond_all ? skip : beyond_all));
        if (whole >= allowed_ - position_) return allowed_;
        const u64 partner = position_ + whole;
        position_ = partner + 1;
        return partner;
    }

    /// Synapse number `ordinal` of the major neuron.
    RANVIER_DEVICE void take(u64 ordinal, u64 partner) {
        const u64 partner_id = p_.partner_ids != nullptr ? p_.partner_ids[partner] : partner;
        const u32 other = c_.numbers[p_.first_partner + partner_id];
        const u32 source = p_.by_source != 0 ? neuron_ : other;
        const u32 target = p_.by_source != 0 ? other : neuron_;
        const u32 block = c_.block_of[target];
        const u64 row = u64{block} * c_.neurons + source;
        if (!fills_) {
            add(c_.row_begin + row + 2, u64{1});
            return;
        }
        const u32 index = static_cast<u32>(ordinal);
        const double given = drawn_value(p_.weights, weight_words_, index);
        // As round_delay().
        const double steps = drawn_value(p_.delays, delay_words_, index) * p_.steps_per_millisecond + 0.5;
        const u32 delay = (steps < 1.0 ? 1U : static_cast<u32>(static_cast<i32>(steps))) * p_.delay_stride;
        const u32 sign = given < 0.0 ? 1 : 0;
        // -0 becomes 0.
        const float weight = static_cast<float>(given) + 0.0F;
        note(weight, given, sign);
        const u32 receptor = p_.receptors[sign];
        const u32 cell =
            c_.receptors[block * c_.receptor_count + receptor].cell(delay, target - c_.first_neurons[block]);
        c_.synapses[fetch_add(c_.row_begin + row + 1, u64{1})] = {cell, weight};
        if (p_.by_source != 0) {
            add(c_.input_counts + receptor * c_.neurons + target, u64{p_.most_spikes});
        } else {
            ++counts_[sign];
        }
    }

    RANVIER_DEVICE void note(float weight, double given, u32 sign) {
        const u32 bits = __builtin_bit_cast(u32, weight) & 0x7FFFFFFF;
        constexpr u32 least_normal = 0x00800000;
        if (bits < least_normal && given != 0.0) is_lost_ = true;
        if (bits - 1 < least_less_one_[sign]) least_less_one_[sign] = bits - 1;
        if (bits > greatest_[sign]) greatest_[sign] = bits;
    }
    /// Adds what was noted to that of the projection.
    RANVIER_DEVICE void report() {
        DrawnWeights& all = c_.weights[projection_];
        for (u32 sign = 0; sign < 2; ++sign) {
            if (least_less_one_[sign] != 0xFFFFFFFF) lower(&all.least_less_one[sign], least_less_one_[sign]);
            if (greatest_[sign] != 0) raise(&all.greatest[sign], greatest_[sign]);
            if (counts_[sign] == 0) continue;
            add(c_.input_counts + p_.receptors[sign] * c_.neurons + neuron_, counts_[sign] * p_.most_spikes);
        }
        if (is_lost_) raise(&all.is_lost, 1);
    }

    const Construction& c_;
    const ProjectionDraws& p_;
    u32 projection_;
    u32 neuron_;
    bool fills_;
    u32* scratch_;
    u64 id_;     ///< counted from first_major
    u64 major_;  ///< its number
    StreamWords weight_words_;
    StreamWords delay_words_;
    u64 excluded_ = no_partner_index;
    u64 allowed_ = 0;
    u32 threshold_ = 0;
    u64 position_ = 0;  ///< first partner that was not looked at
    u32 next_word_ = 0;
    bool is_complement_ = false;
    u64 counts_[2] = {0, 0};
    u32 least_less_one_[2] = {0xFFFFFFFF, 0xFFFFFFFF};
    u32 greatest_[2] = {0, 0};
    bool is_lost_ = false;
};

/// Draws an item: a part of the synapses of a major neuron. @param scratch of the thread
RANVIER_DEVICE void draw_item(const Construction& c, u64 item, bool fills, u32* scratch) {
    u32 low = 0;
    u32 high = c.segment_count;
    while (high - low > 1) {
        const u32 middle = (low + high) / 2;
        if (c.segments[middle].first_item <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const DrawSegment& segment = c.segments[low];
    const u32 parts = c.draws[segment.projection].parts;
    const u64 place = item - segment.first_item;
    const u32 neuron = segment.first_neuron + static_cast<u32>(place / parts);
    MajorDraws(c, segment.projection, neuron, fills, scratch).run(static_cast<u32>(place % parts));
}

/// Appends the rows of tables to those that were drawn.
RANVIER_DEVICE void join_row(const Construction& c, u64 source) {
    u64& next = c.row_begin[u64{c.given_block} * c.neurons + source + 1];
    for (u64 i = c.given_begin[source]; i < c.given_begin[source + 1]; ++i) c.synapses[next++] = c.given[i];
}

RANVIER_DEVICE void order_row(const Construction& c, u64 row) {
    const u64 block = row / c.neurons;
    const Receptor* const receptors = c.receptors + block * c.receptor_count;
    Synapse* const begin = c.synapses + c.row_begin[row];
    const u64 length = c.row_begin[row + 1] - c.row_begin[row];
    u32 count = 0;
    for (u64 i = 0; i < length; ++i) {
        const Synapse synapse = begin[i];
        if (!is_urgent(receptors, c.receptor_count, synapse.cell)) continue;
        begin[i] = begin[count];
        begin[count++] = synapse;
    }
    // Some rows tell enough of the delays.
    constexpr u64 stride = 1021;
    for (u64 i = 0; row % stride == 0 && i < length; ++i) {
        u32 r = 0;
        while (r + 1 < c.receptor_count && begin[i].cell >= receptors[r + 1].first_cell) ++r;
        const u32 delay = (begin[i].cell - receptors[r].first_cell) / receptors[r].inputs + 1;
        fetch_add(&c.delay_counts[r * c.delay_room + delay], 1U);
    }
    if (count == 0) return;
    add(&c.urgent[block].all, u64{count});
    raise(&c.urgent[block].most, count);
}

/// A thread's share of a part. @param threads of the device
RANVIER_DEVICE void build(const Construction& c, BuildPart part, u64 thread, u64 threads) {
    const u64 items = c.segments[c.segment_count].first_item;
    switch (part) {
        case BuildPart::count:
        case BuildPart::fill:
            for (u64 item = thread; item < items; item += threads) {
                draw_item(c, item, part == BuildPart::fill, c.scratch + thread * c.scratch_words);
            }
            return;
        case BuildPart::sum:
        case BuildPart::place:
            for (u64 s = thread; s < c.stretches; s += threads) {
                const u64 end = (s + 1) * c.stretch < c.rows ? (s + 1) * c.stretch : c.rows;
                u64 total = part == BuildPart::sum ? 0 : c.sums[s];
                for (u64 row = s * c.stretch; row < end; ++row) {
                    total += c.row_begin[row + 2];
                    if (part == BuildPart::place) c.row_begin[row + 2] = total;
                }
                if (part == BuildPart::sum) c.sums[s] = total;
            }
            return;
        case BuildPart::join:
            for (u64 source = thread; source < c.neurons; source += threads) join_row(c, source);
            return;
        case BuildPart::order:
            for (u64 row = thread; row < c.rows; row += threads) order_row(c, row);
            return;
        case BuildPart::scan: {
            if (thread != 0) return;
            u64 total = 0;
            for (u64 s = 0; s < c.stretches; ++s) {
                const u64 of_stretch = c.sums[s];
                c.sums[s] = total;
                total += of_stretch;
            }
            return;
        }
    }
}

}  // namespace ranvier::device
