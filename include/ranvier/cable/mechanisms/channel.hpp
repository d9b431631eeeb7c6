#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranvier/cable/mechanism.hpp"
#include "ranvier/models/equations/program_description.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::cable {

/// A mechanism that a user describes: gates whose rates are programs, and currents g (V - E).
struct ChannelDescription {
    struct Gate {
        std::string name;
        std::string meaning;
        program::Program rates;                   ///< see GateInfo::program
        std::optional<program::Program> initial;  ///< see GateInfo::initial
    };
    /// A conductance of its own and a reversal potential of its own, both parameters, with powers of gates.
    struct Term {
        std::uint32_t conductance = 0;
        std::uint32_t reversal = 0;
        std::vector<GatePower> gates;
        bool carries_calcium = false;  ///< see CurrentInfo
    };
    struct Current {
        std::string name;
        std::vector<std::uint32_t> terms;
    };

    std::string name;
    std::string summary;
    std::string equations;
    std::string reference;
    /// Those on which rates depend, and those of the terms.
    std::vector<models::ProgramParameter> parameters;
    Follows follows = Follows::potential;  ///< of all gates
    std::vector<Gate> gates;
    std::vector<Term> terms;
    std::vector<Current> currents;
    /// From what the user gives, then the temperature, to the parameters.
    program::Program derive;
};

/// A mechanism that a user describes. It owns everything that its MechanismModel points to.
class UserMechanism {
   public:
    UserMechanism() = default;
    UserMechanism(const UserMechanism&) = delete;
    UserMechanism& operator=(const UserMechanism&) = delete;
    UserMechanism(UserMechanism&&) = delete;
    UserMechanism& operator=(UserMechanism&&) = delete;
    virtual ~UserMechanism() = default;

    const MechanismModel& model() const { return model_; }

   protected:
    MechanismModel model_;
};

/// A user's mechanism with gates and currents g (V - E).
class Channel final : public UserMechanism {
   public:
    /// @throws ShapeError, ValueOutOfBoundsError for what does not fit together
    explicit Channel(ChannelDescription description);
    /// Values of the parameters. @param given see ChannelDescription::derive @throws ShapeError
    std::vector<double> derive(std::span<const double> given) const;

   private:
    ChannelDescription own_;
    std::vector<models::ParameterInfo> parameters_;
    std::vector<GateInfo> gates_;
    std::vector<CurrentInfo> currents_;
    std::vector<CurrentSum> sums_;
};

}  // namespace ranvier::cable
