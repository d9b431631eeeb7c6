#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::models {

/// The course over time of given potentials outside of cells: a sum of distributions in space, each with a factor that
/// depends on time. Times are in ms.
class FieldCourses {
   public:
    struct Part {
        std::uint32_t distribution = 0;
        double factor = 0.0;
    };
    /// The first number of a course.
    enum class Shape : std::uint8_t {
        constant,  ///< value
        sine,      ///< amplitude, offset, frequency (Hz), phase (degrees), start, stop
        pulses,    ///< amplitude, start, width, period, count (infinite: no end)
        points,    ///< times, then as many values, between which it is linear
    };

    /// @param given a course for each distribution, in the order of their names; or one list named "times": the
    ///        distributions are those at these times, and potentials between them are interpolated linearly
    /// @throws ShapeError for a course that does not have its numbers
    explicit FieldCourses(const std::map<std::string, std::vector<double>, std::less<>>& given);

    std::size_t distributions() const { return times_.empty() ? courses_.size() : times_.size(); }
    /// The distributions with their factors at a time, ascending.
    std::vector<Part> at(double time) const;

   private:
    std::vector<std::vector<double>> courses_;
    std::vector<double> times_;
};

/// Potentials outside that act on some neurons of a group.
struct GroupField {
    std::shared_ptr<const FieldCourses> courses;  ///< null: OutsideReceiver::set_potentials() sets them
    Step interval = 1;  ///< steps of the group for which potentials are constant
    std::vector<std::uint32_t> neurons = {};  ///< on which it acts, ascending
};

/// Neurons with compartments on which potentials outside act. Fields have the order of GroupArguments::fields.
class OutsideReceiver {
   public:
    /// Sets given distributions at a neuron, mV [distribution][compartment].
    virtual void set_distributions(std::size_t field, std::uint32_t neuron, std::span<const double> potentials) = 0;
    /// Sets the potentials outside of the compartments of a neuron, mV, from the step after `now` on.
    virtual void set_potentials(std::size_t field, std::uint32_t neuron, std::span<const double> potentials,
                                Step now) = 0;
    /// The last `now` of set_potentials() for a neuron; -1: it has not been called.
    virtual Step potentials_set(std::size_t field, std::uint32_t neuron) const = 0;

   protected:
    ~OutsideReceiver() = default;
};

}  // namespace ranvier::models
