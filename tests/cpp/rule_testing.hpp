#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "connect/rules/rule.hpp"

/// Helpers that the tests of connection rules share.
namespace rule_testing {

using namespace ranvier;
using connect::PairSpace;
using connect::RuleSampler;
using connect::RuleSpec;

/// Partners of every major neuron.
using Partners = std::vector<std::vector<std::uint64_t>>;

inline std::uint64_t majors(const RuleSampler& sampler, const PairSpace& pairs) {
    return sampler.major() == RuleSampler::Major::target ? pairs.targets : pairs.sources;
}

/// Draws the whole projection as `stride` processes would that deal the major neurons among them, `batch` at a time.
inline Partners draw_all(const RuleSampler& sampler, const PairSpace& pairs, std::uint64_t stride = 1,
                         std::uint64_t batch = 1000, InstructionSet set = detect_instruction_set()) {
    const std::uint64_t count = majors(sampler, pairs);
    Partners all(count);
    // Not empty: old contents must be replaced.
    std::vector<std::uint32_t> degrees(3, 77);
    std::vector<std::uint64_t> partners(5, 99);
    for (std::uint64_t first = 0; first < std::min(stride, count); ++first) {
        const std::uint64_t own = (count - first + stride - 1) / stride;
        for (std::uint64_t done = 0; done < own; done += batch) {
            const std::uint64_t asked = std::min(batch, own - done);
            sampler.draw(set, first + done * stride, stride, asked, degrees, partners);
            if (degrees.size() != asked) return {};
            std::size_t next = 0;
            for (std::uint64_t i = 0; i < asked; ++i) {
                auto& own_partners = all[first + (done + i) * stride];
                if (next + degrees[i] > partners.size()) return {};
                own_partners.assign(partners.begin() + static_cast<std::ptrdiff_t>(next),
                                    partners.begin() + static_cast<std::ptrdiff_t>(next + degrees[i]));
                next += degrees[i];
            }
            if (next != partners.size()) return {};
        }
    }
    return all;
}

inline std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed = 1,
                                         std::uint32_t projection = 0) {
    return connect::bind_rule(spec, pairs, seed, ProjectionId{projection});
}

inline Partners draw_all(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed = 1) {
    return draw_all(*bind(spec, pairs, seed), pairs);
}

inline std::uint64_t count_synapses(const Partners& partners) {
    std::uint64_t count = 0;
    for (const auto& own : partners) count += own.size();
    return count;
}

/// The partner that is the same neuron as a major one, or a number that is none.
inline std::uint64_t self(const RuleSampler& sampler, const PairSpace& pairs, std::uint64_t major) {
    const auto own =
        sampler.major() == RuleSampler::Major::target ? pairs.source_of_target(major) : pairs.target_of_source(major);
    return own.value_or(~std::uint64_t{0});
}

inline RuleSpec rule(std::string name) {
    RuleSpec spec;
    spec.name = std::move(name);
    return spec;
}
inline RuleSpec rule(std::string name, std::uint64_t number, bool autapses = true, bool multapses = true) {
    RuleSpec spec = rule(std::move(name));
    spec.number = number;
    spec.allow_autapses = autapses;
    spec.allow_multapses = multapses;
    return spec;
}
inline RuleSpec uniform_indegree(std::uint64_t least, std::uint64_t greatest, bool autapses = true,
                                 bool multapses = true) {
    RuleSpec spec = rule("uniform_indegree", greatest, autapses, multapses);
    spec.least_number = least;
    return spec;
}
inline RuleSpec nearest_neighbors(std::uint64_t degree) { return rule("nearest_neighbors", degree, false, false); }
inline RuleSpec bernoulli(double probability, bool autapses = true) {
    RuleSpec spec = rule("pairwise_bernoulli");
    spec.probability = probability;
    spec.allow_autapses = autapses;
    return spec;
}
inline RuleSpec explicit_list(std::vector<std::uint64_t> sources, std::vector<std::uint64_t> targets) {
    RuleSpec spec = rule("explicit");
    spec.sources = std::move(sources);
    spec.targets = std::move(targets);
    return spec;
}

/// Sources and targets that are the same population, overlap, or have nothing in common.
inline std::vector<PairSpace> spaces(std::uint64_t sources, std::uint64_t targets) {
    return {
        {NeuronId{5}, sources, NeuronId{5}, targets},
        {NeuronId{5}, sources, NeuronId{5 + sources / 2}, targets},
        {NeuronId{5 + targets / 2}, sources, NeuronId{5}, targets},
        {NeuronId{0}, sources, NeuronId{sources}, targets},
    };
}

}  // namespace rule_testing
