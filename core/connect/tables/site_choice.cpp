#include "connect/tables/site_choice.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ranvier/base/distribution.hpp"

namespace ranvier::connect {

namespace {

constexpr Distribution unit_interval{.kind = Distribution::Kind::uniform, .first = 0.0, .second = 1.0};

}  // namespace

SiteChoice::Cumulative cumulative(std::span<const double> weights) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    SiteChoice::Cumulative ends;
    double end = 0.0;
    for (const double weight : weights) ends.push_back((end += weight) / sum);
    // Rounding must neither exclude the last site with a weight, nor select a site without one.
    const auto last = std::find_if(weights.rbegin(), weights.rend(), [](double weight) { return weight > 0.0; });
    std::fill(ends.begin() + (weights.rend() - last) - 1, ends.end(), 1.0);
    return ends;
}

std::uint32_t find_site(std::span<const double> cumulative, double drawn) {
    return static_cast<std::uint32_t>(std::ranges::upper_bound(cumulative, drawn) - cumulative.begin());
}

std::uint32_t uniform_site(double drawn, std::uint32_t sites) {
    return std::min(static_cast<std::uint32_t>(drawn * sites), sites - 1);
}

SiteChoice::SiteChoice(Rule rule, RandomKey key, std::vector<Targets> targets)
    : rule_(std::move(rule)), key_(key), targets_(std::move(targets)) {}

std::uint32_t SiteChoice::sites(NeuronId target) const {
    const auto after = std::ranges::upper_bound(targets_, target, {}, &Targets::first);
    const Targets& found = *(after - 1);
    return found.counts.of(target.value - found.first.value);
}

std::uint32_t SiteChoice::chosen(double drawn, std::uint32_t sites) const {
    if (const auto* ends = std::get_if<Cumulative>(&rule_)) return find_site(*ends, drawn);
    return uniform_site(drawn, sites);
}

void SiteChoice::fill(InstructionSet set, const RuleSampler& sampler, std::uint64_t major, std::uint32_t sites,
                      std::size_t count, double* room, std::uint32_t* out) const {
    if (const auto* one = std::get_if<std::uint32_t>(&rule_)) {
        std::fill_n(out, count, *one);
    } else if (const auto* array = std::get_if<SharedArray>(&rule_)) {
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = static_cast<std::uint32_t>((*array)[sampler.array_position(major, i)]);
        }
    } else {
        unit_interval.fill(set, key_, major, 0, count, room);
        for (std::size_t i = 0; i < count; ++i) out[i] = chosen(room[i], sites);
    }
}

std::uint32_t SiteChoice::site(const RuleSampler& sampler, std::uint64_t major, std::uint32_t ordinal,
                               std::uint32_t sites) const {
    if (const auto* one = std::get_if<std::uint32_t>(&rule_)) return *one;
    if (const auto* array = std::get_if<SharedArray>(&rule_)) {
        return static_cast<std::uint32_t>((*array)[sampler.array_position(major, ordinal)]);
    }
    return chosen(unit_interval.draw(key_, major, ordinal), sites);
}

}  // namespace ranvier::connect
