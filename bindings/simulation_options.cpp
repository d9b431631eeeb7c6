#include "simulation.hpp"

#include <memory>
#include <vector>

namespace ranvier::bindings {

namespace {

using engine::SimulationOptions;
using models::Precision;

models::Precision to_precision(bool is_double) {
    return is_double ? Precision::double_precision : Precision::single_precision;
}

}  // namespace

void bind_options(nb::module_& module) {
    nb::class_<SimulationOptions>(module, "SimulationOptions", "How a simulation is built and run.")
        .def(nb::init<>())
        .def_rw("threads", &SimulationOptions::threads)
        .def_prop_rw(
            "double_state", [](const SimulationOptions& o) { return o.precision == Precision::double_precision; },
            [](SimulationOptions& o, bool is_double) { o.precision = to_precision(is_double); })
        .def_prop_rw(
            "double_weights",
            [](const SimulationOptions& o) { return o.weight_precision == Precision::double_precision; },
            [](SimulationOptions& o, bool is_double) { o.weight_precision = to_precision(is_double); })
        .def_rw("stepping", &SimulationOptions::stepping)
        .def_rw("instruction_set", &SimulationOptions::instruction_set)
        .def_rw("compiled_programs", &SimulationOptions::compiled_programs)
        .def_rw("compiled_rules", &SimulationOptions::compiled_rules)
        .def_rw("programs_to_compile", &SimulationOptions::programs_to_compile)
        .def_rw("table_layout", &SimulationOptions::table_layout)
        .def_rw("delivery_window", &SimulationOptions::delivery_window)
        .def_rw("pinning", &SimulationOptions::pinning)
        .def_rw("shards", &SimulationOptions::shards)
        .def_rw("stealing", &SimulationOptions::stealing)
        .def_rw("costs", &SimulationOptions::costs)
        .def_rw("measure_costs", &SimulationOptions::measure_costs)
        .def_rw("memory_limit", &SimulationOptions::memory_limit)
        .def_rw("placement", &SimulationOptions::placement)
        .def(
            "set_ranks",
            [](SimulationOptions& o, const InputArray<std::int32_t>& ranks) {
                o.ranks = std::make_shared<const std::vector<std::int32_t>>(to_vector<std::int32_t>(ranks));
            },
            nb::arg("ranks"), "A rank for each neuron and source, which goes before the placement.")
        .def_rw("exchange", &SimulationOptions::exchange)
        .def_rw("notifications", &SimulationOptions::notifications)
        .def_rw("intervals", &SimulationOptions::intervals)
        .def_rw("spike_buffer", &SimulationOptions::spike_buffer)
        .def_rw("allgather_spikes", &SimulationOptions::allgather_spikes)
        .def_rw("connection_buffer", &SimulationOptions::connection_buffer)
        .def_rw("sort_connections", &SimulationOptions::sort_connections, nb::for_setter(nb::arg("value").none()))
        .def_rw("keep_sources", &SimulationOptions::keep_sources)
        .def_rw("row_numbering", &SimulationOptions::row_numbering)
        .def_rw("wait_apart", &SimulationOptions::wait_apart)
        .def_rw("trace_epochs", &SimulationOptions::trace_epochs)
        .def_rw("invented_rates", &SimulationOptions::invented_rates);
}

}  // namespace ranvier::bindings
