#include "connect/rules/thinned_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/math.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

namespace {
namespace thinned_pairs_parts {

/// Candidates that are evaluated together: their arrays stay in the cache.
constexpr std::size_t batch = 2048;
/// Expected number of candidates in vain in a node that is not divided: less than what its children cost. The second is
/// for bounds that are computed for each node.
constexpr double wasted_candidates = 16.0;
constexpr double wasted_candidates_of_slow_bounds = 100.0;
/// Numbers of synapses are summed exactly for this number of pairs, and otherwise estimated from a sample.
constexpr std::uint64_t most_pairs_summed = 1 << 20;
/// Standard error at which an estimate from a sample is close enough, and candidates after which it is not made closer.
constexpr double most_error = 0.015;
constexpr double most_candidates_of_estimate = 4e6;
/// Candidates in vain are refused if they are more than the first number, and for each synapse more than the second: the
/// bounds of the expression are of no use.
constexpr double most_in_vain = 1e9;
constexpr double most_in_vain_of_synapse = 10.0;
/// The time of a candidate, and of each instruction of its value.
constexpr double seconds_of_candidate = 8e-9;
constexpr double seconds_of_instruction = 1e-9;

/// For each candidate, its share of the hazard, -log u, and a uniform number.
struct GapsFromWords {
    RANVIER_ALWAYS_INLINE static void run(const std::uint32_t* __restrict words, std::size_t count,
                                          double* __restrict gaps, double* __restrict uniforms) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t first = words[4 * i] | std::uint64_t{words[4 * i + 1]} << 32;
            const std::uint64_t second = words[4 * i + 2] | std::uint64_t{words[4 * i + 3]} << 32;
            gaps[i] = -math::log(to_open_unit(first));
            uniforms[i] = to_open_unit(second);
        }
    }
};

/// -log(1 - p) for probabilities of segments, infinite for 1.
struct HazardsOfProbabilities {
    RANVIER_ALWAYS_INLINE static void run(double* __restrict probabilities, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const double p = probabilities[i];
            const double hazard = -math::log1p(-(p < 1.0 ? p : 0.5));
            probabilities[i] = p < 1.0 ? hazard : std::numeric_limits<double>::infinity();
        }
    }
};

/// The gaps and uniform numbers of a major neuron: block i of its stream has the i-th of both.
class Gaps {
   public:
    explicit Gaps(InstructionSet set) : set_(set) {}

    /// @param expected how many will be needed; affects only the run time
    void begin(RandomStream stream, double expected) {
        stream_ = stream;
        first_ = 0;
        count_ = 0;
        const double enough = expected + 2.0 * std::sqrt(expected) + 2.0;
        wanted_ = enough < static_cast<double>(most) ? static_cast<std::size_t>(enough) : most;
    }
    /// Draws some; again the last ones, and those after them.
    void fill() {
        if (count_ > 0) first_ += static_cast<std::uint32_t>(count_ - 1);
        count_ = wanted_;
        // Further numbers are the exception.
        wanted_ = std::min<std::size_t>(wanted_, 16);
        if (words_.size() < 4 * count_) {
            words_.resize(4 * count_);
            gaps_.resize(count_);
            uniforms_.resize(count_);
        }
        stream_.fill(set_, 4 * first_, 4 * count_, words_.data());
        Dispatched<GapsFromWords>::call(set_, words_.data(), count_, gaps_.data(), uniforms_.data());
    }
    std::size_t count() const { return count_; }
    const double* gaps() const { return gaps_.data(); }
    const double* uniforms() const { return uniforms_.data(); }

   private:
    static constexpr std::size_t most = 1024;

    InstructionSet set_;
    RandomStream stream_{};
    std::uint32_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t wanted_ = 0;
    std::vector<std::uint32_t> words_;
    std::vector<double> gaps_;
    std::vector<double> uniforms_;
};

constexpr std::uint32_t no_place = std::numeric_limits<std::uint32_t>::max();

}  // namespace thinned_pairs_parts
}  // namespace

using namespace thinned_pairs_parts;

