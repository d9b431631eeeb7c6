#include "simulation.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ranvier::bindings {

namespace {

using engine::SimulationOptions;
using Ranks = std::shared_ptr<const std::vector<std::int32_t>>;

using Binding = nb::class_<SimulationOptions>;

/// A choice, as its name.
template <class Choice>
    requires requires(const Choice& choice) { choice.name(); }
void bind_option(Binding& options, const char* name, Choice SimulationOptions::* member) {
    options.def_prop_rw(
        name, [member](const SimulationOptions& self) { return (self.*member).name(); },
        [member](SimulationOptions& self, std::string_view value) { self.*member = Choice(value); });
}

void bind_option(Binding& options, const char* name, Ranks SimulationOptions::* member) {
    options.def_prop_rw(
        name,
        [member](const SimulationOptions& self) {
            return self.*member ? *(self.*member) : std::vector<std::int32_t>();
        },
        [member](SimulationOptions& self, const InputArray<std::int32_t>& ranks) {
            self.*member = std::make_shared<const std::vector<std::int32_t>>(to_vector<std::int32_t>(ranks));
        });
}

void bind_option(Binding& options, const char* name, std::optional<bool> SimulationOptions::* member) {
    options.def_rw(name, member, nb::for_setter(nb::arg("value").none()));
}

template <class Value>
void bind_option(Binding& options, const char* name, Value SimulationOptions::* member) {
    options.def_rw(name, member);
}

}  // namespace

void bind_options(nb::module_& module) {
    Binding options(module, "SimulationOptions", "The options of a simulation.");
    options.def(nb::init<>());
    engine::visit_options(
        [&options](const char* name, auto member, engine::OnRanks) { bind_option(options, name, member); });
}

}  // namespace ranvier::bindings
