#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::connect {

/// What the rows of a table know between two steps; see RowFactorTable.
struct FactorState {
    std::vector<double> values;  ///< [state of the rule][row]
    std::vector<Step> last;      ///< by row
};

/// A table whose spikes add a factor of the weight, which may be computed on a device.
class FactorsOnDevice {
   public:
    /// The C++ type of the rule, for kernels.
    virtual std::string_view rule() const = 0;
    virtual std::span<const std::byte> constants() const = 0;
    virtual std::size_t states() const = 0;
    /// The factor of a spike: release(values of the states, step of the last spike, step).
    virtual std::function<double(double*, Step&, Step)> release() const = 0;
    /// Grid of the contributions to inputs: a power of two.
    virtual double quantum() const = 0;

    virtual void get_state(FactorState& state) const = 0;
    virtual void set_state(const FactorState& state) = 0;

   protected:
    ~FactorsOnDevice() = default;
};

}  // namespace ranvier::connect