/// The draws of some neurons.
class ThinnedPairs::Drawing {
   public:
    /// @param sums_values whether values() is needed
    Drawing(const ThinnedPairs& rule, InstructionSet set, std::vector<std::uint32_t>& degrees,
            std::vector<std::uint32_t>& drawn, bool sums_values = false)
        : rule_(rule),
          index_(rule.weights_.index()),
          set_(set),
          decides_(rule.weights_.is_by_distance() && !sums_values),
          degrees_(degrees),
          drawn_(drawn),
          gaps_(set),
          places_(batch),
          limits_(batch),
          decisions_(batch) {
        undecided_.reserve(batch);
    }

    void draw(std::uint64_t major) {
        neurons_.push_back(rule_.weights_.neuron(major));
        segments_.clear();
        rule_.weights_.divide_by_waste(index_, neurons_.back(), rule_.most_waste(), segments_);
        if (rule_.certain_) {
            take_all();
        } else if (rule_.synapses_ == Synapses::poisson) {
            draw_points<true>(major);
        } else {
            draw_points<false>(major);
        }
    }

    /// Takes those of the last candidates that are to be taken. To be called at the end.
    void finish() {
        if (size_ == 0) return;
        total_ += size_;
        find_held();
        decide();
        calculate();
        take();
        size_ = 0;
        runs_.clear();
    }

    std::uint64_t candidates() const { return total_; }
    /// The sum of the values of the pairs that were taken, if it is needed.
    double values() const { return values_; }

   private:
    /// Candidates of a neuron in one segment: from `begin` to the next run.
    struct Run {
        std::uint32_t begin;
        std::uint32_t ordinal;
        double high;
        bool on_edge;
        bool is_held;  ///< otherwise its places are among all neurons
    };

    void begin_run(const Segment& segment) {
        runs_.push_back({static_cast<std::uint32_t>(size_), static_cast<std::uint32_t>(neurons_.size() - 1),
                         segment.high, segment.on_edge, segment.begin < index_.held()});
    }
    std::size_t end_of(std::size_t run) const { return run + 1 < runs_.size() ? runs_[run + 1].begin : size_; }

    void add(const Segment& segment, std::uint32_t place, double limit) {
        places_[size_] = place;
        limits_[size_] = limit;
        if (++size_ == batch) {
            finish();
            begin_run(segment);
        }
    }

    void take_all() {
        for (const Segment& segment : segments_) {
            if (!segment.on_edge && neurons_.back().excluded == no_partner) {
                // All of them, in the order of the segments.
                finish();
                total_ += segment.count;
                values_ += segment.count;
                degrees_[neurons_.size() - 1] += segment.count;
                const std::size_t end = drawn_.size();
                drawn_.resize(end + segment.count);
                std::iota(drawn_.begin() + static_cast<std::ptrdiff_t>(end), drawn_.end(), segment.begin);
                continue;
            }
            begin_run(segment);
            for (std::uint32_t i = 0; i < segment.count; ++i) add(segment, segment.begin + i, 0.0);
        }
    }

    /// Candidates are the points of a Poisson process on a line on which each partner occupies a length: its bound, or
    /// with one synapse at most -log(1 - bound), so that there is a point with the probability of the bound; then further
    /// points of a partner do not count. What remains of a gap at the end of a segment goes on in the next.
    template <bool repeats>
    void draw_points(std::uint64_t major) {
        const std::size_t count = segments_.size();
        hazards_.resize(count);
        for (std::size_t k = 0; k < count; ++k) hazards_[k] = segments_[k].high;
        if (!repeats) Dispatched<HazardsOfProbabilities>::call(set_, hazards_.data(), count);
        double expected = 0.0;
        for (std::size_t k = 0; k < count; ++k) {
            const double hazard = repeats ? hazards_[k] : std::min(hazards_[k], 1.0);
            expected += hazard * static_cast<double>(segments_[k].count);
        }
        gaps_.begin({rule_.key_, major, 0}, expected);
        Cursor cursor;
        renew(cursor);
        double at = cursor.gaps[0];
        for (std::size_t k = 0; k < count; ++k) {
            const Segment& segment = segments_[k];
            const double high = segment.high;
            begin_run(segment);
            const double hazard = hazards_[k];
            if (!repeats && hazard >= 1.0) {
                // Fewer partners than points: all are candidates.
                for (std::uint32_t i = 0; i < segment.count; ++i) {
                    if (cursor.steps == 0) go_on(cursor, segment);
                    --cursor.steps;
                    places_[size_] = segment.begin + i;
                    limits_[size_++] = *cursor.uniforms++;
                    ++cursor.gaps;
                }
                continue;
            }
            const double length = hazard * static_cast<double>(segment.count);
            const double inverse = 1.0 / hazard;
            const double last = static_cast<double>(segment.count - 1);
            std::uint32_t previous = no_place;
            std::size_t size = size_;
            while (at < length) {
                if (cursor.steps == 0) {
                    size_ = size;
                    go_on(cursor, segment);
                    size = size_;
                }
                --cursor.steps;
                const double offset = at * inverse;
                const std::uint32_t place = segment.begin + static_cast<std::uint32_t>(offset < last ? offset : last);
                places_[size] = place;
                limits_[size] = *cursor.uniforms++ * high;
                at += *++cursor.gaps;
                // Without a branch, which would be mispredicted.
                size += repeats || place != previous ? 1 : 0;
                previous = place;
            }
            size_ = size;
            at -= length;
        }
    }

