#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::models {

/// Base of synapse dynamics that make tables in the same way for all widths of targets and weights, by `make(columns,
/// arguments)` of the derived class `Dynamics`.
template <class Dynamics>
class WidthDispatch : public connect::SynapseDynamics {
   public:
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint16_t, float> columns,
                                                      const connect::PlasticTableArguments& arguments) const final {
        return made(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint32_t, float> columns,
                                                      const connect::PlasticTableArguments& arguments) const final {
        return made(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint16_t, double> columns,
                                                      const connect::PlasticTableArguments& arguments) const final {
        return made(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint32_t, double> columns,
                                                      const connect::PlasticTableArguments& arguments) const final {
        return made(std::move(columns), arguments);
    }

   private:
    friend Dynamics;
    WidthDispatch() = default;

    template <class Columns>
    std::unique_ptr<connect::SynapseTable> made(Columns columns,
                                                const connect::PlasticTableArguments& arguments) const {
        return static_cast<const Dynamics&>(*this).make(std::move(columns), arguments);
    }
};

}  // namespace ranvier::models
