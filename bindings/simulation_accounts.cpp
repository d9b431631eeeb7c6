#include "simulation.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ranvier::bindings {

namespace {

using engine::Simulation;
using engine::SimulationOptions;

std::map<std::string, std::uint64_t> to_map(const std::vector<engine::MemoryItem>& items) {
    std::map<std::string, std::uint64_t> result;
    for (const engine::MemoryItem& item : items) result[item.component] += item.bytes;
    return result;
}

/// By node number, or "any" for memory of threads that are not bound to a node; then by component.
auto to_map(const std::vector<engine::NodeMemoryItem>& items) {
    std::map<std::string, std::map<std::string, std::uint64_t>> result;
    for (const engine::NodeMemoryItem& item : items) {
        result[item.node ? std::to_string(*item.node) : "any"][item.component] += item.bytes;
    }
    return result;
}

/// By node number; a word for pages without memory, or of unknown location.
auto to_map(const parallel::PagesByNode& pages) {
    std::map<std::string, std::uint64_t> result;
    for (std::size_t node = 0; node < pages.on_node.size(); ++node) {
        if (pages.on_node[node] > 0) result[std::to_string(node)] = pages.on_node[node];
    }
    if (pages.untouched > 0) result["untouched"] = pages.untouched;
    if (pages.unknown > 0) result["unknown"] = pages.unknown;
    return result;
}

/// Columns of equal length, by name.
std::map<std::string, std::vector<double>> to_columns(const std::vector<engine::WorkerTimes>& times) {
    std::map<std::string, std::vector<double>> columns;
    for (const engine::WorkerTimes& t : times) {
        columns["update"].push_back(t.update);
        columns["collocate"].push_back(t.collocate);
        columns["communicate"].push_back(t.communicate);
        columns["deliver"].push_back(t.deliver);
        columns["wait"].push_back(t.wait);
        columns["record"].push_back(t.record);
    }
    return columns;
}

auto epoch_times(const Simulation& simulation) {
    std::vector<double> compute;
    std::vector<double> wait;
    std::vector<double> exchange;
    std::array<std::vector<std::uint64_t>, 6> counts;
    for (const engine::EpochTimes& epoch : simulation.epoch_times()) {
        compute.push_back(epoch.compute);
        wait.push_back(epoch.wait);
        exchange.push_back(epoch.exchange);
        const std::array of_epoch{epoch.spikes_received, epoch.spikes,        epoch.spikes_sent,
                                  epoch.messages,        epoch.failed_checks, epoch.events};
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i].push_back(of_epoch[i]);
    }
    const auto whole = [&](std::size_t i) { return to_array<std::int64_t>(std::move(counts[i])); };
    return std::tuple(to_array<double>(std::move(compute)), to_array<double>(std::move(wait)),
                      to_array<double>(std::move(exchange)), whole(0), whole(1), whole(2), whole(3), whole(4),
                      whole(5));
}

/// Columns of the pieces of work of all threads, one thread after another, and the names of the kinds of work.
nb::typed<nb::dict, nb::str, nb::any> trace(const Simulation& simulation) {
    const std::vector<std::vector<engine::TracedWork>> traces = simulation.trace();
    const auto whole = [&](auto value) {
        std::vector<std::int64_t> column;
        for (std::size_t thread = 0; thread < traces.size(); ++thread) {
            for (const engine::TracedWork& piece : traces[thread]) {
                column.push_back(static_cast<std::int64_t>(value(thread, piece)));
            }
        }
        return nb::cast(to_array<std::int64_t>(std::move(column)));
    };
    const auto seconds = [&](float engine::TracedWork::* part) {
        std::vector<double> column;
        for (const std::vector<engine::TracedWork>& pieces : traces) {
            for (const engine::TracedWork& piece : pieces) column.push_back(piece.*part);
        }
        return nb::cast(to_array<double>(std::move(column)));
    };
    const auto nanoseconds = [](engine::LapTimer::Clock::time_point time) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
    };
    using Piece = engine::TracedWork;
    nb::typed<nb::dict, nb::str, nb::any> columns;
    columns["thread"] = whole([](std::size_t thread, const Piece&) { return thread; });
    columns["shard"] = whole([](std::size_t, const Piece& piece) { return piece.shard; });
    columns["kind"] = whole([](std::size_t, const Piece& piece) { return piece.kind; });
    const auto& kinds = ChoiceNames<engine::WorkKind>::names;
    columns["kinds"] = std::vector<std::string>(kinds.begin(), kinds.end());
    columns["round"] = whole([](std::size_t, const Piece& piece) { return piece.round; });
    columns["first_step"] = whole([](std::size_t, const Piece& piece) { return piece.first; });
    columns["last_step"] = whole([](std::size_t, const Piece& piece) { return piece.last; });
    columns["events"] = whole([](std::size_t, const Piece& piece) { return piece.events; });
    columns["begin"] = whole([&](std::size_t, const Piece& piece) { return nanoseconds(piece.begin); });
    columns["end"] = whole([&](std::size_t, const Piece& piece) { return nanoseconds(piece.end); });
    columns["read"] = seconds(&Piece::read);
    columns["deliver"] = seconds(&Piece::deliver);
    columns["update"] = seconds(&Piece::update);
    columns["record"] = seconds(&Piece::record);
    columns["collocate"] = seconds(&Piece::collocate);
    columns["communicate"] = seconds(&Piece::communicate);
    columns["wait"] = seconds(&Piece::wait);
    return columns;
}