    /// The next random numbers.
    struct Cursor {
        const double* gaps = nullptr;
        const double* uniforms = nullptr;
        const double* end = nullptr;  ///< the last gap
        std::size_t steps = 0;  ///< for which there are numbers, and room for candidates
    };

    void renew(Cursor& cursor) {
        gaps_.fill();
        cursor = {.gaps = gaps_.gaps(), .uniforms = gaps_.uniforms(), .end = gaps_.gaps() + gaps_.count() - 1};
    }
    /// After the last step, in a segment.
    void go_on(Cursor& cursor, const Segment& segment) {
        if (cursor.gaps == cursor.end) renew(cursor);
        if (size_ == batch) {
            finish();
            begin_run(segment);
        }
        cursor.steps = std::min(static_cast<std::size_t>(cursor.end - cursor.gaps), batch - size_);
    }

    /// Finds the places of candidates that are held. The others are beyond the mask.
    void find_held() {
        beyond_.clear();
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            if (runs_[run].is_held) continue;
            for (std::size_t i = runs_[run].begin; i < end_of(run); ++i) {
                places_[i] = index_.held_place(places_[i]);
                if (places_[i] != PartnerIndex::not_held) continue;
                places_[i] = 0;
                beyond_.push_back(static_cast<std::uint32_t>(i));
            }
        }
    }

    void decide() {
        decide_all();
        for (const std::uint32_t i : beyond_) decisions_[i] = DistanceBounds::rejected;
    }

    void decide_all() {
        if (!decides_) {
            std::fill_n(decisions_.data(), size_, std::uint8_t{DistanceBounds::undecided});
            return;
        }
        for (std::size_t run = 0; run < runs_.size();) {
            const Run& first = runs_[run];
            while (run < runs_.size() && runs_[run].ordinal == first.ordinal) ++run;
            const std::size_t end = end_of(run - 1);
            rule_.weights_.decide(set_, index_, neurons_[first.ordinal],
                                  std::span(places_).subspan(first.begin, end - first.begin),
                                  limits_.data() + first.begin, decisions_.data() + first.begin);
        }
    }

    /// Calculates the values of those that are not decided.
    void calculate() {
        undecided_.clear();
        candidates_.clear();
        std::size_t run = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            const void* const found = std::memchr(decisions_.data() + i, DistanceBounds::undecided, size_ - i);
            if (found == nullptr) break;
            i = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - decisions_.data());
            while (end_of(run) <= i) ++run;
            undecided_.push_back(static_cast<std::uint32_t>(i));
            candidates_.reserve(undecided_.size());
            candidates_.add(runs_[run].ordinal, places_[i], limits_[i], runs_[run].high, runs_[run].on_edge);
        }
        if (undecided_.empty()) return;
        rule_.weights_.evaluate(set_, index_, neurons_, candidates_, scratch_);
        for (std::size_t k = 0; k < undecided_.size(); ++k) {
            const double value = scratch_.values[k];
            const bool is_taken = candidates_.limits[k] < value;
            decisions_[undecided_[k]] = is_taken ? DistanceBounds::taken : DistanceBounds::rejected;
            values_ += is_taken ? value : 0.0;
        }
    }

    void take() {
        std::size_t end = drawn_.size();
        drawn_.resize(end + size_);
        for (std::size_t run = 0; run < runs_.size();) {
            const std::size_t before = end;
            const std::uint32_t ordinal = runs_[run].ordinal;
            const std::uint64_t excluded = neurons_[ordinal].excluded;
            std::size_t i = runs_[run].begin;
            while (run < runs_.size() && runs_[run].ordinal == ordinal) ++run;
            // Without branches, which would be mispredicted.
            if (excluded == no_partner) {
                for (; i < end_of(run - 1); ++i) {
                    drawn_[end] = places_[i];
                    end += decisions_[i] == DistanceBounds::taken ? 1 : 0;
                }
            } else {
                for (; i < end_of(run - 1); ++i) {
                    drawn_[end] = places_[i];
                    end += static_cast<std::size_t>(decisions_[i] == DistanceBounds::taken) &
                           static_cast<std::size_t>(index_.neuron(places_[i]) != excluded);
                }
            }
            degrees_[ordinal] += static_cast<std::uint32_t>(end - before);
        }
        drawn_.resize(end);
    }

    const ThinnedPairs& rule_;
    const PartnerIndex& index_;
    InstructionSet set_;
    bool decides_;
    std::vector<std::uint32_t>& degrees_;
    std::vector<std::uint32_t>& drawn_;  ///< places
    Gaps gaps_;
    std::vector<PairWeights::MajorNeuron> neurons_;
    std::vector<Segment> segments_;
    std::vector<double> hazards_;
    // Candidates that are not taken yet:
    std::size_t size_ = 0;
    std::vector<Run> runs_;
    std::vector<std::uint32_t> places_;
    std::vector<double> limits_;
    std::vector<std::uint8_t> decisions_;
    std::vector<std::uint32_t> beyond_;
    std::vector<std::uint32_t> undecided_;
    CandidatePairs candidates_;
    PairScratch scratch_;
    std::uint64_t total_ = 0;
    double values_ = 0.0;
};

