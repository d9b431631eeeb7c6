#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connect/rules/partners.hpp"
#include "connect/space/displacement_bounds.hpp"
#include "connect/space/distance_bounds.hpp"
#include "connect/space/partner_index.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/rules/rule.hpp"
#include "ranvier/connect/space/mask.hpp"
#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::connect {

/// Pairs that a rule may connect, collected to be evaluated together.
class CandidatePairs {
   public:
    std::vector<std::uint32_t> ordinals;  ///< the major neuron, as a number of the caller; equal ones follow each other
    std::vector<std::uint32_t> places;  ///< the partner, in the index
    std::vector<double> limits;  ///< the pair is taken if its value is greater
    std::vector<double> bounds;  ///< an upper bound of its value
    std::vector<std::uint8_t> on_edge;  ///< whether it may be outside of the mask

    std::size_t size() const { return size_; }
    bool some_on_edge() const { return some_on_edge_ != 0; }
    /// Makes room for `most` candidates.
    void reserve(std::size_t most) {
        if (places.size() >= most) return;
        ordinals.resize(most);
        places.resize(most);
        limits.resize(most);
        bounds.resize(most);
        on_edge.resize(most);
    }
    /// @pre there is room
    void add(std::uint32_t ordinal, std::uint32_t place, double limit, double bound, bool may_be_outside) {
        ordinals[size_] = ordinal;
        places[size_] = place;
        limits[size_] = limit;
        bounds[size_] = bound;
        on_edge[size_] = may_be_outside ? 1 : 0;
        some_on_edge_ |= on_edge[size_];
        ++size_;
    }
    void clear() {
        size_ = 0;
        some_on_edge_ = 0;
    }

   private:
    std::size_t size_ = 0;
    std::uint8_t some_on_edge_ = 0;
};

/// Memory that evaluations use again.
struct PairScratch {
    std::vector<double> values;
    std::array<std::vector<double>, most_dimensions> displacements;
    std::array<std::vector<double>, pair_quantity_count> quantities;
};

/// The mask and the value (a probability, or a mean number of synapses) of the pairs of a rule, seen from the side by
/// which the rule draws. Immutable and thread-safe.
class PairWeights {
   public:
    struct Description {
        RuleSampler::Major major = RuleSampler::Major::target;
        /// Null without positions: neurons are then ordered by their index, and there is no mask.
        std::shared_ptr<const PairPositions> positions;
        Mask::Pointer mask;  ///< null without
        PairValue value = 1.0;
        double most = 1.0;  ///< upper limit of the value
        std::string object;  ///< "probability of rule 'pairwise_bernoulli'"
        std::string mask_object;
    };
    PairWeights(Description description, const MajorView& view);

    struct MajorNeuron {
        std::uint64_t index = 0;
        std::uint64_t excluded = no_partner;
        Point position{};
    };
    MajorNeuron neuron(std::uint64_t index) const;

    struct Bound {
        double low = 0.0;
        double high = 0.0;
        bool on_edge = false;  ///< whether some pairs may be outside of the mask
    };
    /// Bounds of the values of the pairs of a neuron with those of a node. `low` is below 0 if a pair may be refused;
    /// both are 0 if no pair can be connected.
    Bound bound(const PartnerIndex& index, const MajorNeuron& neuron, const PartnerIndex::Node& node) const;

    /// Neurons that follow each other in the index, with a common upper bound of their values.
    struct Segment {
        std::uint32_t begin = 0;
        std::uint32_t count = 0;
        double high = 0.0;
        bool on_edge = false;

        double weight() const { return high * static_cast<double>(count); }
    };
    /// Divides the partners of a neuron into segments in which candidates are drawn with the upper bound. The expected
    /// number of those in vain is at most `most_waste` in each, or a fifth of all, or the segment is a leaf.
    void divide_by_waste(const PartnerIndex& index, const MajorNeuron& neuron, double most_waste,
                         std::vector<Segment>& segments) const;
    /// The same, until a share of the candidates at most is in vain, or there are `enough` segments.
    void divide_by_share(const PartnerIndex& index, const MajorNeuron& neuron, double share, std::size_t enough,
                         std::vector<Segment>& segments) const;

    /// Whether bounds of nodes take look-ups only; otherwise as long as evaluating tens of pairs.
    bool has_fast_bounds() const { return function_ == nullptr || tables_ != nullptr; }
    /// Whether bounds over all pairs prove that no value can be refused.
    bool is_surely_valid() const;

    /// Writes the values of candidates to the beginning of scratch.values; 0 for those that cannot be connected.
    /// @param neurons by ordinal
    /// @throws ValueOutOfBoundsError for a value that is not between 0 and its limit
    void evaluate(InstructionSet set, const PartnerIndex& index, std::span<const MajorNeuron> neurons,
                  const CandidatePairs& candidates, PairScratch& scratch) const;

    /// Whether the mask and the value depend on the distance alone.
    bool is_by_distance() const { return is_by_distance_; }
    /// Takes the candidates of a neuron whose limit is less than their value, without calculating most values: see
    /// DistanceBounds. The neuron itself is not excluded. @pre is_by_distance()
    void decide(InstructionSet set, const PartnerIndex& index, const MajorNeuron& neuron,
                std::span<const std::uint32_t> places, const double* limits, std::uint8_t* decisions) const;

