#include "cable/groups/outside_fields.hpp"

#include <algorithm>
#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier::cable {

OutsideFields::OutsideFields(std::span<const models::GroupField> fields, const CellLayouts& layouts, double step,
                             std::pmr::memory_resource* memory)
    : layouts_(layouts), step_(step), acts_on_(layouts.cells(), false) {
    for (const models::GroupField& given : fields) {
        Field& field = fields_.emplace_back(memory);
        field.given = given;
        field.places.assign(layouts.cells(), nowhere);
        const std::size_t distributions = given.courses ? given.courses->distributions() : 1;
        std::size_t size = 0;
        field.first.reserve(given.neurons.size());
        for (std::uint32_t i = 0; i < given.neurons.size(); ++i) {
            const std::uint32_t cell = given.neurons[i];
            field.places[cell] = i;
            acts_on_[cell] = true;
            field.first.push_back(size);
            size += distributions * layouts.spec(cell).compartments.size();
        }
        field.potentials.assign(size, 0.0);
        if (!given.courses) field.set.assign(given.neurons.size(), -1);
    }
    for (const auto& plan : layouts.kinds()) {
        std::vector<std::uint32_t>& by_slot = compartment_of_slot_.emplace_back();
        if (plan == nullptr) continue;
        const auto nodes = plan->spec->compartments.nodes();
        by_slot.resize(plan->slots(), 0);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            std::uint32_t& compartment = by_slot[plan->slot_of_node[i]];
            if (nodes[i].compartment >= 0) {
                compartment = static_cast<std::uint32_t>(nodes[i].compartment);
            } else if (nodes[i].parent >= 0) {
                compartment = by_slot[plan->slot_of_node[static_cast<std::size_t>(nodes[i].parent)]];
            }
        }
    }
}

Step OutsideFields::unchanged_until(Step step) const {
    Step last = fields_.empty() ? step : step - 1 + fields_.front().given.interval;
    for (const Field& field : fields_) {
        const Step interval = field.given.interval;
        last = std::min(last, ((step - 1) / interval + 1) * interval);
    }
    return last;
}

const std::vector<models::FieldCourses::Part>& OutsideFields::parts(const Field& field, Step step) const {
    if (!field.given.courses) return set_parts_;
    const Step interval = (step - 1) / field.given.interval;
    if (interval != field.parts_of) {
        const double middle = (static_cast<double>(interval) + 0.5) * static_cast<double>(field.given.interval) * step_;
        field.parts = field.given.courses->at(middle);
        field.parts_of = interval;
    }
    return field.parts;
}

void OutsideFields::read(std::size_t cell, Step step, std::span<double> by_slot) const {
    std::ranges::fill(by_slot, 0.0);
    const std::vector<std::uint32_t>& compartments = compartment_of_slot_[layouts_.kind_of(cell)];
    const std::size_t count = layouts_.spec(cell).compartments.size();
    for (const Field& field : fields_) {
        const std::uint32_t place = field.places[cell];
        if (place == nowhere) continue;
        for (const models::FieldCourses::Part& part : parts(field, std::max<Step>(step, 1))) {
            const double* const potentials = field.potentials.data() + field.first[place] + part.distribution * count;
            for (std::size_t slot = 0; slot < by_slot.size(); ++slot) {
                by_slot[slot] += part.factor * potentials[compartments[slot]];
            }
        }
    }
}

void OutsideFields::set_distributions(std::size_t number, std::size_t cell, std::span<const double> potentials) {
    Field& field = fields_[number];
    const std::size_t place = field.places[cell];
    const std::size_t count = layouts_.spec(cell).compartments.size();
    if (!field.given.courses || place == nowhere || potentials.size() != field.given.courses->distributions() * count) {
        throw InternalError("potentials of another field or cell");
    }
    std::ranges::copy(potentials, field.potentials.begin() + static_cast<std::ptrdiff_t>(field.first[place]));
}

void OutsideFields::set_potentials(std::size_t number, std::size_t cell, std::span<const double> potentials, Step now) {
    Field& field = fields_[number];
    const std::size_t place = field.places[cell];
    std::ranges::copy(potentials, field.potentials.begin() + static_cast<std::ptrdiff_t>(field.first[place]));
    field.set[place] = now;
}

Step OutsideFields::potentials_set(std::size_t field, std::size_t cell) const {
    return fields_[field].set[fields_[field].places[cell]];
}

void OutsideFields::serialize(std::size_t cell, StateColumns& columns) {
    const auto nodes = layouts_.spec(cell).compartments.nodes();
    for (std::size_t number = 0; number < fields_.size(); ++number) {
        Field& field = fields_[number];
        if (field.given.courses) continue;
        const bool acts = field.places[cell] != nowhere;
        double* const potentials = acts ? field.potentials.data() + field.first[field.places[cell]] : nullptr;
        double outside = 0.0;
        // By node, as the other lists of a cell.
        columns.serialize_list<double>("outside_" + std::to_string(number), nodes.size(),
                                       [&](std::size_t node) -> double& {
                                           const std::int32_t compartment = nodes[node].compartment;
                                           if (!acts || compartment < 0) return outside;
                                           return potentials[compartment];
                                       });
        std::int64_t set = acts ? field.set[field.places[cell]] : -1;
        columns.serialize("outside_set_" + std::to_string(number), set);
        if (acts && columns.loads()) field.set[field.places[cell]] = set;
    }
}

}  // namespace ranvier::cable