ThinnedPairs::ThinnedPairs(PairWeights weights, Synapses synapses, RandomKey key)
    : weights_(std::move(weights)),
      synapses_(synapses),
      key_(key),
      certain_(synapses == Synapses::at_most_one && weights_.constant() == 1.0) {}

double ThinnedPairs::most_waste() const {
    return weights_.has_fast_bounds() ? wasted_candidates : wasted_candidates_of_slow_bounds;
}

void ThinnedPairs::draw_places(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                               std::vector<std::uint32_t>& degrees, std::vector<std::uint32_t>& places) const {
    degrees.assign(count, 0);
    places.clear();
    if (weights_.partners() == 0) return;
    Drawing drawing(*this, set, degrees, places);
    for (std::uint64_t i = 0; i < count; ++i) drawing.draw(begin + i * stride);
    drawing.finish();
}

std::uint64_t ThinnedPairs::array_position(std::uint64_t, std::uint64_t) const {
    throw InternalError("synapses drawn with a probability have no position in an array");
}

const ThinnedPairs::Estimate& ThinnedPairs::estimate() const {
    std::call_once(estimated_, [this] {
        estimate_ = make_estimate(full_sample);
        if (takes_too_long(estimate_)) refuse(estimate_);
    });
    return estimate_;
}

void ThinnedPairs::check() const {
    const double pairs = static_cast<double>(weights_.majors()) * static_cast<double>(weights_.partners());
    if (weights_.is_surely_valid()) {
        if (pairs <= most_in_vain) return;
        // With fewer partners, nodes are larger, and more candidates in vain.
        if (!takes_too_long(make_estimate(small_sample))) return;
    }
    estimate();
}

bool ThinnedPairs::takes_too_long(const Estimate& total) {
    const double in_vain = total.candidates - total.synapses;
    return in_vain > most_in_vain && in_vain > most_in_vain_of_synapse * total.synapses;
}

void ThinnedPairs::refuse(const Estimate& total) const {
    const PairWeights::Description& description = weights_.description();
    const auto* const function = std::get_if<std::shared_ptr<const PairFunction>>(&description.value);
    const std::size_t instructions = function == nullptr ? 0 : (*function)->program().instructions.size();
    const double seconds =
        total.candidates * (seconds_of_candidate + static_cast<double>(instructions) * seconds_of_instruction);
    throw RuleError(
        {.object = description.object,
         .value = function == nullptr ? to_text(std::get<double>(description.value)) : "'" + (*function)->text() + "'",
         .bound = "about " + to_text(std::round(total.candidates)) + " pairs would be evaluated for " +
                  to_text(std::round(total.synapses)) + " synapses, in " + to_text(std::round(seconds)) +
                  " s of one thread",
         .remedy = "limit the pairs by a mask, or use each of d, dx, dy and dz once, so that its bounds are closer"});
}

