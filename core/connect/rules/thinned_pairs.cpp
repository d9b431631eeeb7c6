#include "connect/rules/thinned_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
constexpr double wasted_candidates = 10.0;
constexpr double wasted_candidates_of_slow_bounds = 100.0;
/// Numbers of synapses are summed exactly for this number of pairs, and otherwise for as many neurons.
constexpr std::uint64_t most_pairs_summed = 1 << 20;
constexpr std::uint64_t most_sampled = 256;
/// Partners among which synapses are drawn for an estimate.
constexpr std::uint64_t most_indexed = 1 << 20;
/// More candidates are refused if there are so many for each synapse: the bounds of the expression are of no use.
constexpr double most_candidates = 1e9;
constexpr double most_candidates_of_synapse = 50.0;
constexpr double seconds_of_candidate = 2e-8;

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

/// -log(1 - p) for probabilities of segments, and its inverse; a probability of 1 is not used.
struct HazardsOfProbabilities {
    RANVIER_ALWAYS_INLINE static void run(const double* __restrict probabilities, std::size_t count,
                                          double* __restrict hazards, double* __restrict inverses) {
        for (std::size_t i = 0; i < count; ++i) {
            const double p = probabilities[i] < 1.0 ? probabilities[i] : 0.5;
            const double hazard = -math::log1p(-p);
            hazards[i] = hazard;
            inverses[i] = 1.0 / hazard;
        }
    }
};

/// The gaps and uniform numbers of a major neuron: block i of its stream is for candidate i.
class Gaps {
   public:
    explicit Gaps(InstructionSet set) : set_(set) {}

    /// @param expected number of candidates; affects only the run time
    void begin(RandomStream stream, double expected) {
        stream_ = stream;
        first_ = 0;
        count_ = 0;
        const double enough = expected + 2.0 * std::sqrt(expected) + 2.0;
        wanted_ = enough < static_cast<double>(most) ? static_cast<std::size_t>(enough) : most;
    }
    double gap(std::uint32_t candidate) {
        if (candidate - first_ >= count_) fill(candidate);
        return gaps_[candidate - first_];
    }
    double uniform(std::uint32_t candidate) {
        if (candidate - first_ >= count_) fill(candidate);
        return uniforms_[candidate - first_];
    }

   private:
    static constexpr std::size_t most = 1024;

    void fill(std::uint32_t candidate) {
        first_ = candidate;
        count_ = wanted_;
        // Further numbers are the exception.
        wanted_ = std::min<std::size_t>(wanted_, 16);
        words_.resize(4 * count_);
        stream_.fill(set_, 4 * candidate, words_.size(), words_.data());
        gaps_.resize(count_);
        uniforms_.resize(count_);
        Dispatched<GapsFromWords>::call(set_, words_.data(), count_, gaps_.data(), uniforms_.data());
    }

    InstructionSet set_;
    RandomStream stream_{};
    std::uint32_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t wanted_ = 0;
    std::vector<std::uint32_t> words_;
    std::vector<double> gaps_;
    std::vector<double> uniforms_;
};

}  // namespace thinned_pairs_parts
}  // namespace

using namespace thinned_pairs_parts;

/// The draws of some neurons.
class ThinnedPairs::Drawing {
   public:
    Drawing(const ThinnedPairs& rule, InstructionSet set, std::vector<std::uint32_t>& degrees,
            std::vector<std::uint64_t>& partners)
        : rule_(rule), index_(rule.weights_.index()), set_(set), degrees_(degrees), partners_(partners), gaps_(set) {
        candidates_.reserve(batch);
    }

    void draw(std::uint64_t major) {
        const auto ordinal = static_cast<std::uint32_t>(neurons_.size());
        neurons_.push_back(rule_.weights_.neuron(major));
        segments_.clear();
        rule_.weights_.divide_by_waste(index_, neurons_.back(), rule_.most_waste(), segments_);
        if (rule_.certain_) {
            take_all(ordinal);
        } else if (rule_.synapses_ == Synapses::poisson) {
            skip_exponentially(ordinal, major);
        } else {
            skip_geometrically(ordinal, major);
        }
    }

