#include <string>
#include <vector>

#include "base/build_info.hpp"
#include "bindings.hpp"
#include "parallel/processors.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::bindings {

namespace {

/// Number of processors available to this process, possibly fewer than the machine has.
std::uint32_t usable_processors() { return static_cast<std::uint32_t>(parallel::available_processors().size()); }

std::vector<std::string> instruction_set_names() {
    std::vector<std::string> names;
    for (const InstructionSet set : available_instruction_sets()) names.emplace_back(to_string(set));
    return names;
}

}  // namespace

void bind_info(nb::module_& module) {
    module.attr("version") = build_info::version;
    module.attr("source_revision") = build_info::source_revision;
    module.attr("compiler") = build_info::compiler;
    module.attr("build_type") = build_info::build_type;
    module.attr("compiler_flags") = build_info::flags;
    module.attr("architecture") = build_info::architecture;
    module.attr("system") = build_info::system;
    module.def("instruction_sets", instruction_set_names, "The instruction sets of this processor, narrowest first.");
    module.def("usable_processors", usable_processors, "Number of processors available to this process.");
    module.def(
        "available_memory", engine::available_memory, nb::arg("processes") = 1,
        "Bytes of memory still available to this process if this number of processes of the machine need as much.");
}

}  // namespace ranvier::bindings
