#include "connect/rules/weighted_partners.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {
namespace weighted_partners_parts {

/// Candidates that are evaluated together.
constexpr std::size_t batch = 4096;
/// Greatest share of candidates in vain if all values were at their lower bounds. About half as many are.
constexpr double wasted_share = 0.75;
/// Neurons that are drawn when a rule is described, and for estimates.
constexpr std::uint64_t most_checked = 32;
constexpr std::uint64_t most_sampled = 64;
constexpr std::uint64_t most_indexed = 1 << 22;
/// Nodes of the index and pairs that are looked at to count candidates: some tens of milliseconds.
constexpr std::uint64_t most_looked_at = 1'000'000;
constexpr std::uint64_t most_indexed_for_estimates = 1 << 20;
/// Neurons that are drawn together, at most.
constexpr std::size_t most_in_group = 256;

/// Two uniform numbers of each candidate: the choice and the test.
struct NumbersFromWords {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict words, std::size_t count,
                                          double* __restrict choices, double* __restrict tests) {
        for (std::size_t i = 0; i < count; ++i) {
            choices[i] = to_open_unit(words[4 * i] | std::uint64_t{words[4 * i + 1]} << 32);
            tests[i] = to_open_unit(words[4 * i + 2] | std::uint64_t{words[4 * i + 3]} << 32);
        }
    }
};

/// The segments of a neuron. One is chosen in proportion to its weight.
class SegmentTable {
   public:
    std::vector<PairWeights::Segment>& segments() { return segments_; }

    void prepare() {
        entries_.clear();
        total_ = 0.0;
        candidates_ = 0;
        for (const PairWeights::Segment& segment : segments_) {
            Entry entry{.begin = total_,
                        .end = 0.0,
                        .high = segment.high,
                        .inverse = 1.0 / segment.high,
                        .first = segment.begin,
                        .last = segment.begin + segment.count - 1,
                        .on_edge = segment.on_edge};
            total_ += segment.weight();
            entry.end = total_;
            entries_.push_back(entry);
            candidates_ += segment.count;
        }
        if (entries_.empty()) return;
        // Nothing is beyond the last, whatever is rounded.
        entries_.back().end = std::numeric_limits<double>::infinity();
        // Where the search for an entry begins: mostly the one where it ends.
        guide_.resize(std::bit_ceil(4 * entries_.size()));
        std::uint32_t entry = 0;
        for (std::size_t i = 0; i < guide_.size(); ++i) {
            const double begin = total_ * static_cast<double>(i) / static_cast<double>(guide_.size());
            while (entries_[entry].end <= begin) ++entry;
            guide_[i] = entry;
        }
    }

    double total() const { return total_; }
    /// Number of partners that can have a value above 0.
    std::uint64_t candidates() const { return candidates_; }

    struct Choice {
        std::uint32_t place;
        double high;
        bool on_edge;
    };
    Choice choose(double uniform) const {
        const double at = uniform * total_;
        std::size_t entry = guide_[static_cast<std::size_t>(uniform * static_cast<double>(guide_.size()))];
        while (entries_[entry].end <= at) ++entry;
        const Entry& chosen = entries_[entry];
        const double offset = std::max((at - chosen.begin) * chosen.inverse, 0.0);
        return {std::min(chosen.first + static_cast<std::uint32_t>(offset), chosen.last), chosen.high, chosen.on_edge};
    }

   private:
    struct Entry {
        double begin;  ///< of its part of the total weight
        double end;
        double high;
        double inverse;
        std::uint32_t first;
        std::uint32_t last;
        bool on_edge;
    };

    std::vector<PairWeights::Segment> segments_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> guide_;
    double total_ = 0.0;
    std::uint64_t candidates_ = 0;
};

