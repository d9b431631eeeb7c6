#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_array.hpp"
#include "program/interpreter.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::cable {

/// Inputs of the programs of general mechanisms that change every step: arrays with one number for each place.
struct GeneralInputs {
    explicit GeneralInputs(std::pmr::memory_resource* memory)
        : potential(memory), calcium(memory), calcium_reversal(memory), calcium_current(memory), time(memory) {}

    AlignedVector<double> potential;
    AlignedVector<double> calcium;
    AlignedVector<double> calcium_reversal;
    AlignedVector<double> calcium_current;
    AlignedVector<double> time;

    void reserve(std::size_t places) {
        for (auto* const values : {&potential, &calcium, &calcium_reversal, &calcium_current, &time}) {
            if (values->size() < places) values->resize(places, 0.0);
        }
    }
};

/// A program of a general mechanism with its constant inputs: the temperature, the step, parameters and geometry.
class GeneralProgram {
   public:
    /// The destination of results.
    enum class Results : std::uint8_t { in_place, apart };

    struct Fixed {
        double celsius = 0.0;
        double step = 0.0;  ///< ms
        /// Arrays by place, of the length for which the program runs.
        std::span<const AlignedVector<double>> externals;  ///< by External; empty: not fixed
        std::span<const AlignedVector<double>> parameters;
    };

    GeneralProgram(const program::Program& program, std::size_t states, Results results, const Fixed& fixed,
                   InstructionSet set, std::pmr::memory_resource* memory);

    bool reads(External external) const { return reads_[static_cast<std::size_t>(external)]; }

    /// @param states [state][place], overwritten by results in place
    /// @param results [result][place], if they are separate
    /// @param failures bit k % 8 of byte k / 8: whether a loop of place k has not ended; valid if it returns true
    bool run(std::size_t places, double* states, const GeneralInputs& inputs, double* results, std::uint8_t* failures);

   private:
    std::size_t states_;
    std::size_t results_;  ///< numbers
    std::vector<bool> reads_;
    std::vector<AlignedVector<double>> fixed_;  ///< by input: values that differ between places
    program::Interpreter interpreter_;
};

}  // namespace ranvier::cable
