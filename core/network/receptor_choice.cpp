#include "network/receptor_choice.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "network/network_checks.hpp"
#include "network/value_checks.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::network {

namespace {

void check_receptor(const Population& population, std::string_view name, const std::string& object) {
    const models::NeuronModel& model = *population.model;
    if (!name.empty()) {
        if (std::ranges::find(model.receptors, name) != model.receptors.end()) return;
        throw unknown_name("receptor of " + std::string(model.name), name, model.receptors);
    }
    const std::size_t by_name_only = model.counting_receptor.empty() ? 0 : 1;
    if (model.receptors.size() == 1 + by_name_only || model.sign_chooses_receptor) return;
    if (model.receptors.empty()) {
        throw ValueOutOfBoundsError(
            {.object = "targets of " + object,
             .value = "population " + quoted(population.name),
             .bound = "its model " + quoted(model.name) + " has no receptor that synapses could reach",
             .remedy = "create it with a model that has receptors"});
    }
    std::string names;
    for (const std::string_view each : model.receptors) names += (names.empty() ? "" : ", ") + std::string(each);
    throw ValueOutOfBoundsError({.object = "receptor of " + object,
                                 .value = "none",
                                 .bound = "the model " + quoted(model.name) + " of population " +
                                          quoted(population.name) + " has several, " + names +
                                          ", and the sign of a weight does not choose between them",
                                 .remedy = "name one, such as receptor=" + quoted(model.receptors[0])});
}

bool is_counting(const models::NeuronModel& model, std::string_view receptor) {
    return !receptor.empty() && receptor == model.counting_receptor;
}

/// Whether weights have the same meaning for two models.
bool are_alike(const models::NeuronModel& a, const models::NeuronModel& b, std::string_view name) {
    const ReceptorChoice choice = choose_receptors(a, name);
    return a.weight_unit == b.weight_unit && choice == choose_receptors(b, name) &&
           a.receptors[choice.positive] == b.receptors[choice.positive] &&
           a.receptors[choice.negative] == b.receptors[choice.negative];
}

}  // namespace

ReceptorChoice choose_receptors(const models::NeuronModel& model, std::string_view name) {
    if (name.empty()) return {.positive = 0, .negative = model.sign_chooses_receptor ? 1u : 0u};
    const auto found = std::ranges::find(model.receptors, name);
    if (found == model.receptors.end()) throw InternalError("no receptor " + std::string(name));
    const auto place = static_cast<std::uint32_t>(found - model.receptors.begin());
    return {.positive = place, .negative = place};
}

void check_receptors(const Network& network, const IdSequence& targets, std::string_view name,
                     const std::string& object) {
    const Population* first = nullptr;
    for (const PopulationId id : network.populations_of(targets)) {
        const Population& population = network.population(id);
        check_receptor(population, name, object);
        if (first == nullptr) first = &population;
        if (are_alike(*first->model, *population.model, name)) continue;
        throw ValueOutOfBoundsError({.object = "target population " + quoted(population.name),
                                     .value = "of the model " + quoted(population.model->name),
                                     .bound = "its receptors, or the unit of weights, are not those of " +
                                              quoted(first->model->name) + " of population " + quoted(first->name),
                                     .remedy = "connect each of the populations in a separate call"});
    }
}

void check_weight_bounds(const models::NeuronModel& model, std::string_view receptor, double weight,
                         const std::string& object) {
    if (is_counting(model, receptor)) {
        if (weight >= 0.0 && weight <= models::most_counted_spikes && weight == std::floor(weight)) return;
        throw ValueOutOfBoundsError({.object = object,
                                     .value = to_text(weight),
                                     .bound = "weights at the receptor " + quoted(receptor) + " of the model " +
                                              quoted(model.name) + " are numbers of spikes, whole and from 0 to " +
                                              to_text(models::most_counted_spikes),
                                     .remedy = "use 1, so that each spike counts once"});
    }
    if (model.weight_bounds.contains(weight)) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = to_text(weight),
         .bound = "the model " + quoted(model.name) + " takes weights " + describe(model.weight_bounds),
         .remedy = "choose with receptor= whether they excite or inhibit"});
}

