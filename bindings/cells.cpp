#include <nanobind/stl/shared_ptr.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "cable/mechanisms/general_mechanism.hpp"
#include "descriptions.hpp"
#include "programs.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/cable/groups/cell_model.hpp"
#include "ranvier/cable/mechanisms/channel.hpp"

namespace ranvier::bindings {

namespace {

using cable::CellModel;
using cable::CellSpec;
using cable::Channel;
using cable::ChannelDescription;
using cable::Compartment;
using cable::Compartments;
using cable::GeneralDescription;
using cable::GeneralMechanism;
using cable::MechanismModel;
using cable::Place;
using cable::Probe;
using cable::ReceptorModel;
using cable::UserMechanism;

using InputPlace = std::pair<std::uint32_t, double>;
/// Name or channel, covered membrane, values of parameters, and for each the per-cell parameter that multiplies it,
/// or -1.
using InputMechanism = std::tuple<std::variant<std::string, std::shared_ptr<const UserMechanism>>, InputArray<double>,
                                  std::vector<InputArray<double>>, std::vector<std::int32_t>>;
/// Name, default.
using InputPerCell = std::pair<std::string, double>;
/// A target of a per-cell parameter: kind, per-cell parameter, receptor or clamp, its parameter or level, profile.
using InputUse = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, InputArray<double>>;
/// Name, place.
using InputElectrode = std::pair<std::string, InputPlace>;
/// Name, model, values of parameters, places.
using InputReceptor = std::tuple<std::string, std::variant<std::string, std::shared_ptr<const GeneralMechanism>>,
                                 std::vector<double>, std::vector<InputPlace>>;
/// Name, kind, place, start, levels, durations, resistance.
using InputClamp =
    std::tuple<std::string, std::string, InputPlace, double, std::vector<double>, std::vector<double>, double>;
/// Name, kind, place, mechanism, receptor or clamp, gate or current.
using InputProbe = std::tuple<std::string, std::string, InputPlace, std::uint32_t, std::uint32_t>;

Place to_place(const InputPlace& place) { return {place.first, place.second}; }

/// The points of all sections are concatenated: those of section i are the next `point_counts[i]`.
cable::Morphology to_morphology(const InputArray<std::int64_t>& parents, const InputArray<double>& positions,
                                const InputArray<std::int64_t>& tags, const InputArray<std::int64_t>& point_counts,
                                const InputArray<double>& distances, const InputArray<double>& radii) {
    std::vector<cable::Section> sections(parents.size());
    std::size_t point = 0;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        cable::Section& section = sections[i];
        section.parent = static_cast<std::int32_t>(parents.data()[i]);
        section.parent_position = positions.data()[i];
        section.tag = static_cast<std::int32_t>(tags.data()[i]);
        const auto count = static_cast<std::size_t>(point_counts.data()[i]);
        section.distances.assign(distances.data() + point, distances.data() + point + count);
        section.radii.assign(radii.data() + point, radii.data() + point + count);
        point += count;
    }
    return cable::Morphology(std::move(sections));
}

template <class Value, class Member>
OutputArray<Value> column(const Compartments& self, Member member) {
    std::vector<Value> values;
    values.reserve(self.size());
    for (const Compartment& compartment : self.compartments())
        values.push_back(static_cast<Value>(compartment.*member));
    return to_array<Value>(std::move(values));
}

template <class Choice>
Choice choose(std::string_view option, std::string_view name, const std::map<std::string_view, Choice>& known) {
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    std::vector<std::string_view> names;
    names.reserve(known.size());
    for (const auto& [each, choice] : known) names.push_back(each);
    throw unknown_name(option, name, names);
}

std::vector<cable::PerCellUse> to_uses(const std::vector<InputUse>& given) {
    using Kind = cable::PerCellUse::Kind;
    std::vector<cable::PerCellUse> uses;
    uses.reserve(given.size());
    for (const auto& [kind, parameter, of, index, profile] : given) {
        uses.push_back({choose<Kind>("kind of per-cell parameter", kind,
                                     {{"capacitance", Kind::capacitance},
                                      {"axial_resistivity", Kind::axial_resistivity},
                                      {"initial_potential", Kind::initial_potential},
                                      {"threshold", Kind::threshold},
                                      {"receptor", Kind::receptor},
                                      {"clamp_start", Kind::clamp_start},
                                      {"clamp_level", Kind::clamp_level},
                                      {"clamp_duration", Kind::clamp_duration},
                                      {"clamp_resistance", Kind::clamp_resistance}}),
                        parameter, of, index, to_vector<double>(profile)});
    }
    return uses;
}

std::vector<Probe> to_probes(const std::vector<InputProbe>& given) {
    std::vector<Probe> probes;
    probes.reserve(given.size());
    for (const auto& [name, kind, place, of, gate] : given) {
        probes.push_back({name,
                          choose<Probe::Kind>("kind of probe", kind,
                                              {{"potential", Probe::Kind::potential},
                                               {"gate", Probe::Kind::gate},
                                               {"conductance", Probe::Kind::conductance},
                                               {"current", Probe::Kind::current},
                                               {"receptor_current", Probe::Kind::receptor_current},
                                               {"calcium", Probe::Kind::calcium},
                                               {"calcium_reversal", Probe::Kind::calcium_reversal},
                                               {"axial_current", Probe::Kind::axial_current},
                                               {"clamp_current", Probe::Kind::clamp_current},
                                               {"electrode_current", Probe::Kind::electrode_current}}),
                          to_place(place), of, gate});
    }
    return probes;
}

cable::PaintedMechanism to_painted(const InputMechanism& given) {
    const auto& [which, covered, parameters, per_cell] = given;
    cable::PaintedMechanism painted;
    painted.covered = to_vector<double>(covered);
    painted.per_cell = per_cell;
    if (const auto* const name = std::get_if<std::string>(&which)) {
        painted.mechanism = &cable::find_mechanism(*name);
    } else {
        painted.described = std::get<std::shared_ptr<const UserMechanism>>(which);
        painted.mechanism = &painted.described->model();
    }
    for (const auto& values : parameters) painted.parameters.push_back(to_vector<double>(values));
    return painted;
}

cable::Follows to_followed(const std::string& name) {
    if (name == "potential") return cable::Follows::potential;
    if (name == "calcium") return cable::Follows::calcium;
    if (name == "both") return cable::Follows::both;
    const std::string_view known[]{"potential", "calcium", "both"};
    throw unknown_name("what gates follow", name, known);
}

cable::PlacedReceptor to_receptor(const std::string& name,
                                  const std::variant<std::string, std::shared_ptr<const GeneralMechanism>>& which,
                                  const std::vector<double>& parameters) {
    cable::PlacedReceptor placed{.name = name, .model = nullptr, .parameters = parameters, .places = {}};
    if (const auto* const built_in = std::get_if<std::string>(&which)) {
        placed.model = &cable::find_receptor(*built_in);
    } else {
        const auto& described = std::get<std::shared_ptr<const GeneralMechanism>>(which);
        placed.model = &described->receptor();
        placed.described = described;
    }
    return placed;
}

ChannelDescription to_channel(const nb::handle& given) {
    ChannelDescription made{.name = read<std::string>(given, "name"),
                            .summary = read<std::string>(given, "summary"),
                            .equations = read<std::string>(given, "equations"),
                            .reference = read<std::string>(given, "reference"),
                            .parameters = read_parameters(given),
                            .follows = to_followed(read<std::string>(given, "follows")),
                            .gates = {},
                            .terms = {},
                            .currents = {},
                            .derive = read_program(given, "derive")};
    for (const nb::handle given_gate : read<nb::sequence>(given, "gates")) {
        ChannelDescription::Gate gate{.name = read<std::string>(given_gate, "name"),
                                      .meaning = read<std::string>(given_gate, "meaning"),
                                      .rates = read_program(given_gate, "rates"),
                                      .initial = std::nullopt};
        if (!given_gate.attr("initial").is_none()) gate.initial = read_program(given_gate, "initial");
        made.gates.push_back(std::move(gate));
    }
    for (const nb::handle given_term : read<nb::sequence>(given, "terms")) {
        ChannelDescription::Term term{.conductance = read<std::uint32_t>(given_term, "conductance"),
                                      .reversal = read<std::uint32_t>(given_term, "reversal"),
                                      .gates = {},
                                      .carries_calcium = read<bool>(given_term, "carries_calcium")};
        using InputPower = std::pair<std::uint32_t, std::uint32_t>;
        for (const auto& [gate, power] : read<std::vector<InputPower>>(given_term, "gates")) {
            term.gates.push_back({gate, power});
        }
        made.terms.push_back(std::move(term));
    }
    for (const nb::handle given_current : read<nb::sequence>(given, "currents")) {
        made.currents.push_back({.name = read<std::string>(given_current, "name"),
                                 .terms = read<std::vector<std::uint32_t>>(given_current, "terms")});
    }
    return made;
}

GeneralDescription to_general(const nb::handle& given) {
    GeneralDescription made{.name = read<std::string>(given, "name"),
                            .summary = read<std::string>(given, "summary"),
                            .equations = read<std::string>(given, "equations"),
                            .reference = read<std::string>(given, "reference"),
                            .parameters = read_parameters(given),
                            .states = {},
                            .currents = {},
                            .calcium = read<std::int32_t>(given, "calcium"),
                            .outside = read<std::int32_t>(given, "outside"),
                            .initial = read_program(given, "initial"),
                            .step = read_program(given, "step"),
                            .current = read_program(given, "current"),
                            .jumps = std::nullopt};
    if (!given.attr("jumps").is_none()) made.jumps = read_program(given, "jumps");
    for (const nb::handle each : read<nb::sequence>(given, "states")) {
        made.states.push_back({.name = read<std::string>(each, "name"),
                               .unit = read<std::string>(each.attr("unit"), "text"),
                               .meaning = read<std::string>(each, "meaning")});
    }
    for (const nb::handle each : read<nb::sequence>(given, "currents")) {
        made.currents.push_back({.name = read<std::string>(each, "name"),
                                 .carries_calcium = read<bool>(each, "carries_calcium"),
                                 .flows = read<bool>(each, "flows")});
    }
    return made;
}

void make_cell(CellModel* self, const Compartments& compartments, const InputArray<double>& capacitance,
               double axial_resistivity, double celsius, double initial_potential, std::string_view rates,
               std::string_view scheme, const std::vector<InputPerCell>& per_cell, const std::vector<InputUse>& uses,
               const std::vector<InputMechanism>& mechanisms, const std::vector<InputReceptor>& receptors,
               const std::vector<InputClamp>& clamps, const std::vector<InputProbe>& probes, const InputPlace& detector,
               double threshold, double refractory_time, bool separate_sites,
               const std::vector<InputElectrode>& electrodes) {
    CellSpec spec{.compartments = compartments,
                  .capacitance = to_vector<double>(capacitance),
                  .axial_resistivity = axial_resistivity,
                  .celsius = celsius,
                  .initial_potential = initial_potential,
                  .rates = choose<cable::RateMethod>(
                      "rates", rates, {{"table", cable::RateMethod::table}, {"exact", cable::RateMethod::exact}}),
                  .scheme = choose<cable::Scheme>(
                      "scheme", scheme,
                      {{"backward_euler", cable::Scheme::backward_euler}, {"staggered", cable::Scheme::staggered}}),
                  .per_cell = {},
                  .uses = to_uses(uses),
                  .mechanisms = {},
                  .receptors = {},
                  .separate_sites = separate_sites,
                  .clamps = {},
                  .probes = {},
                  .detector = to_place(detector),
                  .threshold = threshold,
                  .refractory_time = refractory_time,
                  .electrodes = {}};
    for (const auto& [name, place] : electrodes) spec.electrodes.push_back({name, to_place(place)});
    for (const auto& [name, default_value] : per_cell) spec.per_cell.push_back({name, default_value});
    for (const InputMechanism& mechanism : mechanisms) spec.mechanisms.push_back(to_painted(mechanism));
    for (const auto& [name, model, parameters, places] : receptors) {
        spec.receptors.push_back(to_receptor(name, model, parameters));
        for (const InputPlace& place : places) spec.receptors.back().places.push_back(to_place(place));
    }
    for (const auto& [name, kind, place, start, levels, durations, resistance] : clamps) {
        using Kind = cable::PlacedClamp::Kind;
        spec.clamps.push_back(
            {name, choose<Kind>("kind of clamp", kind, {{"current", Kind::current}, {"voltage", Kind::voltage}}),
             to_place(place), start, levels, durations, resistance});
    }
    spec.probes = to_probes(probes);
    new (self) CellModel(std::move(spec));
}

void bind_user_mechanisms(nb::module_& module) {
    nb::class_<UserMechanism>(module, "UserMechanism", "A user-defined mechanism, checked by the core.")
        .def_prop_ro("model", &UserMechanism::model, nb::rv_policy::reference_internal);
    nb::class_<GeneralMechanism, UserMechanism>(module, "GeneralMechanism",
                                                "A user-defined mechanism with arbitrary equations.")
        .def(
            "__init__",
            [](GeneralMechanism* self, const nb::handle& description) {
                new (self) GeneralMechanism(to_general(description));
            },
            nb::arg("description"));
    nb::class_<Channel, UserMechanism>(module, "Channel", "A user-defined mechanism with gates and currents g (V - E).")
        .def(
            "__init__",
            [](Channel* self, const nb::handle& description) { new (self) Channel(to_channel(description)); },
            nb::arg("description"))
        .def(
            "derive", [](const Channel& self, const std::vector<double>& given) { return self.derive(given); },
            nb::arg("given"),
            "Values of the parameters of the model: `given` are those of a user, then degrees Celsius.");
}

void bind_descriptions(nb::module_& module) {
    nb::class_<MechanismModel>(module, "MechanismModel", "The description of a mechanism of the membrane.")
        .def_ro("name", &MechanismModel::name)
        .def_ro("summary", &MechanismModel::summary)
        .def_ro("equations", &MechanismModel::equations)
        .def_ro("reference", &MechanismModel::reference)
        .def_prop_ro(
            "parameters",
            [](nb::pointer_and_handle<MechanismModel> model) { return as_list_of(model.h, model.p->parameters); })
        .def_prop_ro("gates",
                     [](const MechanismModel& model) {
                         std::vector<std::pair<std::string_view, std::string_view>> gates;
                         for (const cable::GateInfo& gate : model.gates) gates.emplace_back(gate.name, gate.meaning);
                         if (model.general == nullptr) return gates;
                         for (const cable::StateInfo& state : model.general->states) {
                             gates.emplace_back(state.name, state.meaning);
                         }
                         return gates;
                     })
        .def_prop_ro("currents",
                     [](const MechanismModel& model) {
                         std::vector<std::string_view> currents;
                         for (const cable::CurrentSum& sum : model.sums) currents.push_back(sum.name);
                         if (!currents.empty()) return currents;
                         if (model.general != nullptr) {
                             for (const auto& current : model.general->currents) currents.push_back(current.name);
                         }
                         for (const cable::CurrentInfo& current : model.currents) currents.push_back(current.name);
                         return currents;
                     })
        .def_prop_ro("is_pool", [](const MechanismModel& model) { return model.is_pool(); })
        .def_ro("measured_celsius", &MechanismModel::measured_celsius,
                "Temperature at which its rates were measured, degrees Celsius; NaN if they do not depend on it.");
    nb::class_<ReceptorModel>(module, "ReceptorModel", "The description of a receptor of detailed cells.")
        .def_ro("name", &ReceptorModel::name)
        .def_ro("summary", &ReceptorModel::summary)
        .def_ro("equations", &ReceptorModel::equations)
        .def_ro("reference", &ReceptorModel::reference)
        .def_prop_ro("parameters", [](nb::pointer_and_handle<ReceptorModel> model) {
            return as_list_of(model.h, model.p->parameters);
        });
    module.def(
        "mechanism_models",
        [] {
            const auto models = cable::mechanisms();
            return std::vector<const MechanismModel*>(models.begin(), models.end());
        },
        nb::rv_policy::reference, "All mechanisms, by name.");
    module.def(
        "receptor_models",
        [] {
            const auto models = cable::receptors();
            return std::vector<const ReceptorModel*>(models.begin(), models.end());
        },
        nb::rv_policy::reference, "All receptors of detailed cells, by name.");
}

}  // namespace

