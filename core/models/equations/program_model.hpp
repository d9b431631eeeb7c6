#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/step_function.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/models/user_model.hpp"

namespace ranvier::models {

/// The compiled step function of a program, and the owner that keeps its code in memory.
struct CompiledStep {
    program::StepFunction function = nullptr;
    std::shared_ptr<const void> owner = {};
};

/// The neuron model of a ProgramDescription.
class ProgramModel final : public UserModel {
   public:
    /// @throws as check(description)
    explicit ProgramModel(ProgramDescription description);

    const ProgramDescription& description() const { return *description_; }
    /// The program of a step, which outlives the model.
    std::shared_ptr<const program::Program> step() const { return {description_, &description_->step}; }

    std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const override;
    std::optional<std::string> conflict(std::span<const double> values,
                                        std::optional<double> resolution) const override;
    bool has_step_program(Precision /*precision*/) const override { return true; }
    std::uint64_t fingerprint() const override { return fingerprint_; }

    /// Groups with GroupArguments::compiled_programs that are created after this call for the given instruction set
    /// call this function instead of the interpreter. A null function restores the interpreter. It must give the same
    /// bits.
    void use_compiled(InstructionSet set, CompiledStep step) {
        const std::lock_guard lock(mutex_);
        compiled_[static_cast<std::size_t>(set)] = std::move(step);
    }
    CompiledStep compiled(InstructionSet set) const {
        const std::lock_guard lock(mutex_);
        return compiled_[static_cast<std::size_t>(set)];
    }

   private:
    void describe();
    void find_dependencies();

    std::shared_ptr<const ProgramDescription> description_;
    std::vector<ParameterInfo> parameters_;
    std::vector<VariableInfo> variables_;
    std::vector<std::string_view> receptors_;
    std::vector<bool> depends_on_step_;  ///< by result of `prepare`
    std::uint64_t fingerprint_ = 0;
    mutable std::mutex mutex_;
    std::array<CompiledStep, 3> compiled_;  ///< by instruction set
};

}  // namespace ranvier::models
