#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "cable/groups/cell_arrangement.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/state_columns.hpp"
#include "ranvier/models/outside_field.hpp"

namespace ranvier::cable {

/// The potentials outside of the compartments of the cells of a group.
///
/// With the potential phi outside, the potential inside a compartment is V_m + phi. So the current between two neighbouring
/// compartments is g (V_j - V_i) + g (phi_j - phi_i). The second part is constant within an interval of the field, and its
/// sum over a cell is 0 (D. R. McNeal 1976; F. Rattay 1986, "activating function").
///
/// Points where sections meet have no membrane, so the potential outside of them can be chosen freely: it is that of a
/// neighbouring compartment.
class OutsideFields {
   public:
    /// @param step ms
    OutsideFields(std::span<const models::GroupField> fields, const CellLayouts& layouts, double step,
                  std::pmr::memory_resource* memory);

    bool acts_on(std::size_t cell) const { return acts_on_[cell]; }
    /// The last step in which all potentials are those of a step.
    Step unchanged_until(Step step) const;
    /// The potentials that act on a cell in a step, mV. @param by_slot receives them
    void read(std::size_t cell, Step step, std::span<double> by_slot) const;
    void set_distributions(std::size_t field, std::size_t cell, std::span<const double> potentials);
    void set_potentials(std::size_t field, std::size_t cell, std::span<const double> potentials, Step now);
    Step potentials_set(std::size_t field, std::size_t cell) const;
    /// Saves or loads the potentials that were set. All cells have the same columns, also those without such a field.
    void serialize(std::size_t cell, StateColumns& columns);

   private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

    struct Field {
        explicit Field(std::pmr::memory_resource* memory)
            : places(memory), first(memory), potentials(memory), set(memory) {}

        models::GroupField given;
        AlignedVector<std::uint32_t> places;   ///< by cell: its number among those of the field, or nowhere
        AlignedVector<std::size_t> first;      ///< by number: its first potential
        AlignedVector<double> potentials;      ///< mV, [distribution][compartment] of each cell
        AlignedVector<Step> set;               ///< by number, if potentials are set
        /// The interval of `parts`, which many cells and steps need.
        mutable Step parts_of = -1;
        mutable std::vector<models::FieldCourses::Part> parts;
    };

    const std::vector<models::FieldCourses::Part>& parts(const Field& field, Step step) const;

    const CellLayouts& layouts_;
    double step_;
    std::vector<Field> fields_;
    std::vector<bool> acts_on_;
    std::vector<std::vector<std::uint32_t>> compartment_of_slot_;  ///< by kind
    std::vector<models::FieldCourses::Part> set_parts_{{.distribution = 0, .factor = 1.0}};
};

}  // namespace ranvier::cable