/// A set of places that is emptied often.
class PlaceSet {
   public:
    void clear(std::size_t most) {
        const std::size_t wanted = std::bit_ceil(2 * most + 2);
        if (wanted > slots_.size()) {
            slots_.assign(wanted, 0);
            round_ = 0;
        }
        if (++round_ == 0) {
            std::ranges::fill(slots_, 0);
            round_ = 1;
        }
    }
    /// Returns whether the place is new.
    bool insert(std::uint32_t place) {
        const std::uint64_t entry = std::uint64_t{round_} << 32 | place;
        const std::size_t slot = find(entry);
        if (slots_[slot] == entry) return false;
        slots_[slot] = entry;
        return true;
    }
    bool contains(std::uint32_t place) const {
        const std::uint64_t entry = std::uint64_t{round_} << 32 | place;
        return slots_[find(entry)] == entry;
    }

   private:
    /// The slot of an entry, or the one for it.
    std::size_t find(std::uint64_t entry) const {
        std::size_t slot = ((entry & 0xFFFFFFFF) * 0x9E3779B97F4A7C15 >> 32) & (slots_.size() - 1);
        while (slots_[slot] >> 32 == round_ && slots_[slot] != entry) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    std::vector<std::uint64_t> slots_;  ///< the number of the round in which it was filled, and a place
    std::uint32_t round_ = 0;
};

}  // namespace weighted_partners_parts
}  // namespace

using namespace weighted_partners_parts;

/// The draws of some neurons, a group at a time.
class WeightedPartners::Drawing {
   public:
    Drawing(const WeightedPartners& rule, InstructionSet set) : rule_(rule), index_(rule.weights_.index()), set_(set) {}

    void draw(std::span<const std::uint64_t> majors, std::span<const std::uint32_t> degrees, std::uint64_t* partners) {
        for (std::size_t begin = 0; begin < majors.size();) {
            std::size_t end = begin;
            std::size_t total = 0;
            while (end < majors.size() && end - begin < most_in_group && (end == begin || 2 * total < batch)) {
                total += degrees[end++];
            }
            draw_group(majors.subspan(begin, end - begin), degrees.subspan(begin, end - begin), partners);
            partners += total;
            begin = end;
        }
    }

    const Sums& sums() const { return sums_; }

   private:
    struct Neuron {
        std::uint32_t degree = 0;
        std::uint32_t taken = 0;
        std::uint32_t next = 0;  ///< candidate
        std::uint64_t* partners = nullptr;
    };

