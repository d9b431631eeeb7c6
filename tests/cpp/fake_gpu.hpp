#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/subnormals.hpp"
#include "device/backend/backend.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/emulator/evaluated_cells.hpp"
#include "device/kernel/block.hpp"
#include "program/evaluate.hpp"
#include "program/operations.hpp"

/// NVIDIA's driver and compiler without a GPU: addresses of the device are those of the host, and a launch runs the kernels
/// one part after another, some with each question whether it has ended.
namespace ranvier::device {

/// Evaluates the programs of steps.
struct EvaluatedModels {
    static constexpr bool has_cells = true;
    static constexpr u32 registers = 0;
    static constexpr u32 signals = all_signals;
    static constexpr bool has_rules = true;
    static constexpr bool has_synapse_releases = true;
    static constexpr bool has_timed_traces = true;
    static constexpr bool has_axonal_delays = true;
    static constexpr bool has_modulation = true;
    std::vector<DeviceProgram> programs;
    std::vector<LearningRule> learning = {};
    std::vector<ReleaseRule> releases = {};
    CellPrograms cells = {};

    template <class View>
    u32 step(u32 number, View& view) const {
        const DeviceProgram& model = programs[number];
        std::vector<double> inputs;
        for (u32 v = 0; v < model.variables; ++v) inputs.push_back(view.state(v));
        for (u32 c = 0; c < model.constants; ++c) inputs.push_back(view.constant(c));
        for (u32 r = 0; r < model.receptors; ++r) inputs.push_back(view.input(r));
        if (model.takes_current) inputs.push_back(view.current());
        inputs.push_back(program::lane::to_lane(view.is_refractory));
        if (model.needs_last) inputs.push_back(program::lane::to_lane(view.is_last_refractory));
        std::vector<std::uint64_t> words(model.draws.empty() ? 0 : model.draws.back() + std::size_t{1});
        for (const u32 index : model.draws) words[index] = view.draw(index, model.is_unpaired(index));
        const std::vector<double> results = program::evaluate(*model.step, inputs, words);
        for (u32 v = 0; v < model.variables; ++v) view.state(v) = results[v];
        u32 flags = program::lane::is_true(results[model.variables]) ? step_fires : 0;
        for (std::size_t k = model.variables + std::size_t{1}; k < results.size(); ++k) {
            if (!program::lane::is_true(results[k])) flags |= step_fails;
        }
        return flags;
    }
    float presynaptic(u32 rule, float weight, float trace, float same_side_trace, const float* parameters) const {
        return learning[rule].change(false, weight, trace, same_side_trace, parameters);
    }
    float postsynaptic(u32 rule, float weight, float trace, float same_side_trace, const float* parameters) const {
        return learning[rule].change(true, weight, trace, same_side_trace, parameters);
    }
    /// @pre the rule has at most one state
    double release(u32 rule, double* values, u32 /*stride*/, i64& last, i64 step) const {
        return releases[rule].of_row(values, last, step);
    }
    double release_synapse(u32 rule, double* values, i64 last, i64 step, const double* parameters,
                           const SynapseDraws& draws, u32& count) const {
        return releases[rule].of_synapse(values, last, step, parameters, draws, count);
    }
    void rates(u32 number, double argument, double logarithm, const double* parameters, double& steady,
               double& tau) const {
        EvaluatedCells(cells).rates(number, argument, logarithm, parameters, steady, tau);
    }
    template <class View>
    bool place_currents(u32 number, const View& view) const {
        return EvaluatedCells(cells).place_currents(number, view);
    }
    template <class View>
    bool advance_place(u32 number, const View& view) const {
        return EvaluatedCells(cells).advance_place(number, view);
    }
};

/// A kernel that runs.
struct FakeLaunch {
    struct Running {
        std::vector<u64> memory;
        std::vector<Block<EvaluatedModels>> block;  ///< its threads
        Part part = Part::done;
        std::vector<char> has_run;  ///< by thread
    };

    Parameters parameters;
    u32 threads = 0;
    std::vector<Running> blocks;

    FakeLaunch(const Parameters& given, const EvaluatedModels& models, u32 thread_count, std::size_t shared)
        : parameters(given), threads(thread_count), blocks(given.blocks) {
        for (u32 b = 0; b < blocks.size(); ++b) {
            blocks[b].memory.resize(shared / sizeof(u64) + 1);
            EXPECT_LE(parameters.data[b].shared.bytes, shared);
            blocks[b].block.reserve(threads);
            for (u32 thread = 0; thread < threads; ++thread) {
                blocks[b].block.emplace_back(parameters, models, b, thread, threads,
                                             reinterpret_cast<Shared*>(blocks[b].memory.data()));
            }
            blocks[b].part = blocks[b].block.front().first_part();
            blocks[b].has_run.assign(threads, 0);
        }
    }

