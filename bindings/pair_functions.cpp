#include <nanobind/stl/shared_ptr.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

void check_size(std::size_t size, std::size_t count) {
    if (size == count) return;
    throw ShapeError({.object = "quantities of pairs",
                      .value = "an array of " + std::to_string(size),
                      .bound = "there are " + std::to_string(count) + " pairs",
                      .remedy = "give one number for each pair"});
}

PairFunction::Quantities to_quantities(const PairFunction& function,
                                       const std::map<std::string, InputArray<double>>& quantities, std::size_t count) {
    PairFunction::Quantities given{};
    for (const auto& [name, array] : quantities) {
        check_size(array.size(), count);
        given[static_cast<std::size_t>(connect::parse_pair_quantity(name))] = array.data();
    }
    for (const PairQuantity input : function.inputs()) {
        if (count == 0 || given[static_cast<std::size_t>(input)] != nullptr) continue;
        throw ShapeError({.object = std::string(to_string(input)) + " of pairs",
                          .value = "missing",
                          .bound = "expression '" + function.text() + "' uses it",
                          .remedy = "give an array"});
    }
    return given;
}

OutputArray<double> evaluate(const PairFunction& self, const std::map<std::string, InputArray<double>>& quantities,
                             const std::vector<InputArray<std::uint64_t>>& words, std::string_view set) {
    std::size_t count = 0;
    if (!words.empty()) count = words.front().size();
    if (!quantities.empty()) count = quantities.begin()->second.size();
    const PairFunction::Quantities given = to_quantities(self, quantities, count);
    std::vector<const std::uint64_t*> drawn;
    for (const InputArray<std::uint64_t>& each : words) {
        check_size(each.size(), count);
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
            [](PairFunction* self, const nb::object& program, const std::vector<std::string>& inputs, std::string text,
               std::vector<std::vector<std::uint32_t>> redraws,
               const std::vector<std::pair<std::string, std::string>>& widths) {
                std::vector<PairQuantity> quantities;
                quantities.reserve(inputs.size());
                for (const std::string& name : inputs) quantities.push_back(connect::parse_pair_quantity(name));
                std::vector<PairFunction::Redraw> parts;
                for (std::vector<std::uint32_t>& draws : redraws) {
                    const auto accepted = static_cast<std::uint32_t>(parts.size() + 1);
                    parts.push_back({.accepted = accepted, .draws = std::move(draws)});
                }
                std::vector<PairFunction::Width> of_parts;
                of_parts.reserve(widths.size());
                for (const auto& [name, remedy] : widths) of_parts.push_back({name, remedy});
                new (self) PairFunction(to_program(program), std::move(quantities), std::move(text), std::move(parts),
                                        std::move(of_parts));
            },
            nb::arg("program"), nb::arg("inputs"), nb::arg("text"),
            nb::arg("redraws") = std::vector<std::vector<std::uint32_t>>(),
            nb::arg("widths") = std::vector<std::pair<std::string, std::string>>(),
            "Of a Program (ranvier.equations.program), the quantity of each of its inputs, and the text of the user. "
            "Its results after the first are truths: parts of the value whose draws, by their numbers, are repeated "
            "until they hold; and then numbers that must not be negative, by their names and remedies.")
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
        .def_prop_ro(
            "constant",
            [](const PairFunction& self) -> std::optional<double> {
                // Negative widths are refused with the object that has the value.
                if (!self.inputs().empty() || self.draws() || !self.widths().empty()) return std::nullopt;
                double value = 0.0;
                self.evaluate(InstructionSet::baseline, 1, {}, {}, &value);
                return value;
            },
            "Its value, if that is the same everywhere.")
        .def_prop_ro("draws", [](const PairFunction& self) { return self.draws(); })
        .def("evaluate", evaluate, nb::arg("quantities"), nb::arg("words"), nb::arg("instruction_set"),
             "The values of pairs, from arrays of quantities by name and one array of random words for each draw.")
        .def(
            "draw",
            [](const PairFunction& self, const std::map<std::string, InputArray<double>>& quantities,
               std::uint64_t count, std::uint64_t seed, std::uint64_t stream, std::string_view set) {
                const PairFunction::Quantities given = to_quantities(self, quantities, count);
                std::vector<double> out(count);
                self.draw(parse_instruction_set(set), count, given, make_key(seed, Purpose::test, 0),
                          PairFunction::Objects::of(stream, 0), out.data());
                return to_array<double>(std::move(out));
            },
            nb::arg("quantities"), nb::arg("count"), nb::arg("seed"), nb::arg("stream"), nb::arg("instruction_set"),
            "The values of some objects of a stream, with random numbers of their own.")
        .def("range", range, nb::arg("ranges"), "The least and the greatest value for quantities in these ranges.");
}

}  // namespace ranvier::bindings
