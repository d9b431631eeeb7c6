#include "bindings.hpp"

NB_MODULE(_core, module) {
    module.doc() = "The compiled core of Ranvier. Users call the package around it.";
    // Notebooks, test runners and daemon threads keep objects until the interpreter ends, so leak warnings would be noise.
    nanobind::set_leak_warnings(false);
    ranvier::bindings::bind_interpreter_lock(module);
    ranvier::bindings::bind_errors(module);
    ranvier::bindings::bind_communicator(module);
    ranvier::bindings::bind_models(module);
    ranvier::bindings::bind_cells(module);
    ranvier::bindings::bind_synapse_programs(module);
    ranvier::bindings::bind_programs(module);
    ranvier::bindings::bind_pair_functions(module);
    ranvier::bindings::bind_positions(module);
    ranvier::bindings::bind_masks(module);
    ranvier::bindings::bind_network(module);
    ranvier::bindings::bind_simulation(module);
    ranvier::bindings::bind_topology(module);
    ranvier::bindings::bind_info(module);
    ranvier::bindings::bind_step_times(module);
    ranvier::bindings::bind_fields(module);
    ranvier::bindings::bind_devices(module);
}