    /// Candidates of a neuron after which it looks at all of its partners.
    static std::uint32_t most_candidates(std::uint32_t degree) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(64 + 20 * std::uint64_t{degree}, 1U << 31));
    }
    /// A bound costs as much as some candidates, or as tens of them.
    std::size_t enough_segments(std::uint32_t degree) const {
        return 16 + degree / (rule_.weights_.has_fast_bounds() ? 8 : 100);
    }

    void draw_group(std::span<const std::uint64_t> majors, std::span<const std::uint32_t> degrees,
                    std::uint64_t* partners) {
        neurons_.clear();
        states_.clear();
        if (tables_.size() < majors.size()) tables_.resize(majors.size());
        if (taken_.size() < majors.size()) taken_.resize(majors.size());
        for (std::uint32_t i = 0; i < majors.size(); ++i) {
            neurons_.push_back(rule_.weights_.neuron(majors[i]));
            states_.push_back({.degree = degrees[i], .partners = partners});
            partners += degrees[i];
            if (degrees[i] > 0) prepare(i);
        }
        for (bool unfinished = true; unfinished;) {
            unfinished = false;
            for (std::uint32_t i = 0; i < majors.size(); ++i) {
                if (states_[i].taken == states_[i].degree) continue;
                if (states_[i].next >= most_candidates(states_[i].degree)) {
                    take_from_all(i);
                    continue;
                }
                propose(i);
                unfinished = true;
                if (candidates_.size() >= batch) accept();
            }
            accept();
        }
    }

    void prepare(std::uint32_t ordinal) {
        const std::uint32_t degree = states_[ordinal].degree;
        SegmentTable& table = tables_[ordinal];
        table.segments().clear();
        rule_.weights_.divide_by_share(index_, neurons_[ordinal], wasted_share, enough_segments(degree),
                                       table.segments());
        table.prepare();
        sums_.weight += table.total();
        if (!rule_.allow_multapses_) taken_[ordinal].clear(degree);
        const std::uint64_t least = rule_.allow_multapses_ ? 1 : degree;
        if (table.candidates() >= least && table.total() > 0.0) return;
        rule_.refuse(neurons_[ordinal].index, degree, enumerate(ordinal));
    }

    void propose(std::uint32_t ordinal) {
        Neuron& state = states_[ordinal];
        const double missing = state.degree - state.taken;
        const auto count =
            std::min(static_cast<std::uint32_t>(1.35 * missing + 4.0), most_candidates(state.degree) - state.next);
        candidates_.reserve(candidates_.size() + count);
        words_.resize(4 * std::size_t{count});
        choices_.resize(count);
        tests_.resize(count);
        RandomStream{rule_.key_, neurons_[ordinal].index, 0}.fill(set_, 4 * state.next, words_.size(), words_.data());
        Dispatched<NumbersFromWords>::call(set_, words_.data(), std::size_t{count}, choices_.data(), tests_.data());
        for (std::uint32_t k = 0; k < count; ++k) {
            const SegmentTable::Choice choice = tables_[ordinal].choose(choices_[k]);
            const std::uint32_t place = index_.held_place(choice.place);
            // Beyond the mask.
            if (place == PartnerIndex::not_held) continue;
            candidates_.add(ordinal, place, tests_[k] * choice.high, choice.high, choice.on_edge);
        }
        state.next += count;
        sums_.candidates += count;
    }

    /// Candidates after the last one that is needed are dropped, so that their number does not matter.
    void accept() {
        rule_.weights_.evaluate(set_, index_, neurons_, candidates_, scratch_);
        found_.resize(std::max(found_.size(), candidates_.size()));
        for (std::size_t begin = 0; begin < candidates_.size();) {
            const std::uint32_t ordinal = candidates_.ordinals[begin];
            std::size_t end = begin;
            std::size_t count = 0;
            double values = 0.0;
            // Without branches, which would be mispredicted.
            for (; end < candidates_.size() && candidates_.ordinals[end] == ordinal; ++end) {
                const double value = scratch_.values[end];
                const bool is_taken = candidates_.limits[end] < value;
                found_[count] = candidates_.places[end];
                count += is_taken ? 1 : 0;
                values += is_taken ? value : 0.0;
            }
            sums_.taken += static_cast<double>(count);
            sums_.values += values;
            take(states_[ordinal], taken_[ordinal], std::span(found_).first(count));
            begin = end;
        }
        candidates_.clear();
    }

    void take(Neuron& state, PlaceSet& before, std::span<const std::uint32_t> places) {
        if (rule_.allow_multapses_) {
            const std::size_t count = std::min<std::size_t>(places.size(), state.degree - state.taken);
            for (std::size_t i = 0; i < count; ++i) state.partners[state.taken + i] = index_.neuron(places[i]);
            state.taken += static_cast<std::uint32_t>(count);
            return;
        }
        for (std::size_t i = 0; i < places.size() && state.taken < state.degree; ++i) {
            if (before.insert(places[i])) state.partners[state.taken++] = index_.neuron(places[i]);
        }
    }

    /// Evaluates all partners of a neuron that may have a value above 0; returns the number of those that have one.
    std::uint64_t enumerate(std::uint32_t ordinal) {
        all_.clear();
        all_.reserve(tables_[ordinal].candidates());
        numbers_.clear();
        std::uint32_t number = 0;
        for (const PairWeights::Segment& segment : tables_[ordinal].segments()) {
            for (std::uint32_t i = 0; i < segment.count; ++i, ++number) {
                const std::uint32_t place = index_.held_place(segment.begin + i);
                if (place == PartnerIndex::not_held) continue;
                all_.add(ordinal, place, 0.0, segment.high, segment.on_edge);
                numbers_.push_back(number);
            }
        }
        rule_.weights_.evaluate(set_, index_, neurons_, all_, all_scratch_);
        // Of earlier neurons there may be more.
        all_scratch_.values.resize(all_.size());
        return static_cast<std::uint64_t>(
            std::ranges::count_if(all_scratch_.values, [](double value) { return value > 0.0; }));
    }

    void take_from_all(std::uint32_t ordinal) {
        Neuron& state = states_[ordinal];
        const std::uint64_t found = enumerate(ordinal);
        const std::vector<double>& values = all_scratch_.values;
        SequentialRandom random({rule_.key_, neurons_[ordinal].index, 1});
        if (rule_.allow_multapses_) {
            if (found == 0) rule_.refuse(neurons_[ordinal].index, state.degree, found);
            std::vector<double> ends(values.size());
            double total = 0.0;
            for (std::size_t i = 0; i < values.size(); ++i) ends[i] = total += values[i];
            while (state.taken < state.degree) {
                const double at = random.next_unit() * total;
                const auto place = static_cast<std::size_t>(std::ranges::upper_bound(ends, at) - ends.begin());
                state.partners[state.taken++] = index_.neuron(all_.places[std::min(place, values.size() - 1)]);
            }
            return;
        }
        if (found < state.degree) rule_.refuse(neurons_[ordinal].index, state.degree, found);
        // The least keys are those of partners that are drawn one after another.
        std::vector<std::pair<double, std::uint32_t>> keys;
        std::uint32_t number = 0;
        for (std::size_t i = 0; i < values.size(); ++i, ++number) {
            for (; number < numbers_[i]; ++number) random.next_unit();
            const double key = -math::log(random.next_unit()) / values[i];
            if (values[i] > 0.0 && !taken_[ordinal].contains(all_.places[i])) keys.emplace_back(key, all_.places[i]);
        }
        const std::size_t missing = state.degree - state.taken;
        std::ranges::partial_sort(keys, keys.begin() + static_cast<std::ptrdiff_t>(missing));
        for (std::size_t i = 0; i < missing; ++i) state.partners[state.taken++] = index_.neuron(keys[i].second);
    }

    const WeightedPartners& rule_;
    const PartnerIndex& index_;
    InstructionSet set_;
    std::vector<PairWeights::MajorNeuron> neurons_;
    std::vector<Neuron> states_;
    std::vector<SegmentTable> tables_;
    std::vector<PlaceSet> taken_;
    CandidatePairs candidates_;
    PairScratch scratch_;
    CandidatePairs all_;
    std::vector<std::uint32_t> numbers_;  ///< of these, among all in the segments
    PairScratch all_scratch_;
    std::vector<std::uint32_t> words_;
    std::vector<double> choices_;
    std::vector<double> tests_;
    std::vector<std::uint32_t> found_;
    Sums sums_;
};

