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

/// Which of the sites of its target each synapse of a projection goes to, and how many sites targets have.
///
/// What is drawn for a synapse is a function of the key, its major neuron, and its place among the synapses of that neuron,
/// as its weight is.
class SiteChoice {
   public:
    /// The neurons of a population.
    struct Targets {
        NeuronId first;
        std::uint64_t size = 0;
        SiteCounts counts;
    };
    /// All sites are as probable.
    struct Uniform {};
    /// The probability of a site, or one that lies before it: the last is 1.
    using Cumulative = std::vector<double>;
    /// Drawn, one for all, one each (in the order of the rule), or drawn with probabilities.
    using Rule = std::variant<Uniform, std::uint32_t, SharedArray, Cumulative>;

    /// @pre no site that the rule can give is one that its target does not have
    SiteChoice(Rule rule, RandomKey key, std::vector<Targets> targets);

    /// Of a neuron. @pre it is one of the targets
    std::uint32_t sites(NeuronId target) const;
    /// Sites of `count` synapses, the first `count` of this major neuron, which is the target and has so many sites.
    /// @param room for as many numbers
    void fill(InstructionSet set, const RuleSampler& sampler, std::uint64_t major, std::uint32_t sites,
              std::size_t count, double* room, std::uint32_t* out) const;
    /// The same of synapse `ordinal` alone, whatever its major neuron is.
    std::uint32_t site(const RuleSampler& sampler, std::uint64_t major, std::uint32_t ordinal,
                       std::uint32_t sites) const;

   private:
    /// @param drawn from [0, 1)
    std::uint32_t chosen(double drawn, std::uint32_t sites) const;

    Rule rule_;
    RandomKey key_;
    std::vector<Targets> targets_;  ///< ascending
};

/// Probabilities that add up to 1 as SiteChoice takes them.
SiteChoice::Cumulative cumulative(std::span<const double> weights);
/// Where a number from [0, 1) lies among them.
std::uint32_t find_site(std::span<const double> cumulative, double drawn);
/// One of so many with the same probability.
std::uint32_t uniform_site(double drawn, std::uint32_t sites);

}  // namespace ranvier::connect
