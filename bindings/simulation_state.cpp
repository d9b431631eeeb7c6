#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "engine/state/state_loader.hpp"
#include "engine/state/state_saver.hpp"
#include "network/network_parts.hpp"
#include "simulation.hpp"

/// Saving and loading the state of simulations.
namespace ranvier::bindings {

namespace {

using engine::Simulation;
using engine::StateLoader;
using engine::StateSaver;
using engine::StateTotals;

using OutputColumn = std::variant<OutputArray<float>, OutputArray<double>, OutputArray<std::int32_t>,
                                  OutputArray<std::uint32_t>, OutputArray<std::int64_t>>;
using InputColumn = std::variant<InputArray<float>, InputArray<double>, InputArray<std::int32_t>,
                                 InputArray<std::uint32_t>, InputArray<std::int64_t>>;
/// Name, whether it is a list, values.
using OutputColumns = std::vector<std::tuple<std::string, bool, OutputColumn>>;
using InputColumns = std::vector<std::tuple<std::string, bool, InputColumn>>;

OutputColumns to_python(std::vector<StateColumns::Column> columns) {
    OutputColumns given;
    for (StateColumns::Column& column : columns) {
        std::visit(
            [&]<class Value>(std::vector<Value>& values) {
                given.emplace_back(std::move(column.name), column.is_list, to_array<Value>(std::move(values)));
            },
            column.values);
    }
    return given;
}

std::vector<StateColumns::Column> from_python(const InputColumns& given) {
    std::vector<StateColumns::Column> columns;
    for (const auto& [name, is_list, array] : given) {
        StateColumns::Column& column = columns.emplace_back();
        column.name = name;
        column.is_list = is_list;
        std::visit(
            [&]<class Value>(const InputArray<Value>& values) {
                column.values = std::vector<Value>(values.data(), values.data() + values.size());
            },
            array);
    }
    return columns;
}

template <class State>
std::vector<std::string> names(const State& state) {
    std::vector<std::string> names;
    for (const engine::StateTable& table : state.tables()) names.push_back(table.name);
    return names;
}

void bind_totals(nb::module_& module) {
    nb::class_<StateTotals>(module, "StateTotals", "The values of a saved state that are the same on all processes.")
        .def(nb::init<>())
        .def_rw("step", &StateTotals::step)
        .def_rw("counted_from", &StateTotals::counted_from)
        .def_rw("synaptic_events", &StateTotals::synaptic_events)
        .def_rw("population_spikes", &StateTotals::population_spikes)
        .def_rw("weight_ranges", &StateTotals::weight_ranges)
        .def_rw("parameters_set", &StateTotals::parameters_set)
        .def_rw("weights_set", &StateTotals::weights_set)
        .def_rw("spikes_set", &StateTotals::spikes_set);
}

void bind_saver(nb::module_& module) {
    nb::class_<StateSaver>(module, "StateSaver", "Returns the state of a simulation; collective.")
        .def(
            "__init__",
            [](StateSaver* self, Simulation& simulation) {
                const Unlocked unlocked;
                new (self) StateSaver(simulation);
            },
            nb::arg("simulation"), nb::keep_alive<1, 2>())
        .def_prop_ro("totals", &StateSaver::totals, nb::rv_policy::copy)
        .def_prop_ro("tables", names<StateSaver>)
        .def(
            "next",
            [](StateSaver& self, std::size_t table) -> std::optional<OutputColumns> {
                std::optional<std::vector<StateColumns::Column>> columns;
                {
                    const Unlocked unlocked;
                    columns = self.next(table);
                }
                if (!columns) return std::nullopt;
                return to_python(std::move(*columns));
            },
            nb::arg("table"), "The next columns (name, whether it is a list, values) of a table of this process.");
}

void bind_loader(nb::module_& module) {
    nb::class_<StateLoader>(module, "StateLoader", "Loads a saved state into a simulation; collective.")
        .def(
            "__init__",
            [](StateLoader* self, Simulation& simulation, const StateTotals& totals) {
                StateTotals copied = totals;
                const Unlocked unlocked;
                new (self) StateLoader(simulation, std::move(copied));
            },
            nb::arg("simulation"), nb::arg("totals"), nb::keep_alive<1, 2>())
        .def_prop_ro("tables", names<StateLoader>)
        .def(
            "load",
            [](StateLoader& self, std::size_t table, const InputColumns& columns) {
                std::vector<StateColumns::Column> read = from_python(columns);
                const Unlocked unlocked;
                self.load(table, std::move(read));
            },
            nb::arg("table"), nb::arg("columns"))
        .def(
            "ranks_of",
            [](const StateLoader& self, const InputArray<std::int64_t>& ids) {
                return to_array<std::int32_t>(self.ranks_of(std::span(ids.data(), ids.size())));
            },
            nb::arg("ids"), "The processes of this run that have some neurons, by rank.")
        .def(
            "next_sources",
            [](StateLoader& self, std::size_t table) -> std::optional<OutputArray<std::int64_t>> {
                std::optional<std::vector<std::int64_t>> ids;
                {
                    const Unlocked unlocked;
                    ids = self.next_sources(table);
                }
                if (!ids) return std::nullopt;
                return to_array<std::int64_t>(std::move(*ids));
            },
            nb::arg("table"),
            "The next sources of rows of this process in a table of sources, or None. Their state is "
            "loaded next.")
        .def(
            "replay",
            [](StateLoader& self) {
                const Unlocked unlocked;
                self.replay();
            },
            "To be called after the table of spikes and before that of inputs.")
        .def("finish", [](StateLoader& self) {
            const Unlocked unlocked;
            self.finish();
        });
}

}  // namespace

void bind_saved_state(nb::module_& module) {
    bind_totals(module);
    module.def(
        "network_parts",
        [](const network::Network& network, const engine::SimulationOptions& options) {
            std::vector<std::tuple<std::string, std::uint64_t, std::string>> parts;
            for (network::NetworkPart& part :
                 network::network_parts(network, options.precision, options.weight_precision)) {
                parts.emplace_back(std::move(part.name), part.value, std::move(part.text));
            }
            return parts;
        },
        nb::arg("network"), nb::arg("options"),
        "Names, fingerprints and, if they are short, values of all parts that determine the state of a simulation"
        ".");
    bind_saver(module);
    bind_loader(module);
}

}  // namespace ranvier::bindings
