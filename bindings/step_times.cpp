#include "base/step_times.hpp"

#include "bindings.hpp"

namespace ranvier::bindings {

namespace {

double step_time(Step step, double resolution) { return StepTimes(resolution)(step); }

OutputArray<double> step_times(const InputArray<Step>& steps, double resolution) {
    std::vector<double> times(steps.size());
    const StepTimes time_of(resolution);
    time_of(to_span(steps), times.data());
    return to_array<double>(std::move(times));
}

}  // namespace

void bind_step_times(nb::module_& module) {
    module.def("step_time", step_time, nb::arg("step"), nb::arg("resolution"),
               "The double nearest to the time of a step, for the decimal number that the resolution stands for.");
    module.def("step_times", step_times, nb::arg("steps"), nb::arg("resolution"), "As `step_time`, for many steps.");
}

}  // namespace ranvier::bindings
