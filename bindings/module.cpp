#include "bindings.hpp"

NB_MODULE(_core, module) {
    module.doc() = "The compiled core of Ranvier. Users call the package around it.";
    ranvier::bindings::bind_errors(module);
    ranvier::bindings::bind_models(module);
    ranvier::bindings::bind_network(module);
    ranvier::bindings::bind_simulation(module);
    ranvier::bindings::bind_info(module);
}