    /// Evaluates the candidates that remain. To be called at the end.
    void finish() {
        if (candidates_.size() == 0) return;
        total_ += candidates_.size();
        rule_.weights_.evaluate(set_, index_, neurons_, candidates_, scratch_);
        // Without branches, which would be mispredicted.
        std::size_t end = partners_.size();
        partners_.resize(end + candidates_.size());
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const double value = scratch_.values[i];
            const bool is_taken = candidates_.limits[i] < value;
            partners_[end] = index_.neuron(candidates_.places[i]);
            end += is_taken ? 1 : 0;
            degrees_[candidates_.ordinals[i]] += is_taken ? 1 : 0;
            values_ += is_taken ? value : 0.0;
        }
        partners_.resize(end);
        candidates_.clear();
    }

    std::uint64_t candidates() const { return total_; }
    /// The sum of the values of the pairs that were taken.
    double values() const { return values_; }

   private:
    void add(std::uint32_t ordinal, std::uint32_t place, double uniform, const Segment& segment) {
        candidates_.add(ordinal, place, uniform * segment.high, segment.high, segment.on_edge);
        if (candidates_.size() == batch) finish();
    }

    double expected() const {
        double sum = 0.0;
        for (const Segment& segment : segments_) sum += segment.weight();
        return sum;
    }

    void take_all(std::uint32_t ordinal) {
        for (const Segment& segment : segments_) {
            if (!segment.on_edge && neurons_[ordinal].excluded == no_partner) {
                // All of them, in the order of the segments.
                finish();
                total_ += segment.count;
                values_ += segment.count;
                degrees_[ordinal] += segment.count;
                const auto neurons = index_.neurons().subspan(segment.begin, segment.count);
                partners_.insert(partners_.end(), neurons.begin(), neurons.end());
                continue;
            }
            for (std::uint32_t i = 0; i < segment.count; ++i) add(ordinal, segment.begin + i, 0.0, segment);
        }
    }

    /// Each partner is a candidate with the probability `high`: a hazard of -log(1 - high), so that what remains of a gap
    /// at the end of a segment goes on in the next.
    void skip_geometrically(std::uint32_t ordinal, std::uint64_t major) {
        gaps_.begin({rule_.key_, major, 0}, expected());
        const std::size_t count = segments_.size();
        probabilities_.resize(count);
        hazards_.resize(count);
        inverses_.resize(count);
        for (std::size_t i = 0; i < count; ++i) probabilities_[i] = segments_[i].high;
        Dispatched<HazardsOfProbabilities>::call(set_, static_cast<const double*>(probabilities_.data()), count,
                                                 hazards_.data(), inverses_.data());
        std::uint32_t candidate = 0;
        double gap = gaps_.gap(0);
        for (std::size_t k = 0; k < count; ++k) {
            const Segment& segment = segments_[k];
            if (segment.high >= 1.0) {
                for (std::uint32_t i = 0; i < segment.count; ++i) {
                    add(ordinal, segment.begin + i, gaps_.uniform(candidate++), segment);
                }
                continue;
            }
            const double hazard = hazards_[k];
            const double inverse = inverses_[k];
            std::uint32_t position = 0;
            while (true) {
                const double skip = gap * inverse;
                const std::uint32_t remaining = segment.count - position;
                if (!(skip < static_cast<double>(remaining))) {
                    gap = std::max(gap - static_cast<double>(remaining) * hazard, 0.0);
                    break;
                }
                position += static_cast<std::uint32_t>(skip);
                add(ordinal, segment.begin + position, gaps_.uniform(candidate), segment);
                gap = gaps_.gap(++candidate);
                if (++position == segment.count) break;
            }
        }
    }

    /// Each partner has a Poisson number of candidates with the mean `high`: the points of a Poisson process on a line on
    /// which each partner occupies that length.
    void skip_exponentially(std::uint32_t ordinal, std::uint64_t major) {
        gaps_.begin({rule_.key_, major, 0}, expected());
        std::uint32_t candidate = 0;
        double gap = gaps_.gap(0);
        for (const Segment& segment : segments_) {
            const double length = segment.high * static_cast<double>(segment.count);
            double at = gap;
            while (at < length) {
                const auto position = std::min(static_cast<std::uint32_t>(at / segment.high), segment.count - 1);
                add(ordinal, segment.begin + position, gaps_.uniform(candidate), segment);
                at += gaps_.gap(++candidate);
            }
            gap = at - length;
        }
    }

    const ThinnedPairs& rule_;
    const PartnerIndex& index_;
    InstructionSet set_;
    std::vector<std::uint32_t>& degrees_;
    std::vector<std::uint64_t>& partners_;
    Gaps gaps_;
    std::vector<PairWeights::MajorNeuron> neurons_;
    std::vector<Segment> segments_;
    std::vector<double> probabilities_;
    std::vector<double> hazards_;
    std::vector<double> inverses_;
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

