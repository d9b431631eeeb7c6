#include <array>
#include <utility>

#include "connect/rules/filtered.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace nearest_neighbors_parts {

/// Neurons are arranged on a ring in the order of their ids.
class NearestNeighbors final : public RuleSampler {
   public:
    NearestNeighbors(std::uint64_t size, std::uint32_t degree) : size_(size), degree_(degree) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.assign(count, degree_);
        partners.resize(count * degree_);
        std::uint64_t* next = partners.data();
        const std::uint64_t half = degree_ / 2;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t target = begin + i * stride;
            std::uint64_t source = target >= half ? target - half : target + size_ - half;
            for (std::uint64_t k = 0; k <= degree_; ++k) {
                if (k != half) *next++ = source;
                if (++source == size_) source = 0;
            }
        }
    }

    double expected_synapses() const override { return static_cast<double>(size_) * static_cast<double>(degree_); }
    std::optional<std::uint64_t> array_length() const override { return size_ * degree_; }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return major * degree_ + ordinal;
    }

   private:
    std::uint64_t size_;
    std::uint32_t degree_;
};

constexpr std::array parameters{
    count_info("indegree",
               "connections per target, half of them from the neurons before it and half from those after it: an even "
               "number, less than the number of neurons"),
    mask_info(),
    probability_info("probability that a neighbor is connected"),
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    auto sampler = std::make_unique<NearestNeighbors>(pairs.sources, checked_ring_degree(spec, pairs));
    if (connects_all(spec)) return sampler;
    check_narrow(spec, pairs);
    return filtered(std::move(sampler), pair_weights(spec, pairs, RuleSampler::Major::target, true),
                    make_key(seed, Purpose::partner, projection.value), false);
}

}  // namespace nearest_neighbors_parts
}  // namespace

const RuleInfo nearest_neighbors_rule{
    .name = "nearest_neighbors",
    .summary = "every neuron gets connections from the neurons with the nearest ids, but not from itself",
    .notes =
        "The sources must be the targets: a population, or a part of it, that is connected to itself. Neurons are "
        "arranged in a ring: the last neuron is next to the first one.\n\n"
        "Arrays of weights or delays hold one number per connection, sorted by target. For each target, the sources "
        "are sorted from the farthest one before it to the farthest one after it. With a mask or a probability, there "
        "are "
        "no arrays: the number of connections of a target is known only when they are drawn.",
    .parameters = nearest_neighbors_parts::parameters,
    .check = check_ring_degree,
    .bind = nearest_neighbors_parts::bind,
};

}  // namespace ranvier::connect