    /// Of all partners of a neuron.
    struct Total {
        double sum = 0.0;  ///< of their values
        double squares = 0.0;
        std::uint64_t positive = 0;  ///< number of values above 0
        double candidates = 0.0;  ///< mean number of those that are drawn with the upper bounds
        std::uint64_t evaluated = 0;
    };
    /// Evaluates all pairs of a neuron whose value may be above 0. @throws ValueOutOfBoundsError
    Total total(const MajorNeuron& neuron, double most_waste) const;
    /// The number of partners of a neuron whose value is above 0, or `enough` if there are not fewer: most are counted by
    /// bounds, without evaluating them. @throws ValueOutOfBoundsError
    /// @param cost the number of nodes and pairs that were looked at is added
    std::uint64_t count_partners(const MajorNeuron& neuron, std::uint64_t enough, std::uint64_t& cost) const;
    /// The same weights with one partner, at random, of n that follow each other, at most `most` in all, for estimates;
    /// nothing if there are no more, and if neurons are known by their indices.
    std::optional<PairWeights> with_fewer_partners(std::uint64_t most, RandomKey key) const;
    /// The index of a major neuron with a position. @pre it is one
    std::uint64_t major_of(NeuronId id) const {
        return *(of_target_ ? description_.positions->targets : description_.positions->sources).find(id);
    }
    /// Those of a process, if they have positions, all are not on it, and the rule draws for targets.
    std::optional<IdSequence> majors_among(const ProcessIndexes& indexes) const {
        if (description_.positions == nullptr || !indexes.neurons() || !of_target_) return std::nullopt;
        return description_.positions->targets.among(*indexes.neurons());
    }
    /// The values of pairs whose neurons are given by their indices. @throws ValueOutOfBoundsError
    void evaluate_pairs(std::span<const std::uint64_t> sources, std::span<const std::uint64_t> targets,
                        std::vector<double>& values) const;

    /// The index of the partners, which is made when it is first needed, with the tables of bounds.
    const PartnerIndex& index() const {
        ensure_tables();
        return index_->get(description_.positions == nullptr ? nullptr : description_.positions->space.get());
    }
    /// Takes the index from those of a process: with a mask, of the partners within reach of its neurons.
    /// @param draws_here whether only neurons of the process are drawn for
    void use(ProcessIndexes& indexes, bool draws_here = true);
    /// The same weights with an index of all partners.
    PairWeights with_all_partners() const;

    const Description& description() const { return description_; }
    /// The value, if it is the same for all pairs within the mask.
    std::optional<double> constant() const;
    std::uint64_t partners() const { return partners_; }
    std::uint64_t majors() const { return majors_; }

   private:
    /// Of an axis: displacements from a neuron to the box of a node. Across the far side of a periodic axis, in two
    /// pieces.
    struct AxisRange {
        std::array<double, 2> low{};
        std::array<double, 2> high{};
        std::size_t pieces = 1;
        double least = 0.0;  ///< absolute
        double greatest = 0.0;
    };
    /// @param major of a neuron, or of neurons in a range
    AxisRange range_of(PairRanges::Range major, double low, double high, std::size_t axis) const;
    /// Whether a neuron in the first box may be connected with a partner in the second.
    bool reaches(const SpaceBox& majors, const SpaceBox& partners) const;
    PartnerIndex::Needed needed_by(const IdSequence& majors) const;
    /// Calls visit(box of displacements) for each combination of the pieces of the axes.
    template <class Visit>
    static void for_each_piece(const std::array<AxisRange, most_dimensions>& axes, Visit visit);
    Mask::Place classify(const std::array<AxisRange, most_dimensions>& axes) const;
    PairRanges ranges(const std::array<AxisRange, most_dimensions>& axes, const MajorNeuron& neuron,
                      const SpaceBox& box) const;
    void check_dimensions() const;
    void make_tables() const;
    void ensure_tables() const {
        if (tables_ != nullptr) std::call_once(tables_->made, [this] { make_tables(); });
    }
    void fill_quantities(InstructionSet set, const PartnerIndex& index, std::span<const MajorNeuron> neurons,
                         const CandidatePairs& candidates, PairScratch& scratch) const;
    struct CellDistances;
    Bound bound_by_distance(const PartnerIndex& index, const MajorNeuron& neuron, const PartnerIndex::Node& node) const;
    PairRanges::Range range_by_displacement(const std::array<AxisRange, most_dimensions>& axes,
                                            const MajorNeuron& neuron, const SpaceBox& box) const;
    Bound limited(PairRanges::Range range, bool on_edge) const;
    void exclude(const PartnerIndex& index, std::span<const MajorNeuron> neurons, const CandidatePairs& candidates,
                 PairScratch& scratch) const;
    [[noreturn]] void refuse_first(const CandidatePairs& candidates, const PairScratch& scratch) const;
    [[noreturn]] void refuse(double value, double distance) const;
    const IdSequence& partner_ids() const;

    Description description_;
    MajorView view_;
    std::uint64_t partners_;
    std::uint64_t majors_;
    unsigned dimensions_ = 1;
    Point period_{};
    Point inverse_period_{};  ///< 0 on an axis that is not periodic
    Point half_period_{};  ///< infinite on an axis that is not periodic
    bool of_target_;
    double constant_ = 0.0;
    const PairFunction* function_ = nullptr;
    bool is_by_distance_ = false;  ///< whether the mask and the value depend on the distance alone
    /// One of them has bounds. Copies share them.
    struct Tables {
        std::once_flag made;
        std::optional<DistanceBounds> by_distance;
        std::optional<DisplacementBounds> by_displacement;
    };
    std::shared_ptr<Tables> tables_;  ///< null where the bounds of a function follow from itself
    std::shared_ptr<const SharedIndex> index_;
};

}  // namespace ranvier::connect
