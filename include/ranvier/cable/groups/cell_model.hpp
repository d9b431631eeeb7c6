#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/site_counts.hpp"
#include "ranvier/cable/cell/spec.hpp"
#include "ranvier/models/user_model.hpp"

namespace ranvier::cable {

/// A cell as a neuron model: its parameters are a current and the per-cell parameters, its receptors those that were
/// placed, its variables the potential at the detector and the probes.
class CellModel final : public models::UserModel {
   public:
    /// @throws ShapeError, ValueOutOfBoundsError, UnknownNameError with the name of the mechanism, receptor or probe
    explicit CellModel(CellSpec spec);
    /// A population of cells of several kinds, with a spec each.
    /// @param kind_of by cell of the population
    /// @throws ValueOutOfBoundsError if kinds differ in properties of a population, or have too many rate tables
    CellModel(std::vector<std::shared_ptr<const CellModel>> kinds, std::vector<std::uint32_t> kind_of);

    std::size_t kinds() const { return kinds_.empty() ? 1 : kinds_.size(); }
    const CellSpec& spec(std::size_t kind = 0) const { return kinds_.empty() ? spec_.value() : kinds_[kind]->spec(); }
    /// The kind of a cell of the population.
    std::size_t kind_of(std::uint64_t cell) const { return kind_of_.empty() ? 0 : kind_of_[cell]; }

    std::unique_ptr<models::NeuronGroup> create(const models::GroupArguments& arguments) const override;
    std::optional<std::string> range_conflict(std::optional<std::uint64_t> cell, std::span<const double> least,
                                              std::span<const double> greatest) const override;
    bool has_conflicts() const override { return false; }
    bool has_range_conflicts() const override { return !conflicting_kinds_.empty(); }
    std::optional<std::string> missing_on_devices() const override;
    std::uint64_t fingerprint() const override { return fingerprint_; }
    std::size_t compartments(std::uint64_t cell) const override { return spec(kind_of(cell)).compartments.size(); }

   private:
    void describe();
    void count_sites();
    /// Mean number of compartments of a cell.
    double mean_compartments() const;
    models::ParameterInfo info_of(std::uint32_t parameter) const;
    std::vector<std::uint32_t> kinds_that_may_conflict() const;

    std::optional<CellSpec> spec_;
    std::vector<std::shared_ptr<const CellModel>> kinds_;
    std::vector<std::uint32_t> kind_of_;
    std::vector<std::uint32_t> conflicting_kinds_;
    std::vector<models::ParameterInfo> parameters_;
    std::vector<models::VariableInfo> variables_;
    std::vector<std::string_view> receptors_;
    std::vector<std::vector<std::uint32_t>> sites_of_kinds_;  ///< by receptor
    std::vector<SiteCounts> sites_;
    std::vector<std::string_view> electrodes_;
    std::uint64_t fingerprint_ = 0;
};

}  // namespace ranvier::cable
