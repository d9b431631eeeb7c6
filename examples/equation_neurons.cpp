// Runs neurons whose equations were compiled to a program: a simulation in C++ without Python.
//
//     ranvier compile aeif_cond_exp
//     equation_neurons aeif_cond_exp.program --weight 6 --rate 8000 --set I_e=500 >spikes.txt
//
// A hundred neurons with their own Poisson spikes excite each other. Each line of the output is a spike: step and neuron.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/equations/program_model.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/engine/simulation.hpp"
#include "ranvier/models/equations/program_text.hpp"
#include "ranvier/models/registry.hpp"

namespace {

using namespace ranvier;

struct Options {
    std::string file;
    double weight = 1.0;
    double rate = 8000.0;  ///< spikes/s, for each neuron
    double duration = 200.0;  ///< ms
    network::NamedValues values;
};

double number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::invalid_argument("'" + std::string(text) + "' is not a number");
    }
    return value;
}

Options read_options(const std::vector<std::string_view>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (!word.starts_with("--")) {
            options.file = word;
            continue;
        }
        if (++i == words.size()) throw std::invalid_argument(std::string(word) + " needs a value");
        if (word == "--weight") {
            options.weight = number(words[i]);
        } else if (word == "--rate") {
            options.rate = number(words[i]);
        } else if (word == "--duration") {
            options.duration = number(words[i]);
        } else if (const std::size_t equals = words[i].find('='); word == "--set" && equals < words[i].size()) {
            options.values.emplace(words[i].substr(0, equals), number(words[i].substr(equals + 1)));
        } else {
            throw std::invalid_argument("there is no option " + std::string(word));
        }
    }
    if (options.file.empty()) throw std::invalid_argument("name the file of a program");
    return options;
}

void run(const Options& options) {
    const auto model = std::make_shared<const models::ProgramModel>(models::read_program_file(options.file));
    network::Network network(0.1, 1);
    const auto neurons = network.create({.name = "neurons", .model = model, .size = 100, .values = options.values});
    const IdSequence all = {network.population(neurons).first, 1, 100};
    const std::string receptor = model->description().receptors.front();
    network.connect({.sources = all,
                     .targets = all,
                     .rule = {"fixed_indegree", {{"indegree", 10}}},
                     .weight = options.weight,
                     .delay = 1.5,
                     .receptor = receptor});
    network.stimulate({.model = &models::poisson_generator,
                       .targets = all,
                       .parameters = {{"rate", options.rate}},
                       .weight = options.weight,
                       .receptor = receptor});
    const network::RecorderIndex recorder = network.record_spikes({.neurons = {all}});
    engine::Simulation simulation(std::move(network), {});
    simulation.run(static_cast<Step>(options.duration / 0.1 + 0.5));
    const engine::SpikeData spikes = simulation.take_spikes(recorder);
    for (std::size_t i = 0; i < spikes.steps.size(); ++i) {
        std::printf("%lld %llu\n", static_cast<long long>(spikes.steps[i]),
                    static_cast<unsigned long long>(spikes.neurons[i]));
    }
}

}  // namespace

int main(int count, char** words) {
    try {
        run(read_options({words + 1, words + count}));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "equation_neurons: %s\n", error.what());
        return 2;
    }
    return 0;
}