void check_weight_bounds(const Network& network, const IdSequence& targets, std::string_view receptor,
                         const Values& weights, const std::string& object) {
    const auto [least, greatest] = range_of(weights);
    for (const PopulationId id : network.populations_of(targets)) {
        const models::NeuronModel& model = *network.population(id).model;
        check_weight_bounds(model, receptor, least, object);
        check_weight_bounds(model, receptor, greatest, object);
        if (!is_counting(model, receptor)) continue;
        if (const auto* array = std::get_if<SharedArray>(&weights)) {
            for (std::size_t i = 0; i < array->size(); ++i) {
                check_weight_bounds(model, receptor, (*array)[i], "element " + std::to_string(i) + " of " + object);
            }
        } else if (is_drawn(weights) && least != greatest) {
            throw ValueOutOfBoundsError({.object = object,
                                         .value = "a distribution or an expression",
                                         .bound = "weights at the receptor " + quoted(receptor) + " of the model " +
                                                  quoted(model.name) + " are whole numbers of spikes",
                                         .remedy = "use 1, or an array of whole numbers"});
        }
    }
}

void check_counted_weights(const Network& network, const IdSequence& targets, std::string_view receptor,
                           const SynapseSpec& synapse, const std::string& projection) {
    if (synapse.is_static()) return;
    for (const PopulationId id : network.populations_of(targets)) {
        const models::NeuronModel& model = *network.population(id).model;
        if (!is_counting(model, receptor)) continue;
        throw ValueOutOfBoundsError({.object = "synapse of projection " + quoted(projection),
                                     .value = std::string(synapse.model->name),
                                     .bound = "weights at the receptor " + quoted(receptor) + " of the model " +
                                              quoted(model.name) +
                                              " are whole numbers of spikes, and those of this synapse change",
                                     .remedy = "use static synapses, or another receptor"});
    }
}

void check_weight_unit(const Network& network, const IdSequence& targets, const SynapseSpec& synapse,
                       const std::string& projection) {
    if (synapse.is_static() || synapse.model->weight_unit.empty()) return;
    const std::string unit_of_synapse(synapse.model->weight_unit);
    for (const PopulationId id : network.populations_of(targets)) {
        const Population& population = network.population(id);
        const std::string wanted(population.model->weight_unit);
        if (wanted.empty() || wanted == unit_of_synapse) continue;
        throw ValueOutOfBoundsError(
            {.object = "unit of the weights of projection " + quoted(projection),
             .value = unit_of_synapse + ", as the equations of " + std::string(synapse.model->name) + " say",
             .bound = "weights of " + quoted(population.name) + " are in " + wanted,
             .remedy = "give the equations of the synapse the line w : " + wanted});
    }
}

void check_followed_variables(const Network& network, const IdSequence& targets, const SynapseSpec& synapse,
                              const std::string& projection) {
    if (synapse.is_static()) return;
    for (const PopulationId id : network.populations_of(targets)) {
        const Population& population = network.population(id);
        for (const std::string_view name : synapse.model->followed_variables) {
            if (std::ranges::count(population.model->variables, name, &models::VariableInfo::name) > 0) continue;
            throw ValueOutOfBoundsError(
                {.object = "targets of projection " + quoted(projection),
                 .value = quoted(population.name) + ", a population of " + std::string(population.model->name),
                 .bound = "weights of " + std::string(synapse.model->name) + " follow the variable " +
                          std::string(name) + " of the targets, which these do not have",
                 .remedy = "connect it to aeif_psc_delta_clopath or hh_psc_alpha_clopath, or to neurons of equations "
                           "with variables or subexpressions of these names"});
        }
    }
}

}  // namespace ranvier::network
