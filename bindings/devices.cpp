#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/subnormals.hpp"
#include "bindings.hpp"
#include "device/backend/backend.hpp"
#include "device/backend/cell_forest.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/cuda/program_source.hpp"
#include "device/emulator/evaluated_cells.hpp"
#include "engine/devices/backends.hpp"
#include "engine/devices/plastic_tables.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::bindings {

namespace {

using device::DeviceProgram;
using models::GroupValues;
using models::NeuronModel;

/// A neuron with default parameters.
std::unique_ptr<models::NeuronGroup> default_group(const NeuronModel& model, models::Precision precision) {
    std::vector<GroupValues> parameters;
    for (const models::ParameterInfo& each : model.parameters) {
        const auto& of = [&]() -> const models::ParameterInfo& {
            if (each.default_parameter.empty()) return each;
            return *std::ranges::find(model.parameters, each.default_parameter, &models::ParameterInfo::name);
        }();
        parameters.push_back({.values = {of.default_value}});
    }
    std::vector<GroupValues> variables;
    for (const models::VariableInfo& each : model.variables) {
        if (each.initial_parameter.empty()) {
            variables.push_back({.values = {each.initial_value}});
            continue;
        }
        const auto at = std::ranges::find(model.parameters, each.initial_parameter, &models::ParameterInfo::name);
        variables.push_back(parameters[static_cast<std::size_t>(at - model.parameters.begin())]);
    }
    models::GroupArguments arguments;
    arguments.model = &model;
    arguments.precision = precision;
    arguments.ids = IdSequence(NeuronId{0}, 1, 1);
    arguments.population_size = 1;
    arguments.parameters = parameters;
    arguments.variables = variables;
    return model.create(arguments);
}

/// The program of the step of a model.
DeviceProgram device_program(const NeuronModel& model, bool has_current, bool is_single) {
    const auto precision = is_single ? models::Precision::single_precision : models::Precision::double_precision;
    if (!model.has_step_program(precision)) {
        throw StateError({.object = "neuron model",
                          .value = std::string(model.name),
                          .bound = "its step is not a program",
                          .remedy = "choose another one"});
    }
    const models::StepProgram made = default_group(model, precision)->step_program(has_current).value();
    return {.step = made.step,
            .variables = static_cast<device::u32>(made.variables.size()),
            .constants = static_cast<device::u32>(made.constants.size()),
            .receptors = static_cast<device::u32>(model.receptors.size()),
            .takes_current = made.takes_current,
            .needs_last = made.needs_last,
            .is_single = made.is_single,
            .draws = program::draws_of(*made.step)};
}

std::string cuda_source(const std::vector<const NeuronModel*>& given, device::u32 threads, device::u32 registers,
                        bool has_current, device::u32 signals, bool is_single) {
    std::vector<DeviceProgram> programs;
    programs.reserve(given.size());
    for (const NeuronModel* const model : given) programs.push_back(device_program(*model, has_current, is_single));
    return device::kernel_source(programs, {.threads = threads, .registers = registers, .signals = signals});
}

std::pair<nb::bytes, std::string> compile_cuda(const std::string& source, device::u32 architecture, bool is_ptx,
                                               const std::string& compiler) {
    const auto made = [&] {
        const Unlocked unlocked;
        return device::KernelCompiler::load(compiler)->compile(source, {architecture, is_ptx});
    }();
    return {nb::bytes(made.code.data(), made.code.size()), made.log};
}

using Numbers = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The weights after a spike of one side, as the emulator calculates them.
void change_weights(const engine::SynapseRules& rules, std::size_t rule, bool is_postsynaptic, const Numbers& weights,
                    const Numbers& traces, const Numbers& same_side_traces, const std::vector<Numbers>& parameters) {
    const FlushSubnormals flush;
    std::vector<float> given(parameters.size());
    for (std::size_t i = 0; i < weights.shape(0); ++i) {
        for (std::size_t k = 0; k < given.size(); ++k) given[k] = parameters[k](i);
        weights(i) =
            rules.learning.at(rule).change(is_postsynaptic, weights(i), traces(i), same_side_traces(i), given.data());
    }
}

template <class Number>
using Array = nb::ndarray<Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The parts of weights that spikes of sources add, as the emulator calculates them.
void release(const engine::SynapseRules& rules, std::size_t rule, const Table& states, const Array<std::int64_t>& last,
             std::int64_t step, const Array<double>& factors) {
    for (std::size_t i = 0; i < factors.shape(0); ++i) {
        device::i64 before = last(i);
        factors(i) = rules.release.at(rule).of_row(states.data() + i * states.shape(1), before, step);
        last(i) = before;
    }
}

/// The same for synapses.
void release_synapses(const engine::SynapseRules& rules, std::size_t rule, const Table& states,
                      const Array<std::int64_t>& last, std::int64_t step, const Table& parameters, std::uint64_t key,
                      const Array<std::uint32_t>& counts, const Array<double>& factors) {
    for (std::size_t i = 0; i < factors.shape(0); ++i) {
        const auto draws = device::SynapseDraws::begin(key, i, 1, 64);
        factors(i) = rules.release.at(rule).of_synapse(states.data() + i * states.shape(1), last(i), step,
                                                       parameters.data() + i * parameters.shape(1), draws, counts(i));
    }
}

/// The programs of a model of detailed cells, and what they need of their host: see CellThread.
class CellKernels {
   public:
    explicit CellKernels(const NeuronModel& model) : cells_(default_group(model, models::Precision::double_precision)) {
        auto* const source = dynamic_cast<device::CellSource*>(cells_.get());
        if (source == nullptr) {
            throw StateError({.object = "neuron model",
                              .value = std::string(model.name),
                              .bound = "its neurons have no compartments",
                              .remedy = "choose a cell"});
        }
        device::CellForests forests({{{source, 0, 0, 1, static_cast<device::u32>(model.receptors.size())}}});
        (void)forests.images();
        programs_ = forests.programs();
    }

