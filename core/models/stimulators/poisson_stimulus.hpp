#pragma once

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "models/stimulators/poisson_sampler.hpp"
#include "models/stimulus_tools.hpp"
#include "ranvier/models/stimulator.hpp"

namespace ranvier::models {

inline constexpr double greatest_rate = 1e9;  ///< spikes/s, a bound of every Poisson generator

/// Poisson input with rates set from outside: the common base of the Poisson generators.
class PoissonStimulus : public Stimulus {
   public:
    void add(Step step, double* out) override;

   protected:
    /// The trains, if the rates are constant.
    std::optional<PoissonTrains> trains() const;
    PoissonStimulus(const StimulusArguments& arguments, const GroupValues& start, const GroupValues& stop);

    /// Sets the rates (spikes/s) that hold in the step that ends at `time`, if they have changed.
    virtual void prepare(Step time) = 0;
    /// @throws ValueOutOfBoundsError if a rate gives more spikes in a step than can be drawn or received
    GroupValues means_of(const GroupValues& rates) const;

    PoissonSampler sampler_;

   private:
    std::size_t size_;
    double resolution_;
    double greatest_mean_;
    DelaySteps delay_;
    GroupValues weights_;
    std::pmr::vector<stimulus_tools::Window> windows_;
};

}  // namespace ranvier::models