void bind_cells(nb::module_& module) {
    bind_descriptions(module);
    bind_user_mechanisms(module);
    nb::class_<Compartments>(module, "Compartments", "A morphology divided into compartments.")
        .def(
            "__init__",
            [](Compartments* self, const InputArray<std::int64_t>& parents, const InputArray<double>& positions,
               const InputArray<std::int64_t>& tags, const InputArray<std::int64_t>& point_counts,
               const InputArray<double>& distances, const InputArray<double>& radii,
               const InputArray<std::int64_t>& counts) {
                const std::vector<std::uint32_t> counts_of_sections = to_vector<std::uint32_t>(counts);
                new (self) Compartments(to_morphology(parents, positions, tags, point_counts, distances, radii),
                                        counts_of_sections);
            },
            nb::arg("parents"), nb::arg("positions"), nb::arg("tags"), nb::arg("point_counts"), nb::arg("distances"),
            nb::arg("radii"), nb::arg("counts"))
        .def("__len__", &Compartments::size)
        .def_prop_ro(
            "section", [](const Compartments& self) { return column<std::int64_t>(self, &Compartment::section); },
            nb::rv_policy::move)
        .def_prop_ro(
            "begin", [](const Compartments& self) { return column<double>(self, &Compartment::begin); },
            nb::rv_policy::move)
        .def_prop_ro(
            "end", [](const Compartments& self) { return column<double>(self, &Compartment::end); },
            nb::rv_policy::move)
        .def_prop_ro(
            "area", [](const Compartments& self) { return column<double>(self, &Compartment::area); },
            nb::rv_policy::move)
        .def_prop_ro(
            "distance", [](const Compartments& self) { return column<double>(self, &Compartment::distance); },
            nb::rv_policy::move)
        .def(
            "at",
            [](const Compartments& self, std::uint32_t section, double position) {
                return self.at({section, position}, "place");
            },
            nb::arg("section"), nb::arg("position"))
        .def(
            "area_between",
            [](const Compartments& self, std::uint32_t section, double begin, double end) {
                return self.morphology().area(section, begin, end);
            },
            nb::arg("section"), nb::arg("begin"), nb::arg("end"), "Membrane area between two positions, um^2.");
    nb::class_<CellModel, models::UserModel>(module, "CellModel", "A detailed cell, checked by the core.")
        .def("__init__", make_cell, nb::arg("compartments"), nb::arg("capacitance"), nb::kw_only(),
             nb::arg("axial_resistivity"), nb::arg("celsius"), nb::arg("initial_potential"), nb::arg("rates"),
             nb::arg("scheme"), nb::arg("per_cell"), nb::arg("uses"), nb::arg("mechanisms"), nb::arg("receptors"),
             nb::arg("clamps"), nb::arg("probes"), nb::arg("detector"), nb::arg("threshold"),
             nb::arg("refractory_time"), nb::arg("separate_sites"), nb::arg("electrodes"))
        .def_static(
            "of_kinds",
            [](std::vector<std::shared_ptr<const CellModel>> kinds, const InputArray<std::int64_t>& kind_of) {
                return std::make_shared<const CellModel>(std::move(kinds), to_vector<std::uint32_t>(kind_of));
            },
            nb::arg("kinds"), nb::arg("kind_of"), "A population of cells of several kinds: `kind_of` of each cell.");
}

}  // namespace ranvier::bindings