    std::string source() const { return device::kernel_source({}, {}, {}, programs_); }
    /// Of each mechanism: its states, its currents, its parameters.
    std::vector<std::array<std::size_t, 3>> mechanisms() const {
        std::vector<std::array<std::size_t, 3>> shapes;
        shapes.reserve(programs_.mechanisms.size());
        for (const device::MechanismProgram& each : programs_.mechanisms) {
            shapes.push_back(
                {each.states, each.currents, each.step->inputs.size() - each.states - device::place_inputs});
        }
        return shapes;
    }

    using Values = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    /// A place of a mechanism in the emulator. Changes states and results.
    bool run(device::u32 mechanism, bool advances, const Values& states, const Values& inputs, double half_step,
             const Values& parameters, const Values& results) const {
        const View view{states.data(), inputs.data(), half_step, parameters.data(), results.data()};
        const device::EvaluatedCells evaluated(programs_);
        return advances ? evaluated.advance_place(mechanism, view) : evaluated.place_currents(mechanism, view);
    }

   private:
    /// As PlaceView.
    struct View {
        double* states;
        const double* inputs;
        double half;
        const double* parameters;
        double* results;

        double& state(device::u32 s) const { return states[s]; }
        double input(device::u32 which) const { return inputs[which]; }
        double half_step() const { return half; }
        double parameter(device::u32 p) const { return parameters[p]; }
        double& result(device::u32 k) const { return results[k]; }
    };

    std::unique_ptr<models::NeuronGroup> cells_;
    device::CellPrograms programs_;
};

}  // namespace