ThinnedPairs::Estimate ThinnedPairs::make_estimate(const Sample& sample, const IdSequence* here) const {
    const std::uint64_t majors = here == nullptr ? weights_.majors() : here->size();
    if (majors == 0 || weights_.partners() == 0) return {};
    if (const auto fewer = weights_.with_fewer_partners(sample.partners, key_)) {
        const double factor = static_cast<double>(weights_.partners()) / static_cast<double>(fewer->partners());
        const Estimate part = ThinnedPairs(*fewer, synapses_, key_).make_estimate(sample, here);
        return {.synapses = factor * part.synapses,
                .repeats = factor * part.repeats,
                .candidates = factor * part.candidates};
    }
    const auto major_at = [&](std::uint64_t i) { return here == nullptr ? i : weights_.major_of((*here)[i]); };
    Estimate total;
    if (majors <= most_pairs_summed / weights_.partners()) {
        for (std::uint64_t i = 0; i < majors; ++i) {
            const PairWeights::Total sum = weights_.total(weights_.neuron(major_at(i)), most_waste());
            total.synapses += sum.sum;
            total.repeats += 0.5 * sum.squares;
            total.candidates += sum.candidates;
        }
    } else {
        // Some neurons stand for the others of their share, from which one is chosen at random; then others, while their
        // numbers of synapses differ too much.
        const bool all = majors <= sample.majors;
        const std::uint64_t sampled = all ? majors : sample.majors;
        const double share = static_cast<double>(majors) / static_cast<double>(sampled);
        const RandomStream choices{key_, std::numeric_limits<std::uint64_t>::max(), 0};
        std::vector<std::uint32_t> degrees;
        std::vector<std::uint32_t> places;
        double squares = 0.0;
        double drawn = 0.0;
        for (bool enough = false; !enough;) {
            degrees.assign(sampled, 0);
            places.clear();
            Drawing drawing(*this, detect_instruction_set(), degrees, places, synapses_ == Synapses::poisson);
            for (std::uint64_t i = 0; i < sampled; ++i) {
                const std::uint64_t word = static_cast<std::uint64_t>(drawn) + i;
                const double place =
                    static_cast<double>(i) + to_open_unit(choices.word64(static_cast<std::uint32_t>(word)));
                drawing.draw(major_at(all ? i : std::min(static_cast<std::uint64_t>(place * share), majors - 1)));
            }
            drawing.finish();
            for (const std::uint32_t degree : degrees) squares += static_cast<double>(degree) * degree;
            total.synapses += static_cast<double>(places.size());
            total.repeats += 0.5 * drawing.values();
            total.candidates += static_cast<double>(drawing.candidates());
            drawn += static_cast<double>(sampled);
            const double variance = squares - total.synapses * total.synapses / drawn;  // times the number
            const double error = most_error * total.synapses;
            const bool is_close = total.synapses > 0.0 && variance <= error * error;
            enough = all || is_close || drawn >= static_cast<double>(sample.most_majors) ||
                     total.candidates >= most_candidates_of_estimate;
        }
        const double factor = static_cast<double>(majors) / drawn;
        total.synapses *= factor;
        total.repeats *= factor;
        total.candidates *= factor;
    }
    if (synapses_ == Synapses::at_most_one) total.repeats = 0.0;
    return total;
}

std::optional<double> ThinnedPairs::expected_synapses_here() const {
    if (!majors_here_) return std::nullopt;
    if (!synapses_here_) synapses_here_ = make_estimate(full_sample, &*majors_here_).synapses;
    return synapses_here_;
}

void ThinnedPairs::use(ProcessIndexes& indexes, bool draws_here) {
    estimate();
    weights_.use(indexes, draws_here && major() == Major::target);
    if (draws_here) majors_here_ = weights_.majors_among(indexes);
}

std::unique_ptr<RuleSampler> thinned_pairs(PairWeights weights, ThinnedPairs::Synapses synapses, RandomKey key) {
    auto sampler = std::make_unique<ThinnedPairs>(std::move(weights), synapses, key);
    sampler->check();
    return sampler;
}

}  // namespace ranvier::connect
