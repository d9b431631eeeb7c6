#include "cable/cell/cell_fingerprint.hpp"

#include "ranvier/base/description_hash.hpp"

namespace ranvier::cable {

namespace {

class Mixer : public DescriptionHash {
   public:
    void place(Place where) {
        whole(where.section);
        number(where.position);
    }
};

void add_form(Mixer& mixer, const Compartments& compartments) {
    for (const Section& section : compartments.morphology().sections()) {
        mixer.whole(static_cast<std::uint64_t>(section.parent));
        mixer.number(section.parent_position);
        mixer.numbers(section.distances);
        mixer.numbers(section.radii);
    }
    for (const Compartment& compartment : compartments.compartments())
        mixer.place({compartment.section, compartment.end});
}

void add(Mixer& mixer, const PlacedClamp& clamp) {
    mixer.text(clamp.name);
    mixer.whole(static_cast<std::uint64_t>(clamp.kind));
    mixer.place(clamp.place);
    mixer.numbers(clamp.levels);
    mixer.numbers(clamp.durations);
    mixer.numbers({clamp.start, clamp.resistance});
}

void add(Mixer& mixer, const Probe& probe) {
    mixer.text(probe.name);
    mixer.whole(static_cast<std::uint64_t>(probe.kind));
    mixer.place(probe.place);
    mixer.whole(probe.of);
    mixer.whole(probe.gate);
}

void add(Mixer& mixer, const PaintedMechanism& painted) {
    mixer.text(painted.mechanism->name);
    if (painted.mechanism->fingerprint != 0) mixer.whole(painted.mechanism->fingerprint);
    mixer.numbers(painted.covered);
    for (const auto& values : painted.parameters) mixer.numbers(values);
    for (const std::int32_t index : painted.per_cell) mixer.whole(static_cast<std::uint64_t>(index));
}

void add(Mixer& mixer, const PerCellUse& use) {
    mixer.whole(static_cast<std::uint64_t>(use.kind));
    for (const std::uint32_t each : {use.parameter, use.of, use.index}) mixer.whole(each);
    mixer.numbers(use.profile);
}

void add(Mixer& mixer, const PlacedReceptor& receptor) {
    mixer.text(receptor.name);
    mixer.text(receptor.model->name);
    if (receptor.model->general != nullptr) mixer.whole(receptor.model->general->fingerprint);
    mixer.numbers(receptor.parameters);
    if (receptor.places.size() > 1) mixer.whole(receptor.places.size());
    for (const Place place : receptor.places) mixer.place(place);
}

}  // namespace

std::uint64_t fingerprint_of(const CellSpec& spec) {
    Mixer mixer;
    add_form(mixer, spec.compartments);
    mixer.numbers(spec.capacitance);
    for (const PlacedClamp& clamp : spec.clamps) add(mixer, clamp);
    for (const Probe& probe : spec.probes) add(mixer, probe);
    mixer.numbers({spec.axial_resistivity, spec.celsius, spec.initial_potential, spec.threshold});
    mixer.whole(static_cast<std::uint64_t>(spec.rates));
    mixer.whole(static_cast<std::uint64_t>(spec.scheme));
    if (spec.separate_sites) mixer.text("separate sites");
    if (spec.refractory_time > 0.0) mixer.number(spec.refractory_time);
    for (const PaintedMechanism& painted : spec.mechanisms) add(mixer, painted);
    for (const PerCellParameter& parameter : spec.per_cell) mixer.text(parameter.name);
    for (const PerCellUse& use : spec.uses) add(mixer, use);
    for (const PlacedReceptor& receptor : spec.receptors) add(mixer, receptor);
    mixer.place(spec.detector);
    for (const PlacedElectrode& electrode : spec.electrodes) {
        mixer.text(electrode.name);
        mixer.place(electrode.place);
    }
    return mixer.value();
}

}  // namespace ranvier::cable
