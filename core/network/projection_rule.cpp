#include "network/projection_rule.hpp"

#include <memory>
#include <utility>

#include "network/network_checks.hpp"

namespace ranvier::network {

namespace {

void check_positions_of(const Network& network, const IdSequence& neurons, const ProjectionSpec& projection) {
    for (const PopulationId id : network.populations_of(neurons)) {
        const Population& population = network.population(id);
        if (population.positions != nullptr) continue;
        throw ValueOutOfBoundsError(
            {.object = "rule '" + std::string(projection.rule.name()) + "' of projection " + quoted(projection.name),
             .value = "a mask, or an expression of positions",
             .bound = "the neurons of population " + quoted(population.name) + " have no positions",
             .remedy = "give some when the population is created: net.create(model, n, positions=...)"});
    }
}

}  // namespace

connect::SelectedRule bind_rule_of(const Network& network, const ProjectionSpec& projection, ProjectionId id) {
    std::shared_ptr<const connect::PairPositions> positions;
    if (projection.rule.needs_positions()) {
        check_positions_of(network, projection.sources, projection);
        check_positions_of(network, projection.targets, projection);
        positions = connect::pair_positions(network.space(), projection.sources, projection.targets,
                                            "projection " + quoted(projection.name));
    }
    return connect::bind_selected(projection.rule, projection.sources, projection.targets, network.seed(), id,
                                  std::move(positions));
}

}  // namespace ranvier::network
