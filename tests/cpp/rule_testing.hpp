#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/rule.hpp"

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

/// A rule whose counts are all `number`, with the flags that it has.
inline RuleSpec rule(std::string_view name, std::uint64_t number = 0, bool autapses = true, bool multapses = true) {
    std::vector<connect::RuleArgument> arguments;
    for (const connect::RuleParameterInfo& parameter : connect::find_rule(name).parameters) {
        if (parameter.kind == connect::RuleParameterInfo::Kind::count) arguments.emplace_back(parameter.name, number);
        if (parameter.name == "allow_autapses") arguments.emplace_back(parameter.name, autapses);
        if (parameter.name == "allow_multapses") arguments.emplace_back(parameter.name, multapses);
    }
    return {connect::find_rule(name), arguments};
}
inline RuleSpec uniform_indegree(std::uint64_t least, std::uint64_t greatest, bool autapses = true,
                                 bool multapses = true) {
    return {"uniform_indegree",
            {{"indegree_min", least},
             {"indegree_max", greatest},
             {"allow_autapses", autapses},
             {"allow_multapses", multapses}}};
}
inline RuleSpec nearest_neighbors(std::uint64_t degree) { return {"nearest_neighbors", {{"indegree", degree}}}; }
inline RuleSpec small_world(std::uint64_t degree, double rewiring) {
    return {"small_world", {{"indegree", degree}, {"rewiring", rewiring}}};
}
inline RuleSpec unordered_bernoulli(double probability) {
    return {"unordered_bernoulli", {{"probability", probability}}};
}
/// Whether a rule arranges its neurons in a ring, so that it needs a population connected to itself.
inline bool is_ring(const RuleSpec& spec) { return spec.name() == "nearest_neighbors" || spec.name() == "small_world"; }
inline RuleSpec bernoulli(double probability, bool autapses = true) {
    return {"pairwise_bernoulli", {{"probability", probability}, {"allow_autapses", autapses}}};
}
/// Rules that decide on each pair on its own.
inline bool is_pairwise(const RuleSpec& spec) {
    return spec.name() == "pairwise_bernoulli" || spec.name() == "pairwise_poisson" ||
           spec.name() == "unordered_bernoulli";
}
/// The probability or the mean of such a rule, of all pairs.
inline double number_of_pairs(const RuleSpec& spec) {
    return std::get<double>(spec.pair_value(spec.name() == "pairwise_poisson" ? "mean" : "probability"));
}
inline RuleSpec poisson(double mean, bool autapses = true) {
    return {"pairwise_poisson", {{"mean", mean}, {"allow_autapses", autapses}}};
}
inline RuleSpec explicit_list(std::vector<std::uint64_t> sources, std::vector<std::uint64_t> targets,
                              bool autapses = true, bool multapses = true) {
    return {"explicit",
            {{"sources", SharedIndices(std::move(sources))},
             {"targets", SharedIndices(std::move(targets))},
             {"allow_autapses", autapses},
             {"allow_multapses", multapses}}};
}

inline RuleSpec explicit_rows(std::vector<std::uint64_t> starts, std::vector<std::uint64_t> sources,
                              bool autapses = true, bool multapses = true) {
    return {"explicit_rows",
            {{"starts", SharedIndices(std::move(starts))},
             {"sources", SharedIndices(std::move(sources))},
             {"allow_autapses", autapses},
             {"allow_multapses", multapses}}};
}
/// Whether a rule is a list of its connections.
inline bool is_list(const RuleSpec& spec) { return spec.name() == "explicit" || spec.name() == "explicit_rows"; }

/// A flag of a rule; false where the rule has no such flag.
inline bool flag_of(const RuleSpec& spec, std::string_view flag) {
    const bool has_flag = std::ranges::count(spec.info().parameters, flag, &connect::RuleParameterInfo::name) > 0;
    return has_flag && spec.flag(flag);
}
/// Whether a rule may connect a neuron to itself.
inline bool allows_autapses(const RuleSpec& spec) { return flag_of(spec, "allow_autapses"); }
/// Whether a rule may connect a pair more than once.
inline bool allows_multapses(const RuleSpec& spec) {
    return spec.name() == "pairwise_poisson" || flag_of(spec, "allow_multapses");
}
/// The last count of a rule: its degree, the largest one, or the total number of synapses.
inline std::uint64_t number_of(const RuleSpec& spec) {
    std::uint64_t number = 0;
    for (const connect::RuleValue& value : spec.values()) {
        if (const auto* const count = std::get_if<std::uint64_t>(&value)) number = *count;
    }
    return number;
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