    /// A part of each block. Returns whether all have ended.
    bool advance() {
        const FlushSubnormals flush;
        bool has_ended = true;
        for (Running& running : blocks) {
            if (running.part == Part::done) continue;
            has_ended = false;
            // A thread may wait for the record of a block whose parts take longer.
            bool is_ready = true;
            for (std::size_t t = 0; t < running.block.size(); ++t) {
                if (running.has_run[t] == 0) running.has_run[t] = running.block[t].run(running.part) ? 1 : 0;
                is_ready = is_ready && running.has_run[t] != 0;
            }
            if (!is_ready) continue;
            running.has_run.assign(running.block.size(), 0);
            const Part finished = running.part;
            for (auto& thread : running.block) running.part = thread.next(finished);
        }
        return has_ended;
    }
};

struct FakeGpu {
    // What it is.
    int version = 13'050;
    int devices = 1;
    int capability_major = 9;
    int capability_minor = 0;
    int multiprocessors = 3;
    int limits_run_time = 0;
    int cooperative = 1;
    int shared_bytes = 100'000;
    /// Of a thread in the memory of the device, by threads of a block: registers that do not suffice.
    std::map<u32, int> local_bytes;
    int active_blocks = 2;
    std::size_t free_bytes = std::size_t{1} << 30;
    EvaluatedModels models;
    // What fails, by name of the function: the error.
    std::map<std::string, int> errors;
    /// Questions whether a launch has ended until it fails; 0: never.
    int lost_after = 0;

    // What was done.
    int contexts = 0;  ///< that were retained and not released
    int entered = 0;   ///< contexts of this thread
    int modules = 0;
    int streams = 0;
    int pinned = 0;
    int launches = 0;
    int queries = 0;
    u32 threads = 0;  ///< of the last launch
    std::map<std::uint64_t, std::vector<u64>> memory;
    std::string source;  ///< of the last compilation
    std::vector<std::string> options;
    std::unique_ptr<FakeLaunch> launch;

    // The compiler.
    int compiler_version = 13;
    std::vector<int> architectures{75, 80, 90, 100};
    std::string compiler_log;

    static FakeGpu& get() {
        static FakeGpu gpu;
        return gpu;
    }
    static void reset() { get() = FakeGpu{}; }

