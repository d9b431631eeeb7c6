#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/base/shared_array.hpp"
#include "ranvier/base/site_counts.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// The choice of a target's site for each synapse of a projection, and the numbers of sites of the targets.
///
/// The random number of a synapse is a function of the key, its major neuron, and its index among the synapses of that
/// neuron, as for weights.
class SiteChoice {
   public:
    /// The neurons of a population.
    struct Targets {
        NeuronId first;
        std::uint64_t size = 0;
        SiteCounts counts;
    };
    /// All sites with equal probability.
    struct Uniform {};
    /// The cumulative probabilities of the sites: the last is 1.
    using Cumulative = std::vector<double>;
    /// Uniformly drawn, one for all, one each (in the order of the rule), or drawn with probabilities.
    using Rule = std::variant<Uniform, std::uint32_t, SharedArray, Cumulative>;

    /// @pre every target has all sites that the rule can give
    SiteChoice(Rule rule, RandomKey key, std::vector<Targets> targets);

    /// Number of sites of a neuron. @pre it is one of the targets
    std::uint32_t sites(NeuronId target) const;
    /// Sites of `count` synapses, the first `count` of this major neuron, which is the target and has `sites` sites.
    /// @param room buffer for as many numbers
    void fill(InstructionSet set, const RuleSampler& sampler, std::uint64_t major, std::uint32_t sites,
              std::size_t count, double* room, std::uint32_t* out) const;
    /// The site of synapse `ordinal` alone, for either side as major neuron.
    std::uint32_t site(const RuleSampler& sampler, std::uint64_t major, std::uint32_t ordinal,
                       std::uint32_t sites) const;

   private:
    /// @param drawn from [0, 1)
    std::uint32_t chosen(double drawn, std::uint32_t sites) const;

    Rule rule_;
    RandomKey key_;
    std::vector<Targets> targets_;  ///< ascending
};

/// Cumulative probabilities for SiteChoice.
SiteChoice::Cumulative cumulative(std::span<const double> weights);
/// The interval of a number from [0, 1) among them.
std::uint32_t find_site(std::span<const double> cumulative, double drawn);
/// One of `sites` with equal probability.
std::uint32_t uniform_site(double drawn, std::uint32_t sites);

}  // namespace ranvier::connect
