#include <nanobind/stl/shared_ptr.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "programs.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::bindings {

namespace {

using connect::PairFunction;
using connect::PairQuantity;
using connect::PairRanges;

OutputArray<double> evaluate(const PairFunction& self, const std::map<std::string, InputArray<double>>& quantities,
                             const std::vector<InputArray<std::uint64_t>>& words, std::string_view set) {
    std::size_t count = 0;
    bool has_count = false;
    const auto check = [&](std::size_t size) {
        if (has_count && size != count) {
            throw ShapeError({.object = "quantities of pairs",
                              .value = "arrays of " + std::to_string(count) + " and " + std::to_string(size),
                              .bound = "they must have one number for each pair",
                              .remedy = "give arrays of the same length"});
        }
        count = size;
        has_count = true;
    };
    std::array<const double*, connect::pair_quantity_count> given{};
    for (const auto& [name, array] : quantities) {
        check(array.size());
        given[static_cast<std::size_t>(connect::parse_pair_quantity(name))] = array.data();
    }
    for (const PairQuantity input : self.inputs()) {
        if (given[static_cast<std::size_t>(input)] == nullptr && count > 0) {
            throw ShapeError({.object = std::string(to_string(input)) + " of pairs",
                              .value = "missing",
                              .bound = "expression '" + self.text() + "' uses it",
                              .remedy = "give an array"});
        }
    }
    std::vector<const std::uint64_t*> drawn;
    for (const InputArray<std::uint64_t>& each : words) {
        check(each.size());
        drawn.push_back(each.data());
    }
    if (drawn.size() < self.draw_count()) {
        throw ShapeError({.object = "random words of expression '" + self.text() + "'",
                          .value = std::to_string(drawn.size()) + " arrays",
                          .bound = "it draws " + std::to_string(self.draw_count()) + " numbers",
                          .remedy = "give one array for each"});
    }
    std::vector<double> out(count);
    self.evaluate(parse_instruction_set(set), count, given, drawn, out.data());
    return to_array<double>(std::move(out));
}

std::pair<double, double> range(const PairFunction& self, const std::map<std::string, std::pair<double, double>>& of) {
    PairRanges ranges;
    for (const auto& [name, ends] : of) ranges[connect::parse_pair_quantity(name)] = {ends.first, ends.second};
    const PairRanges::Range found = self.range(ranges);
    return {found.low, found.high};
}

}  // namespace

void bind_pair_functions(nb::module_& module) {
    nb::class_<PairFunction>(module, "PairFunction", "A number for each neuron or pair of neurons: an expression.")
        .def(
            "__init__",
            [](PairFunction* self, const nb::object& program, const std::vector<std::string>& inputs,
               std::string text) {
                std::vector<PairQuantity> quantities;
                quantities.reserve(inputs.size());
                for (const std::string& name : inputs) quantities.push_back(connect::parse_pair_quantity(name));
                new (self) PairFunction(to_program(program), std::move(quantities), std::move(text));
            },
            nb::arg("program"), nb::arg("inputs"), nb::arg("text"),
            "Of a Program (ranvier.equations.program), the quantity of each of its inputs, and the text of the user.")
        .def_prop_ro("text", [](const PairFunction& self) { return self.text(); })
        .def_prop_ro(
            "inputs",
            [](const PairFunction& self) {
                std::vector<std::string> names;
                for (const PairQuantity input : self.inputs()) names.emplace_back(to_string(input));
                return names;
            },
            "Quantities on which it depends.")
        .def_prop_ro("is_spatial", [](const PairFunction& self) { return self.is_spatial(); })
        .def_prop_ro("is_radial", [](const PairFunction& self) { return self.is_radial(); })
        .def_prop_ro("draws", [](const PairFunction& self) { return self.draws(); })
        .def("evaluate", evaluate, nb::arg("quantities"), nb::arg("words"), nb::arg("instruction_set"),
             "The values of pairs, from arrays of quantities by name and one array of random words for each draw.")
        .def("range", range, nb::arg("ranges"), "The least and the greatest value for quantities in these ranges.");
}

}  // namespace ranvier::bindings