void ThinnedPairs::draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                        std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const {
    degrees.assign(count, 0);
    partners.clear();
    if (weights_.partners() == 0) return;
    Drawing drawing(*this, set, degrees, partners);
    for (std::uint64_t i = 0; i < count; ++i) drawing.draw(begin + i * stride);
    drawing.finish();
}

std::uint64_t ThinnedPairs::array_position(std::uint64_t, std::uint64_t) const {
    throw InternalError("synapses drawn with a probability have no position in an array");
}

const ThinnedPairs::Estimate& ThinnedPairs::estimate() const {
    std::call_once(estimated_, [this] {
        estimate_ = make_estimate();
        check_candidates(estimate_);
    });
    return estimate_;
}

void ThinnedPairs::check_candidates(const Estimate& total) const {
    if (total.candidates > most_candidates && total.candidates > most_candidates_of_synapse * total.synapses) {
        const PairWeights::Description& description = weights_.description();
        throw RuleError(
            {.object = description.object,
             .value = "'" + std::get<std::shared_ptr<const PairFunction>>(description.value)->text() + "'",
             .bound = "about " + to_text(std::round(total.candidates)) + " pairs would be evaluated for " +
                      to_text(std::round(total.synapses)) + " synapses, in " +
                      to_text(std::round(total.candidates * seconds_of_candidate)) + " s of one thread",
             .remedy =
                 "limit the pairs by a mask, or use each of d, dx, dy and dz once, so that its bounds are closer"});
    }
}

ThinnedPairs::Estimate ThinnedPairs::make_estimate() const {
    const std::uint64_t majors = weights_.majors();
    if (majors == 0 || weights_.partners() == 0) return {};
    if (const auto fewer = weights_.with_fewer_partners(most_indexed)) {
        const double factor = static_cast<double>(weights_.partners()) / static_cast<double>(fewer->partners());
        const Estimate part = ThinnedPairs(*fewer, synapses_, key_).make_estimate();
        return {.synapses = factor * part.synapses,
                .repeats = factor * part.repeats,
                .candidates = factor * part.candidates};
    }
    // Some neurons stand for the others of their share, from which one is chosen at random.
    const bool all = majors <= most_sampled;
    const std::uint64_t sampled = all ? majors : most_sampled;
    const double share = static_cast<double>(majors) / static_cast<double>(sampled);
    const RandomStream choices{key_, std::numeric_limits<std::uint64_t>::max(), 0};
    const auto chosen = [&](std::uint64_t i) {
        if (all) return i;
        const double place = static_cast<double>(i) + to_open_unit(choices.word64(static_cast<std::uint32_t>(i)));
        return std::min(static_cast<std::uint64_t>(place * share), majors - 1);
    };
    Estimate total;
    if (majors <= most_pairs_summed / weights_.partners()) {
        for (std::uint64_t major = 0; major < majors; ++major) {
            const PairWeights::Total sum = weights_.total(weights_.neuron(major), most_waste());
            total.synapses += sum.sum;
            total.repeats += 0.5 * sum.squares;
            total.candidates += sum.candidates;
        }
    } else {
        std::vector<std::uint32_t> degrees(sampled);
        std::vector<std::uint64_t> partners;
        Drawing drawing(*this, detect_instruction_set(), degrees, partners);
        for (std::uint64_t i = 0; i < sampled; ++i) drawing.draw(chosen(i));
        drawing.finish();
        total.synapses = share * static_cast<double>(partners.size());
        total.repeats = 0.5 * share * drawing.values();
        total.candidates = share * static_cast<double>(drawing.candidates());
    }
    if (synapses_ == Synapses::at_most_one) total.repeats = 0.0;
    return total;
}

std::uint64_t ThinnedPairs::bytes() const { return weights_.index_bytes(); }

}  // namespace ranvier::connect