void bind_devices(nb::module_& module) {
    module.def(
        "cuda_source", cuda_source, nb::arg("models"), nb::arg("threads") = 0, nb::arg("registers") = 0,
        nb::arg("current") = false, nb::arg("signals") = device::all_signals, nb::arg("single") = false,
        "The CUDA C++ of the kernel that runs neurons of some models on a GPU. `threads` are the most of a block; "
        "0: as many as its registers allow. `registers` are the variables of a neuron that a thread keeps; 0: none. "
        "`current`: currents are injected into the neurons. `signals` are bits of the kinds of stimuli: courses, "
        "Poisson trains, noise. `single`: their state is in single precision.");
    module.def(
        "describe_gpu",
        [](const std::string& name) {
            const device::GpuDescription gpu = [&] {
                const Unlocked unlocked;
                return engine::describe_gpu(name);
            }();
            return std::tuple(gpu.name, gpu.multiprocessors, gpu.bytes, gpu.free_bytes);
        },
        nb::arg("device"),
        "Name, number of multiprocessors, bytes of memory and free bytes of a GPU: cuda, the first one, or cuda:1.");
    module.def("cuda_construction_source", device::construction_source,
               "The CUDA C++ of the kernel that draws the synapses of rules on a GPU.");
    nb::class_<engine::SynapseRules>(module, "SynapseRules",
                                     "The rules of the projections of a network whose synapses change with spikes.")
        .def(
            "__init__",
            [](engine::SynapseRules* rules, const network::Network& network) {
                new (rules) engine::SynapseRules(engine::synapse_rules(network));
            },
            nb::arg("network"))
        .def_prop_ro(
            "parameters",
            [](const engine::SynapseRules& rules) {
                std::vector<std::uint32_t> counts;
                counts.reserve(rules.learning.size());
                for (const device::LearningRule& rule : rules.learning) counts.push_back(rule.parameter_count);
                return counts;
            },
            "Of each rule of synapses that learn, how many parameters come with each synapse.")
        .def(
            "source",
            [](const engine::SynapseRules& rules) {
                return device::kernel_source({}, {}, {rules.learning, rules.release});
            },
            "The CUDA C++ of a kernel with these rules, for no neurons.")
        .def("change_weights", change_weights, nb::arg("rule"), nb::arg("postsynaptic"), nb::arg("weights"),
             nb::arg("traces"), nb::arg("same_side_traces"), nb::arg("parameters"),
             "Change weights by a spike of one side, as the emulator does.")
        .def_prop_ro(
            "releases",
            [](const engine::SynapseRules& rules) {
                std::vector<std::tuple<std::uint32_t, bool, bool>> found;
                found.reserve(rules.release.size());
                for (const device::ReleaseRule& rule : rules.release) {
                    found.emplace_back(rule.states, rule.of_row != nullptr, rule.of_synapse != nullptr);
                }
                return found;
            },
            "Of each rule of synapses that add a part of their weight: its states, and whether rows and whether "
            "synapses "
            "have a factor.")
        .def("release", release, nb::arg("rule"), nb::arg("states"), nb::arg("last"), nb::arg("step"),
             nb::arg("factors"), "Calculate the factors of spikes of sources, as the emulator does.")
        .def("release_synapses", release_synapses, nb::arg("rule"), nb::arg("states"), nb::arg("last"), nb::arg("step"),
             nb::arg("parameters"), nb::arg("key"), nb::arg("counts"), nb::arg("factors"),
             "Calculate the factors of a spike at synapses, whose numbers are the streams of their random numbers.");
    nb::class_<CellKernels>(module, "CellKernels", "What the kernels of a GPU have of a model of detailed cells.")
        .def(nb::init<const NeuronModel&>(), nb::arg("model"), nb::keep_alive<1, 2>())
        .def("source", &CellKernels::source, "The CUDA C++ of a kernel for these cells.")
        .def_prop_ro("mechanisms", &CellKernels::mechanisms,
                     "Of each mechanism that advances by programs: the numbers of its states, currents and parameters.")
        .def("run", &CellKernels::run, nb::arg("mechanism"), nb::arg("advances"), nb::arg("states"), nb::arg("inputs"),
             nb::arg("half_step"), nb::arg("parameters"), nb::arg("results"),
             "Calculate the currents of a place of a mechanism, or advance its states, as the emulator does; return "
             "whether all loops have ended.");
    module.def(
        "compile_cuda", compile_cuda, nb::arg("source"), nb::arg("architecture"), nb::arg("ptx") = false,
        nb::arg("compiler") = "",
        "Compile the source of a kernel with NVRTC for an architecture, as 90 for sm_90: its code or PTX, and the "
        "warnings of the compiler. `compiler` is the path of NVRTC's library; empty: by its name.");
    module.def(
        "cuda_compiler_version",
        [](const std::string& compiler) {
            const auto loaded = device::KernelCompiler::load(compiler);
            const auto architectures = loaded->architectures();
            return std::pair{device::cuda_version_text(loaded->version()),
                             std::vector<device::u32>(architectures.begin(), architectures.end())};
        },
        nb::arg("compiler") = "", "The version of CUDA of NVRTC, and the architectures that it supports.");
}

}  // namespace ranvier::bindings