WeightedPartners::WeightedPartners(PairWeights weights, bool allow_multapses, RandomKey key, std::string object)
    : weights_(std::move(weights)), allow_multapses_(allow_multapses), key_(key), object_(std::move(object)) {}

WeightedPartners::Sums WeightedPartners::draw(InstructionSet set, std::span<const std::uint64_t> majors,
                                              std::span<const std::uint32_t> degrees, std::uint64_t* partners) const {
    Drawing drawing(*this, set);
    drawing.draw(majors, degrees, partners);
    return drawing.sums();
}

double WeightedPartners::probability_of_repetition(std::uint32_t degree) const {
    if (weights_.majors() == 0 || weights_.partners() == 0) return 0.0;
    // For neurons of other processes, too.
    const auto fewer = weights_.with_fewer_partners(most_indexed_for_estimates, key_);
    const double factor =
        fewer ? static_cast<double>(weights_.partners()) / static_cast<double>(fewer->partners()) : 1.0;
    const WeightedPartners all(fewer ? *fewer : weights_.with_all_partners(), allow_multapses_, key_, object_);
    const std::uint64_t sampled = std::min(weights_.majors(), most_sampled);
    std::vector<std::uint64_t> partners(degree);
    double equal = 0.0;
    for (std::uint64_t i = 0; i < sampled; ++i) {
        const std::uint64_t major = weights_.majors() * i / sampled;
        const Sums sums = all.draw(detect_instruction_set(), {&major, 1}, {&degree, 1}, partners.data());
        if (sums.taken == 0.0) continue;
        // Two draws are equal with the sum of squared values over the square of their sum. A value that is taken has the
        // mean (sum of squares) / (sum), and the sum is the part of the weight that is taken.
        const double sum_of_values = factor * sums.weight * sums.taken / sums.candidates;
        equal += std::min(sums.values / sums.taken / sum_of_values, 1.0) / static_cast<double>(sampled);
    }
    return equal;
}

