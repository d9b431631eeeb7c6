#include "network/site_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/counted.hpp"
#include "network/network_checks.hpp"
#include "network/receptor_choice.hpp"
#include "ranvier/base/distribution.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::network {

namespace {

using connect::RuleSampler;

/// The numbers of sites of targets at their receptor.
struct Targets {
    std::string receptor;
    std::uint32_t least = UINT32_MAX;
    std::uint32_t most = 0;
    std::vector<connect::SiteChoice::Targets> populations;
};

Targets targets_of(const Network& network, const IdSequence& targets, std::string_view receptor) {
    Targets found;
    for (const PopulationId id : network.populations_of(targets)) {
        const Population& population = network.population(id);
        const ReceptorChoice choice = choose_receptors(*population.model, receptor);
        // If the sign of a weight selects the receptor, each receptor has one site.
        const SiteCounts counts = population.model->sites_at(choice.positive);
        found.receptor = quoted(population.model->receptors[choice.positive]);
        const IdSequence reached = network.part_of(id, targets);
        for (std::uint64_t i = 0; i < (counts.of_kind.empty() ? 1 : reached.size()); ++i) {
            const std::uint32_t count =
                reached.empty() ? counts.most : counts.of(reached[i].value - population.first.value);
            found.least = std::min(found.least, count);
            found.most = std::max(found.most, count);
        }
        found.populations.push_back({population.first, population.size, counts});
    }
    return found;
}

ValueOutOfBoundsError no_such_site(const std::string& object, const Targets& targets, const std::string& value,
                                   std::uint32_t sites) {
    return ValueOutOfBoundsError({.object = "site of " + object,
                                  .value = value,
                                  .bound = "receptor " + targets.receptor + " of a target has " +
                                           std::to_string(sites) + (sites == 1 ? " site" : " sites") +
                                           ", numbered from 0",
                                  .remedy = "give a smaller number, or place the receptor at more sites of the cell"});
}

void check_probabilities(const SharedArray& values, const Targets& targets, const std::string& object) {
    const std::string what = "probabilities of sites of " + object;
    if (values.size() != targets.most || targets.least != targets.most) {
        const std::string counts = targets.least == targets.most ? std::to_string(targets.most)
                                                                 : "from " + std::to_string(targets.least) + " to " +
                                                                       std::to_string(targets.most);
        throw ShapeError({.object = what,
                          .value = counted(values.size(), "value"),
                          .bound = "receptor " + targets.receptor + " of each target has " + counts + " sites",
                          .remedy = targets.least == targets.most
                                        ? "give one for each"
                                        : "connect cells with different numbers of sites in separate calls"});
    }
    for (const double value : values) {
        if (std::isfinite(value) && value >= 0.0) continue;
        throw ValueOutOfBoundsError({.object = what,
                                     .value = to_text(value),
                                     .bound = "they must be finite and not negative",
                                     .remedy = "give 0 for sites without synapses"});
    }
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (std::isfinite(sum) && sum > 0.0) return;
    throw ValueOutOfBoundsError({.object = what,
                                 .value = "a sum of " + to_text(sum),
                                 .bound = "their sum must be finite and greater than 0",
                                 .remedy = "give some sites a probability > 0"});
}

void check_element(const SharedArray& sites, std::uint64_t place, std::uint32_t count, const Targets& targets,
                   const std::string& object) {
    const double site = sites[place];
    if (site >= 0.0 && site < count && site == std::floor(site)) return;
    const std::string value = to_text(site) + " (element " + std::to_string(place) + ")";
    if (site >= count && std::isfinite(site)) throw no_such_site(object, targets, value, count);
    throw ValueOutOfBoundsError({.object = "site of " + object,
                                 .value = value,
                                 .bound = "sites are whole numbers from 0",
                                 .remedy = "give the number of a site"});
}

/// Visits the index of each synapse in arrays, and the id of its target.
template <class Visit>
void visit_targets(const connect::SelectedRule& rule, Visit visit) {
    constexpr std::uint64_t some = 4096;
    const bool by_target = rule.sampler->major() == RuleSampler::Major::target;
    const std::uint64_t majors = by_target ? rule.hull.targets : rule.hull.sources;
    const std::uint64_t first = rule.hull.first_target.value;
    std::vector<std::uint32_t> degrees;
    std::vector<std::uint64_t> partners;
    for (std::uint64_t begin = 0; begin < majors; begin += some) {
        const std::uint64_t count = std::min(some, majors - begin);
        rule.sampler->draw(InstructionSet::baseline, begin, 1, count, degrees, partners);
        std::size_t next = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            for (std::uint32_t k = 0; k < degrees[i]; ++k, ++next) {
                visit(rule.sampler->array_position(begin + i, k),
                      NeuronId{first + (by_target ? begin + i : partners[next])});
            }
        }
    }
}

