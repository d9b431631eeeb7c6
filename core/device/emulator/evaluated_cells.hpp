#pragma once

#include <cstddef>
#include <vector>

#include "base/subnormals.hpp"
#include "device/backend/cells_image.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"

namespace ranvier::device {

/// Evaluates the programs of detailed cells: what a CellThread needs of its models.
class EvaluatedCells {
   public:
    static constexpr bool has_cells = true;

    /// @param programs which must outlive it
    explicit EvaluatedCells(const CellPrograms& programs) : programs_(programs) {}

    void rates(u32 number, double argument, double logarithm, const double* parameters, double& steady,
               double& tau) const {
        const RateProgram& gate = programs_.rates[number];
        std::vector<double> inputs{argument};
        if (gate.inputs == 2) inputs.push_back(logarithm);
        inputs.insert(inputs.end(), parameters, parameters + gate.program->inputs.size() - gate.inputs);
        const FlushSubnormals flush;
        const std::vector<double> results = program::evaluate(*gate.program, inputs);
        steady = results[0];
        tau = results[1];
    }
    template <class View>
    bool place_currents(u32 number, const View& view) const {
        const MechanismProgram& mechanism = programs_.mechanisms[number];
        std::vector<double> states = states_of(mechanism, view);
        bool has_ended = true;
        if (mechanism.has_half) states = advanced(mechanism, states, view.half_step(), view, has_ended);
        const std::vector<double> results = run(*mechanism.current, states, view.input(input_step), view);
        for (u32 k = 0; k < 2 * mechanism.currents; ++k) view.result(k) = results[k];
        return has_ended;
    }
    template <class View>
    bool advance_place(u32 number, const View& view) const {
        const MechanismProgram& mechanism = programs_.mechanisms[number];
        bool has_ended = true;
        const std::vector<double> states =
            advanced(mechanism, states_of(mechanism, view), view.input(input_step), view, has_ended);
        for (u32 s = 0; s < mechanism.states; ++s) view.state(s) = states[s];
        return has_ended;
    }

   private:
    template <class View>
    static std::vector<double> states_of(const MechanismProgram& mechanism, const View& view) {
        std::vector<double> states;
        states.reserve(mechanism.states);
        for (u32 s = 0; s < mechanism.states; ++s) states.push_back(view.state(s));
        return states;
    }
    /// @param step ms
    template <class View>
    static std::vector<double> run(const program::Program& program, const std::vector<double>& states, double step,
                                   const View& view) {
        std::vector<double> inputs = states;
        for (u32 which = 0; which < place_inputs; ++which) {
            inputs.push_back(which == input_step ? step : view.input(which));
        }
        const std::size_t fixed = inputs.size();
        for (std::size_t p = fixed; p < program.inputs.size(); ++p) {
            inputs.push_back(view.parameter(static_cast<u32>(p - fixed)));
        }
        const FlushSubnormals flush;
        return program::evaluate(program, inputs);
    }
    template <class View>
    static std::vector<double> advanced(const MechanismProgram& mechanism, const std::vector<double>& states,
                                        double step, const View& view, bool& has_ended) {
        std::vector<double> results = run(*mechanism.step, states, step, view);
        for (std::size_t k = mechanism.states; k < results.size(); ++k) {
            has_ended = has_ended && program::lane::is_true(results[k]);
        }
        results.resize(mechanism.states);
        return results;
    }

    const CellPrograms& programs_;
};

}  // namespace ranvier::device
