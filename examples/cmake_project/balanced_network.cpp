// The network of the README in C++: excitatory and inhibitory neurons with Poisson input. Prints each spike as
// "<step> <neuron>", in the order of time.

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include "ranvier/base/distribution.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/models/registry.hpp"
#include "ranvier/network/network.hpp"

namespace {

using namespace ranvier;

IdSequence create(network::Network& net, std::uint64_t size, const std::string& name) {
    const Distribution potentials{Distribution::Kind::normal, -65.0, 3.0};  // mV
    const PopulationId id = net.create("iaf_psc_exp", size, name, {{"V_m", potentials}});
    return {net.population(id).first, 1, size};
}

network::Network balanced_network() {
    network::Network net(0.1, 1);  // resolution in ms, seed
    const IdSequence exc = create(net, 800, "exc");
    const IdSequence inh = create(net, 200, "inh");
    const IdSequence all{exc[0], 1, exc.size() + inh.size()};
    // Weights in pA, delays in ms.
    net.connect({.sources = exc,
                 .targets = all,
                 .rule = {"fixed_indegree", {{"indegree", 80}}},
                 .weight = 100.0,
                 .delay = 1.5});
    net.connect({.sources = inh,
                 .targets = all,
                 .rule = {"fixed_indegree", {{"indegree", 20}}},
                 .weight = -1200.0,
                 .delay = 1.5});
    net.stimulate({.model = &models::find_stimulator_model("poisson_generator"),
                   .targets = all,
                   .parameters = {{"rate", 3000.0}},
                   .weight = 120.0});
    net.record_spikes({.neurons = {all}});
    return net;
}

}  // namespace

int main(int count, char** arguments) try {
    engine::SimulationOptions options;
    options.threads = count > 1 ? static_cast<std::uint32_t>(std::stoul(arguments[1])) : 0;
    engine::Simulation simulation(balanced_network(), options);
    simulation.run(5000);  // steps
    const engine::SpikeData spikes = simulation.take_spikes(0);
    for (std::size_t i = 0; i < spikes.steps.size(); ++i) {
        std::cout << spikes.steps[i] << ' ' << spikes.neurons[i] << '\n';
    }
} catch (const std::exception& error) {
    // Errors name the object, the value, the bound and the remedy.
    std::cerr << error.what() << '\n';
    return 1;
}
