#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/channel.hpp"
#include "ranvier/cable/receptor.hpp"
#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::cable {

/// Description of a user-defined mechanism with arbitrary equations for its states and currents. See GeneralInfo.
struct GeneralDescription {
    struct State {
        std::string name;
        std::string unit;
        std::string meaning;
    };
    struct Current {
        std::string name;
        bool carries_calcium = false;
        bool flows = true;
    };

    std::string name;
    std::string summary;
    std::string equations;
    std::string reference;
    std::vector<models::ProgramParameter> parameters;
    std::vector<State> states;
    std::vector<Current> currents;
    std::int32_t calcium = -1;  ///< see GeneralInfo
    std::int32_t outside = -1;
    program::Program initial;
    program::Program step;
    program::Program current;
    std::optional<program::Program> jumps;  ///< of a point process: see GeneralInfo
};

/// A general mechanism, which owns all data that its MechanismModel points to.
class GeneralMechanism final : public UserMechanism {
   public:
    /// @throws ShapeError, ValueOutOfBoundsError for an inconsistent description
    explicit GeneralMechanism(GeneralDescription description);

    /// The model of a point process. @throws ValueOutOfBoundsError if the mechanism is not a point process
    const ReceptorModel& receptor() const;

   private:
    GeneralDescription description_;
    std::vector<models::ParameterInfo> parameters_;
    std::vector<StateInfo> states_;
    std::vector<GeneralCurrentInfo> currents_;
    GeneralInfo general_;
    ReceptorModel receptor_;
};

/// The index of an external value among the inputs of programs of a mechanism with this number of states.
inline std::size_t input_of(External external, std::size_t states) {
    return states + static_cast<std::size_t>(external);
}

}  // namespace ranvier::cable