void check_array(const SharedArray& sites, const IdSequence& ids, const Targets& targets, const std::string& object,
                 const connect::SelectedRule* rule) {
    const std::optional<std::uint64_t> length = rule == nullptr ? ids.size() : rule->sampler->array_length();
    if (!length || *length != sites.size()) {
        throw ShapeError(
            {.object = "site of " + object,
             .value = length ? counted(sites.size(), "value") : "an array",
             .bound = length ? "there are " + std::to_string(*length) + (rule == nullptr ? " targets" : " synapses")
                             : "the rule draws how many synapses a target has",
             .remedy = length ? "give one for each, or one number" : "give a number or probabilities"});
    }
    if (targets.least == targets.most) {
        for (std::uint64_t i = 0; i < sites.size(); ++i) check_element(sites, i, targets.least, targets, object);
        return;
    }
    const connect::SiteChoice counts(connect::SiteChoice::Uniform{}, {}, targets.populations);
    const auto check = [&](std::uint64_t place, NeuronId target) {
        check_element(sites, place, counts.sites(target), targets, object);
    };
    if (rule != nullptr) return visit_targets(*rule, check);
    for (std::uint64_t i = 0; i < sites.size(); ++i) check(i, ids[i]);
}

/// The rule of an array, or of probabilities.
connect::SiteChoice::Rule to_rule(const SiteSpec& site) {
    if (const auto* one = std::get_if<std::uint64_t>(&site)) return static_cast<std::uint32_t>(*one);
    if (const auto* array = std::get_if<SharedArray>(&site)) return *array;
    if (const auto* probabilities = std::get_if<SiteProbabilities>(&site)) {
        const SharedArray& values = probabilities->values;
        return connect::cumulative({values.data(), values.size()});
    }
    return connect::SiteChoice::Uniform{};
}

}  // namespace

void check_sites(const Network& network, const IdSequence& ids, std::string_view receptor, const SiteSpec& site,
                 const std::string& object, const connect::SelectedRule* rule) {
    if (std::holds_alternative<std::monostate>(site)) return;
    const Targets targets = targets_of(network, ids, receptor);
    if (targets.populations.empty()) return;
    if (const auto* one = std::get_if<std::uint64_t>(&site)) {
        if (*one >= targets.least) throw no_such_site(object, targets, std::to_string(*one), targets.least);
    } else if (const auto* array = std::get_if<SharedArray>(&site)) {
        check_array(*array, ids, targets, object, rule);
    } else {
        check_probabilities(std::get<SiteProbabilities>(site).values, targets, object);
    }
}

std::shared_ptr<const connect::SiteChoice> lower_sites(const Network& network, const Projection& projection) {
    Targets targets = targets_of(network, projection.targets, projection.receptor);
    if (targets.most <= 1) return nullptr;
    return std::make_shared<connect::SiteChoice>(to_rule(projection.site),
                                                 make_key(network.seed(), Purpose::site, projection.id.value),
                                                 std::move(targets.populations));
}

std::vector<std::uint32_t> sites_of_stimulus(const Network& network, std::size_t index, const Population& population,
                                             std::uint32_t receptor, const IdSequence& neurons) {
    const StimulusSpec& spec = network.stimuli()[index];
    const SiteCounts counts = population.model->sites_at(receptor);
    if (spec.model->output == models::StimulatorOutput::current || counts.most == 1) return {};
    constexpr Distribution unit_interval{.kind = Distribution::Kind::uniform, .first = 0.0, .second = 1.0};
    const RandomKey key = make_key(network.seed(), Purpose::stimulus_site, index);
    const connect::SiteChoice::Rule rule = to_rule(spec.site);
    std::vector<std::uint32_t> sites;
    for (std::uint64_t i = 0; i < neurons.size(); ++i) {
        if (const auto* one = std::get_if<std::uint32_t>(&rule)) {
            sites.push_back(*one);
        } else if (const auto* array = std::get_if<SharedArray>(&rule)) {
            sites.push_back(static_cast<std::uint32_t>((*array)[spec.targets.count_below(neurons[i])]));
        } else {
            const double drawn = unit_interval.draw(key, spec.targets.count_below(neurons[i]), 0);
            const auto* const ends = std::get_if<connect::SiteChoice::Cumulative>(&rule);
            sites.push_back(ends != nullptr
                                ? connect::find_site(*ends, drawn)
                                : connect::uniform_site(drawn, counts.of(neurons[i].value - population.first.value)));
        }
    }
    return sites;
}

}  // namespace ranvier::network