    int error(const std::string& name) const {
        const auto found = errors.find(name);
        return found == errors.end() ? 0 : found->second;
    }
    /// Whether bytes are within an allocation.
    /// Of the last compilation.
    u32 bound_threads() const {
        const std::string bounds = "__launch_bounds__(";
        const std::size_t found = source.find(bounds);
        return found == std::string::npos ? 0 : static_cast<u32>(std::stoul(source.substr(found + bounds.size())));
    }
    bool has(std::uint64_t address, std::size_t bytes) const {
        auto found = memory.upper_bound(address);
        if (found == memory.begin()) return false;
        --found;
        return address + bytes <= found->first + found->second.size() * sizeof(u64);
    }
};

/// A function of the driver that needs a context.
inline int in_context(const char* name, const std::function<void(FakeGpu&)>& act) {
    FakeGpu& gpu = FakeGpu::get();
    EXPECT_GT(gpu.entered, 0) << name << " without a context";
    const int error = gpu.error(name);
    if (error == 0) act(gpu);
    return error;
}

inline int fake_query() {
    FakeGpu& gpu = FakeGpu::get();
    if (gpu.launch == nullptr) return 0;
    ++gpu.queries;
    if (gpu.lost_after != 0 && gpu.queries >= gpu.lost_after) return 719;
    for (int part = 0; part < 40; ++part) {
        if (!gpu.launch->advance()) continue;
        gpu.launch.reset();
        return 0;
    }
    return static_cast<int>(DriverError::not_ready);
}

inline void set_device_functions(DriverFunctions& made) {
    made.get_error_name = [](int error, const char** name) {
        *name = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_FAKE";
        return 0;
    };
    made.get_error_string = [](int, const char** text) {
        *text = "a text";
        return 0;
    };
    made.init = [](unsigned) { return FakeGpu::get().error("init"); };
    made.driver_get_version = [](int* version) {
        *version = FakeGpu::get().version;
        return 0;
    };
    made.device_get_count = [](int* count) {
        *count = FakeGpu::get().devices;
        return 0;
    };
    made.device_get = [](int* device, int number) {
        *device = number;
        return 0;
    };
    made.device_get_name = [](char* name, int size, int) {
        std::strncpy(name, "Fake 9000", static_cast<std::size_t>(size));
        return 0;
    };
    made.device_get_uuid = [](unsigned char* uuid, int device) {
        for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(10 * device + i + 1);
        return 0;
    };
    made.device_get_attribute = [](int* value, int attribute, int) {
        const FakeGpu& gpu = FakeGpu::get();
        switch (static_cast<DeviceAttribute>(attribute)) {
            case DeviceAttribute::multiprocessors:
                *value = gpu.multiprocessors;
                break;
            case DeviceAttribute::limits_run_time:
                *value = gpu.limits_run_time;
                break;
            case DeviceAttribute::capability_major:
                *value = gpu.capability_major;
                break;
            case DeviceAttribute::capability_minor:
                *value = gpu.capability_minor;
                break;
            case DeviceAttribute::cooperative_launch:
                *value = gpu.cooperative;
                break;
            case DeviceAttribute::most_shared_bytes:
                *value = gpu.shared_bytes;
                break;
            case DeviceAttribute::shared_bytes_of_multiprocessor:
                *value = gpu.shared_bytes + 1024;
                break;
            case DeviceAttribute::reserved_shared_bytes:
                *value = 1024;
                break;
        }
        return 0;
    };
    made.primary_context_retain = [](void** context, int) {
        *context = &FakeGpu::get();
        ++FakeGpu::get().contexts;
        return 0;
    };
    made.primary_context_release = [](int) {
        --FakeGpu::get().contexts;
        return 0;
    };
    made.context_push = [](void*) {
        ++FakeGpu::get().entered;
        return 0;
    };
    made.context_pop = [](void**) {
        --FakeGpu::get().entered;
        return 0;
    };
}

inline void set_module_functions(DriverFunctions& made) {
    made.module_load_data = [](void** module, const void* code) {
        return in_context("module_load_data", [&](FakeGpu& gpu) {
            EXPECT_STREQ(static_cast<const char*>(code), "code");
            *module = &gpu;
            ++gpu.modules;
        });
    };
    made.module_unload = [](void*) { return in_context("module_unload", [](FakeGpu& gpu) { --gpu.modules; }); };
    made.module_get_function = [](void** function, void*, const char* name) {
        return in_context("module_get_function", [&](FakeGpu& gpu) {
            const bool is_run = std::string(name) == "run";
            EXPECT_STREQ(name, is_run ? "run" : "construct");
            *function = is_run ? static_cast<void*>(&gpu) : &gpu.launches;
        });
    };
    made.function_get_attribute = [](int* value, int attribute, void*) {
        return in_context("function_get_attribute", [&](FakeGpu& gpu) {
            *value = static_cast<FunctionAttribute>(attribute) == FunctionAttribute::local_bytes
                         ? gpu.local_bytes[gpu.bound_threads()]
                         : 0;
        });
    };
    made.function_set_attribute = [](void*, int, int) { return in_context("function_set_attribute", [](FakeGpu&) {}); };
    made.most_active_blocks = [](int* blocks, void*, int, std::size_t) {
        return in_context("most_active_blocks", [&](FakeGpu& gpu) { *blocks = gpu.active_blocks; });
    };
    made.launch_cooperative = [](void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                                 unsigned, unsigned shared, void*, void** parameters) {
        return in_context("launch_cooperative", [&](FakeGpu& gpu) {
            ASSERT_EQ(gpu.launch, nullptr);
            if (function != &gpu) {
                const Construction& construction = *static_cast<const Construction*>(parameters[0]);
                // The last threads first.
                for (u64 thread = u64{blocks} * threads; thread-- > 0;) {
                    build(construction, *static_cast<const BuildPart*>(parameters[1]), thread, u64{blocks} * threads);
                }
                return;
            }
            const Parameters& given = *static_cast<const Parameters*>(parameters[0]);
            ASSERT_EQ(given.blocks, blocks);
            // Otherwise a block could take the record of an earlier run for one of this run.
            for (u32 i = 0; i < 2 * given.epoch_steps * blocks; ++i) {
                EXPECT_FALSE(given.records[i].step >= given.first && given.records[i].step <= given.last);
            }
            ++gpu.launches;
            gpu.threads = threads;
            gpu.launch = std::make_unique<FakeLaunch>(given, gpu.models, threads, shared);
        });
    };
}

inline void set_memory_functions(DriverFunctions& made) {
    made.memory_get_info = [](std::size_t* free, std::size_t* total) {
        return in_context("memory_get_info", [&](FakeGpu& gpu) {
            *free = gpu.free_bytes;
            *total = std::size_t{1} << 30;
        });
    };
    made.memory_allocate = [](std::uint64_t* address, std::size_t bytes) {
        return in_context("memory_allocate", [&](FakeGpu& gpu) {
            // Not cleared, as memory of a device.
            std::vector<u64> allocation(bytes / sizeof(u64) + 1, 0xABABABABABABABAB);
            *address = reinterpret_cast<std::uintptr_t>(allocation.data());
            gpu.memory.emplace(*address, std::move(allocation));
        });
    };
    made.memory_free = [](std::uint64_t address) {
        return in_context("memory_free", [&](FakeGpu& gpu) { EXPECT_EQ(gpu.memory.erase(address), 1U); });
    };
    made.copy_to_device = [](std::uint64_t to, const void* from, std::size_t bytes, void*) {
        return in_context("copy_to_device", [&](FakeGpu& gpu) {
            ASSERT_TRUE(gpu.has(to, bytes));
            std::memcpy(reinterpret_cast<void*>(to), from, bytes);
        });
    };
    made.copy_to_host = [](void* to, std::uint64_t from, std::size_t bytes, void*) {
        return in_context("copy_to_host", [&](FakeGpu& gpu) {
            ASSERT_TRUE(gpu.has(from, bytes));
            std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
        });
    };
    made.fill_bytes = [](std::uint64_t to, unsigned char value, std::size_t count, void*) {
        return in_context("fill_bytes", [&](FakeGpu& gpu) {
            ASSERT_TRUE(gpu.has(to, count));
            std::memset(reinterpret_cast<void*>(to), value, count);
        });
    };
    made.fill_words = [](std::uint64_t to, unsigned value, std::size_t count, void*) {
        return in_context("fill_words", [&](FakeGpu& gpu) {
            ASSERT_TRUE(gpu.has(to, count * sizeof(value)));
            auto* const words = reinterpret_cast<unsigned*>(to);
            for (std::size_t i = 0; i < count; ++i) words[i] = value;
        });
    };
    made.host_allocate = [](void** memory, std::size_t bytes, unsigned) {
        return in_context("host_allocate", [&](FakeGpu& gpu) {
            *memory = ::operator new(bytes);
            ++gpu.pinned;
        });
    };
    made.host_free = [](void* memory) {
        return in_context("host_free", [&](FakeGpu& gpu) {
            ::operator delete(memory);
            --gpu.pinned;
        });
    };
    made.stream_create = [](void** stream, unsigned flags) {
        return in_context("stream_create", [&](FakeGpu& gpu) {
            EXPECT_EQ(flags, 1U);
            *stream = &gpu;
            ++gpu.streams;
        });
    };
    made.stream_destroy = [](void*) { return in_context("stream_destroy", [](FakeGpu& gpu) { --gpu.streams; }); };
    made.stream_synchronize = [](void*) {
        return in_context("stream_synchronize", [](FakeGpu& gpu) { EXPECT_EQ(gpu.launch, nullptr); });
    };
    made.stream_query = [](void*) { return fake_query(); };
}

inline std::shared_ptr<const Driver> fake_driver() {
    DriverFunctions made{};
    set_device_functions(made);
    set_module_functions(made);
    set_memory_functions(made);
    return std::make_shared<const Driver>(made);
}

inline std::shared_ptr<const KernelCompiler> fake_compiler() {
    NvrtcFunctions made{};
    made.get_error_string = [](int) { return "NVRTC_ERROR_FAKE"; };
    made.version = [](int* major, int* minor) {
        *major = FakeGpu::get().compiler_version;
        *minor = 5;
        return 0;
    };
    made.get_num_supported_archs = [](int* count) {
        *count = static_cast<int>(FakeGpu::get().architectures.size());
        return 0;
    };
    made.get_supported_archs = [](int* architectures) {
        for (const int each : FakeGpu::get().architectures) *architectures++ = each;
        return 0;
    };
    made.create_program = [](void** program, const char* source, const char*, int, const char* const*,
                             const char* const*) {
        *program = &FakeGpu::get();
        FakeGpu::get().source = source;
        return FakeGpu::get().error("create_program");
    };
    made.destroy_program = [](void**) { return 0; };
    made.compile_program = [](void*, int count, const char* const* options) {
        FakeGpu::get().options.assign(options, options + count);
        return FakeGpu::get().error("compile_program");
    };
    made.get_program_log_size = [](void*, std::size_t* size) {
        *size = FakeGpu::get().compiler_log.size() + 1;
        return 0;
    };
    made.get_program_log = [](void*, char* log) {
        std::strcpy(log, FakeGpu::get().compiler_log.c_str());
        return 0;
    };
    made.get_ptx_size = made.get_cubin_size = [](void*, std::size_t* size) {
        *size = 5;
        return 0;
    };
    made.get_ptx = made.get_cubin = [](void*, char* code) {
        std::strcpy(code, "code");
        return 0;
    };
    return std::make_shared<const KernelCompiler>(made);
}

}  // namespace ranvier::device