std::map<std::string, std::uint64_t> traffic_counts(const engine::Traffic& traffic) {
    const comm::ExchangeCounts& counts = traffic.counts;
    return {{"spikes_sent", counts.spikes_sent},
            {"spikes_received", counts.spikes_received},
            {"bytes_sent", counts.bytes_sent},
            {"messages", counts.messages},
            {"notifications", counts.notifications},
            {"exchanges", counts.exchanges},
            {"rounds", counts.rounds},
            {"failed_checks", counts.failed_checks},
            {"buffer_bytes", counts.buffer_bytes},
            {"presynaptic_entries", traffic.presynaptic_entries},
            {"presynaptic_bytes", traffic.presynaptic_bytes},
            {"build_rounds", traffic.build_rounds}};
}

}  // namespace

void bind_results(nb::module_& module) {
    nb::class_<engine::PhaseTimes>(module, "PhaseTimes", "Seconds of wall-clock time in each phase.")
        .def_ro("build", &engine::PhaseTimes::build)
        .def_ro("init", &engine::PhaseTimes::init)
        .def_ro("simulation", &engine::PhaseTimes::simulation)
        .def_ro("update", &engine::PhaseTimes::update)
        .def_ro("collocate", &engine::PhaseTimes::collocate)
        .def_ro("communicate", &engine::PhaseTimes::communicate)
        .def_ro("deliver", &engine::PhaseTimes::deliver)
        .def_ro("wait", &engine::PhaseTimes::wait)
        .def_ro("record", &engine::PhaseTimes::record);
    nb::class_<engine::Counts>(module, "Counts", "Sizes and counts of events.")
        .def_ro("neurons", &engine::Counts::neurons)
        .def_ro("synapses", &engine::Counts::synapses)
        .def_ro("spikes", &engine::Counts::spikes)
        .def_ro("synaptic_events", &engine::Counts::synaptic_events)
        .def_ro("steps", &engine::Counts::steps)
        .def_ro("population_spikes", &engine::Counts::population_spikes);
}

void bind_accounts(nb::class_<Simulation>& simulation) {
    simulation.def("counts", &Simulation::counts, nb::call_guard<Unlocked>())
        .def("reset_counts", &Simulation::reset_counts)
        .def("times", &Simulation::times)
        .def(
            "worker_times", [](const Simulation& self) { return to_columns(self.worker_times()); },
            "Seconds by phase, for each thread of this process.")
        .def("epoch_times", epoch_times,
             "Seconds of computation, waiting and exchange of each epoch that was traced; spikes received, fired and "
             "sent "
             "in it, messages, failed checks of conservation, and synaptic events.")
        .def("trace", trace,
             "The latest pieces of work of each thread, as columns; times in seconds, and begins and ends in "
             "nanoseconds of the system's clock.")
        .def_prop_ro("exchange", [](const Simulation& self) { return self.traffic().method; })
        .def(
            "traffic", [](const Simulation& self) { return traffic_counts(self.traffic()); },
            "Traffic of this process.")
        .def("greatest_fan_out", &Simulation::greatest_fan_out, nb::call_guard<Unlocked>(),
             "The most processes that a spike of a neuron of this process is sent to.")
        .def(
            "memory", [](const Simulation& self) { return to_map(self.memory()); }, "Bytes by component.")
        .def(
            "device_memory", [](const Simulation& self) { return to_map(self.device_memory()); },
            "Bytes on the device by component; empty without one.")
        .def(
            "memory_by_node", [](const Simulation& self) { return to_map(self.memory_by_node()); },
            "Bytes by NUMA node (or \"any\") and component.")
        .def(
            "memory_pages", [](const Simulation& self) { return to_map(self.memory_pages()); },
            "Bytes of the pages of larger arrays, by NUMA node.");
}

void bind_forecasts(nb::module_& module) {
    module.def(
        "exchanges",
        [] {
            std::map<std::string, std::string> methods;
            for (const comm::ExchangeInfo* info : comm::exchanges()) methods.emplace(info->name, info->summary);
            return methods;
        },
        "The methods of exchanging spikes, by name, with a summary of each.");
    module.def(
        "exchange_traits",
        [] {
            std::map<std::string, std::map<std::string, bool>> traits;
            for (const comm::ExchangeInfo* info : comm::exchanges()) {
                traits[std::string(info->name)] = {
                    {"directed", info->directed}, {"on_host", info->on_host}, {"groups_by_host", info->groups_by_host}};
            }
            return traits;
        },
        "By name of a method: whether it sends spikes only where they are needed, whether all processes must be on one "
        "host, and whether it groups processes by host.");
    module.def(
        "predict_memory",
        [](const network::Network& network, const SimulationOptions& options, std::int32_t ranks, std::int32_t rank,
           double rate, double most_in_step, double most_in_epoch, double time) {
            return to_map(engine::predict_memory(
                network, options, ranks, Rank{rank},
                {.rate = rate, .most_in_step = most_in_step, .most_in_epoch = most_in_epoch, .time = time}));
        },
        nb::arg("network"), nb::arg("options"), nb::arg("ranks") = 1, nb::arg("rank") = 0, nb::arg("rate") = 10.0,
        nb::arg("most_in_step") = 0.0, nb::arg("most_in_epoch") = 0.0,
        nb::arg("time") = std::numeric_limits<double>::infinity(), "Expected bytes of a simulation, by component.");
    module.def("sorts_connections", engine::sorts_connections, nb::arg("network"), nb::arg("options"), nb::arg("ranks"),
               "Whether connections would be sorted by source.");
}

}  // namespace ranvier::bindings
