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

/// A user-defined mechanism: gates whose rates are programs, and currents g (V - E).
struct ChannelDescription {
    struct Gate {
        std::string name;
        std::string meaning;
        program::Program rates;                   ///< see GateInfo::program
        std::optional<program::Program> initial;  ///< see GateInfo::initial
    };
    /// A conductance and a reversal potential, both parameters, with powers of gates.
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
    /// First the parameters of rates, then those of the terms.
    std::vector<models::ProgramParameter> parameters;
    Follows follows = Follows::potential;  ///< of all gates
    std::vector<Gate> gates;
    std::vector<Term> terms;
    std::vector<Current> currents;
    /// From the given values, then the temperature, to the parameters.
    program::Program derive;
};

/// A user-defined mechanism. It owns all data that its MechanismModel points to.
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

/// A user-defined mechanism with gates and currents g (V - E).
class Channel final : public UserMechanism {
   public:
    /// @throws ShapeError, ValueOutOfBoundsError if the parts do not fit together
    explicit Channel(ChannelDescription description);
    /// Values of the parameters. @param given see ChannelDescription::derive @throws ShapeError
    std::vector<double> derive(std::span<const double> given) const;

   private:
    ChannelDescription description_;
    std::vector<models::ParameterInfo> parameters_;
    std::vector<GateInfo> gates_;
    std::vector<CurrentInfo> currents_;
    std::vector<CurrentSum> sums_;
};

}  // namespace ranvier::cable
