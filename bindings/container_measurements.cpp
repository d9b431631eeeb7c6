#include "engine/container_measurements.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bindings.hpp"

namespace ranvier::bindings {

void bind_container_measurements(nb::module_& module) {
    module.def(
        "container_kinds",
        [] {
            std::vector<std::string> names;
            for (const std::string_view name : engine::container_kinds()) names.emplace_back(name);
            return names;
        },
        "Return the kinds of containers that can be compared.");
    module.def(
        "measure_containers",
        [](std::string_view kind, std::uint32_t neurons, Step steps, Step steps_at_once) {
            const Unlocked unlocked;
            const engine::ContainerRun run =
                engine::measure_containers(kind, {.neurons = neurons, .steps = steps, .steps_at_once = steps_at_once});
            return std::tuple(run.seconds, run.iterations, run.events, run.checksum);
        },
        nb::arg("kind"), nb::arg("neurons"), nb::arg("steps"), nb::arg("steps_at_once"),
        "Return the seconds that neurons took for what they do with their containers, how often one had its turn, how "
        "many "
        "events there were, and a checksum of all that came out.");
}

}  // namespace ranvier::bindings