std::vector<std::uint64_t> WeightedPartners::corners() const {
    // The neurons that are farthest in each diagonal direction, among as many as a description can look at.
    constexpr std::uint64_t most_looked_at = 10000;
    constexpr std::size_t directions = 8;
    std::array<double, directions> farthest{};
    farthest.fill(-std::numeric_limits<double>::infinity());
    std::array<std::uint64_t, directions> neurons{};
    const std::uint64_t stride = weights_.majors() / most_looked_at + 1;
    for (std::uint64_t neuron = 0; neuron < weights_.majors(); neuron += stride) {
        const Point at = weights_.neuron(neuron).position;
        for (std::size_t direction = 0; direction < directions; ++direction) {
            double along = 0.0;
            for (std::size_t axis = 0; axis < most_dimensions; ++axis) {
                along += (direction >> axis & 1) != 0 ? at[axis] : -at[axis];
            }
            if (along <= farthest[direction]) continue;
            farthest[direction] = along;
            neurons[direction] = neuron;
        }
    }
    return {neurons.begin(), neurons.end()};
}

void WeightedPartners::check_some(std::uint32_t degree) const {
    // The index of more neurons takes longer than a description should.
    if (degree == 0 || weights_.majors() == 0 || weights_.partners() > most_indexed) return;
    std::vector<std::uint64_t> majors = corners();
    for (std::uint64_t i = 0; i < most_checked; ++i) majors.push_back(weights_.majors() * i / most_checked);
    std::ranges::sort(majors);
    majors.erase(std::ranges::unique(majors).begin(), majors.end());
    const std::vector<std::uint32_t> degrees(majors.size(), degree);
    std::vector<std::uint64_t> partners(majors.size() * std::size_t{degree});
    draw(detect_instruction_set(), majors, degrees, partners.data());
    check_numbers(degree);
}

void WeightedPartners::check_numbers(std::uint32_t degree) const {
    const std::uint64_t majors = weights_.majors();
    const std::uint64_t needed = allow_multapses_ ? 1 : degree;
    // Each once, and throughout the population if there is no time for all: by steps of the golden section.
    auto step = static_cast<std::uint64_t>(0.618 * static_cast<double>(majors));
    while (std::gcd(step, majors) != 1) ++step;
    std::uint64_t major = 0;
    std::uint64_t cost = 0;
    for (std::uint64_t i = 0; i < majors && cost < most_looked_at; ++i) {
        const std::uint64_t found = weights_.count_partners(weights_.neuron(major), needed, cost);
        if (found < needed) refuse(major, degree, found);
        major = (major + step) % majors;
    }
}

void WeightedPartners::refuse(std::uint64_t neuron, std::uint32_t degree, std::uint64_t candidates) const {
    const bool of_target = weights_.description().major == RuleSampler::Major::target;
    std::string remedy = "lower it, enlarge the mask, or let the probability fall more slowly";
    if (candidates > 0 && !allow_multapses_) remedy += ", or allow multapses";
    throw RuleError({.object = object_,
                     .value = std::to_string(degree),
                     .bound = std::string(of_target ? "target " : "source ") + std::to_string(neuron) + " of " +
                              std::to_string(weights_.majors()) + " (counted from 0) has " +
                              std::to_string(candidates) + (of_target ? " source" : " target") +
                              (candidates == 1 ? "" : "s") + " within the mask and with a probability above 0",
                     .remedy = std::move(remedy)});
}

}  // namespace ranvier::connect
