#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device/backend/memory_plan.hpp"
#include "device/backend/shared_plan.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device_networks.hpp"
#include "error_fields.hpp"
#include "fake_gpu.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {
namespace TEST_FILE {

const auto never_stops = [] { return false; };

class CudaDevices : public testing::Test {
   protected:
    void SetUp() override {
        FakeGpu::reset();
        gpu().models = {{simple_program()}};
    }
    static FakeGpu& gpu() { return FakeGpu::get(); }
    static std::unique_ptr<Backend> make(const CudaOptions& options = {}) {
        return make_cuda_device(options, fake_driver(), fake_compiler());
    }
};

/// @param shared_bytes of a block of the device
void expect_bits_of_emulator(u32 epoch_steps, int shared_bytes) {
    FakeGpu::reset();
    FakeGpu& gpu = FakeGpu::get();
    gpu.models = {{simple_program()}};
    gpu.shared_bytes = shared_bytes;
    const NetworkSize size{.epoch_steps = epoch_steps};
    const auto device = make_cuda_device({}, fake_driver(), fake_compiler());
    const auto emulator = make_emulator({.blocks = 3, .threads = 32, .seed = 7, .spike_room = 10'000});
    SpikeList spikes;
    SpikeList expected;
    for (const auto& [backend, list] : {std::pair{device.get(), &spikes}, std::pair{emulator.get(), &expected}}) {
        random_network(size, 1).load_into(*backend);
        for (const auto& [first, last] : {std::pair<i64, i64>{1, 100}, {101, 101}, {102, 300}}) {
            EXPECT_EQ(backend->run(first, last, never_stops), last);
            take_all(*backend, size.blocks, *list);
        }
        EXPECT_FALSE(backend->failure());
    }
    EXPECT_GT(expected.size(), 200U);
    EXPECT_EQ(spikes, expected);
    for (u32 b = 0; b < size.blocks; ++b) {
        BlockState state;
        BlockState wanted;
        device->get_state(b, state);
        emulator->get_state(b, wanted);
        EXPECT_EQ(state.variables, wanted.variables);
        EXPECT_EQ(state.refractory, wanted.refractory);
        EXPECT_EQ(device->events(b), emulator->events(b));
        EXPECT_GT(device->events(b), 0U);
    }
    EXPECT_EQ(gpu.launches, 3);
    EXPECT_EQ(device->name(), "Fake 9000");
    EXPECT_GT(device->memory().sum(), 1'000'000U);
}

TEST_F(CudaDevices, HaveTheSpikesAndStatesOfTheEmulator) {
    // All, some and none of the sums of inputs are in shared memory.
    const RandomNetwork network = random_network({}, 1);
    const SharedNeed need = shared_need(network.image.blocks[0], network.image.programs, 3, 512);
    for (const u32 epoch_steps : {1U, 2U}) {
        for (const u64 bytes : {u64{100'000}, (need.least + need.most) / 2, u64{need.least}}) {
            expect_bits_of_emulator(epoch_steps, static_cast<int>(bytes));
        }
    }
}

TEST_F(CudaDevices, TakeStatesRingsAndConstants) {
    const NetworkSize size;
    const auto device = make();
    const auto emulator = make_emulator({.blocks = 3, .threads = 32, .seed = 8, .spike_room = 10'000});
    SpikeList spikes;
    SpikeList expected;
    for (const auto& [backend, list] : {std::pair{device.get(), &spikes}, std::pair{emulator.get(), &expected}}) {
        const RandomNetwork network = random_network(size, 2);
        std::vector<GroupImage> groups = network.image.blocks[1].groups;
        network.load_into(*backend);
        BlockState state{.variables = std::vector<double>(size.neurons, 0.5), .refractory = {}};
        for (u32 i = 0; i < size.neurons; ++i) state.refractory.push_back(static_cast<i32>(i % 4));
        backend->set_state(0, state);
        std::vector<i64> ring(std::size_t{size.slots} * size.neurons, 0);
        // Of the steps that synapses reach.
        for (std::size_t i = size.neurons; i < ring.size() - size.neurons; i += 3) ring[i] = i64{1} << 19;
        backend->set_ring(2, ring);
        // More numbers than before: one for each neuron.
        groups[0].constants[0].assign(size.neurons, 0.75);
        groups[0].refractory_steps.assign(size.neurons, 1);
        backend->set_constants(1, groups);
        EXPECT_EQ(backend->run(1, 60, never_stops), 60);
        take_all(*backend, size.blocks, *list);
    }
    EXPECT_GT(expected.size(), 50U);
    EXPECT_EQ(spikes, expected);
}

TEST_F(CudaDevices, ReplaySpikesInTransit) {
    const NetworkSize size;
    const RandomNetwork network = random_network(size, 4);
    const i64 now = 40;
    const u32 longest = size.slots - 2;
    std::vector<RemoteSpike> spikes;
    for (i64 step = now - longest + 1; step <= now; step += 2) {
        for (u32 row = 0; row < size.blocks * size.neurons; row += 3) spikes.push_back({step, row, 0});
    }
    const auto device = make();
    const auto emulator = make_emulator({.blocks = 3, .threads = 32, .seed = 8, .spike_room = 10'000});
    for (Backend* const backend : {device.get(), emulator.get()}) {
        network.load_into(*backend);
        for (const bool takes_back : {false, true}) {
            for (u32 b = 0; b < size.blocks; ++b) backend->receive(b, spikes);
            backend->replay(now, takes_back);
            for (u32 b = 0; b < size.blocks; ++b) {
                std::vector<i64> expected(std::size_t{size.slots} * size.neurons, 0);
                u64 arrivals = 0;
                for (const RemoteSpike& spike : spikes) {
                    for (u64 s = network.rows[b].begin[spike.row]; s < network.rows[b].begin[spike.row + 1]; ++s) {
                        const auto [cell, weight] = network.rows[b].synapses[s];
                        const i64 arrival = spike.step + cell / size.neurons + 1;
                        if (arrival <= now || takes_back) continue;
                        expected[static_cast<std::size_t>(arrival % size.slots) * size.neurons + cell % size.neurons] +=
                            static_cast<i64>(static_cast<double>(weight) * 0x1p20);
                        ++arrivals;
                    }
                }
                std::vector<i64> ring(expected.size());
                backend->get_ring(b, ring);
                EXPECT_EQ(ring, expected);
                EXPECT_EQ(backend->events(b), 0U);
                EXPECT_EQ(arrivals > 50, !takes_back);
            }
        }
    }
}

TEST_F(CudaDevices, AreDescribed) {
    const GpuDescription described = describe_gpu(0, fake_driver());
    EXPECT_EQ(described.name, "Fake 9000");
    EXPECT_EQ(described.multiprocessors, static_cast<u32>(gpu().multiprocessors));
    EXPECT_EQ(described.free_bytes, gpu().free_bytes);
    EXPECT_GE(described.bytes, described.free_bytes);
    fields_of<DeviceError>([] { describe_gpu(7, fake_driver()); }, {"cuda:7", "there is only cuda:0"});
}

TEST_F(CudaDevices, TakeAndGiveSynapsesThatChange) {
    const NetworkSize size;
    gpu().models = {{simple_program()}, {simple_learning_rule()}, {simple_release_rule(), simple_drawing_rule()}};
    const auto device = make();
    const auto emulator = make_emulator({.blocks = 3, .threads = 32, .seed = 9, .spike_room = 10'000});
    RandomNetwork network = random_network(size, 6);
    network.image.learning_rules = {simple_learning_rule()};
    network.image.release_rules = {simple_release_rule(), simple_drawing_rule()};
    for (BlockImage& block : network.image.blocks) block.has_tables = true;
    const u32 rows = network.image.blocks[0].rows;
    std::array<SpikeList, 3> spikes;
    std::array<std::vector<LearningState>, 2> learnt;
    std::array<std::vector<FactorState>, 2> factors;
    const auto without = make_emulator({.blocks = 3, .threads = 32, .seed = 9, .spike_room = 10'000});
    const std::array<Backend*, 3> backends{device.get(), emulator.get(), without.get()};
    for (std::size_t k = 0; k < backends.size(); ++k) {
        Backend& backend = *backends[k];
        const u64 bytes = (network.load_into(backend), backend.memory().synapses);
        for (u32 b = 0; b < size.blocks && k < 2; ++b) {
            const TablesImage tables = random_tables(size, rows, b);
            backend.set_tables(b, tables);
            for (u32 t = 0; t < 3; ++t) backend.set_learning(b, t, first_state(tables.learning[t]), 0);
            for (u32 t = 0; t < 2; ++t) backend.set_factors(b, t, first_state(tables.factors[t]));
        }
        if (k < 2) {
            EXPECT_GT(backend.memory().synapses, bytes + 100'000);
        }
        for (const auto& [first, last] : {std::pair<i64, i64>{1, 150}, {151, 160}, {161, 400}}) {
            ASSERT_EQ(backend.run(first, last, never_stops), last);
            take_all(backend, size.blocks, spikes[k]);
        }
        backend.settle(400);
        for (u32 b = 0; b < size.blocks && k < 2; ++b) {
            const TablesImage tables = random_tables(size, rows, b);
            for (u32 t = 0; t < 3; ++t) {
                learnt[k].push_back(first_state(tables.learning[t]));
                backend.get_learning(b, t, learnt[k].back());
                EXPECT_NE(learnt[k].back().weights, tables.learning[t].of.weights);
            }
            for (u32 t = 0; t < 2; ++t) {
                factors[k].push_back(first_state(tables.factors[t]));
                backend.get_factors(b, t, factors[k].back());
            }
        }
    }
    EXPECT_GT(spikes[0].size(), 200U);
    EXPECT_EQ(spikes[0], spikes[1]);
    EXPECT_NE(spikes[0], spikes[2]);
    for (std::size_t t = 0; t < learnt[0].size(); ++t) {
        const LearningState& found = learnt[0][t];
        const LearningState& expected = learnt[1][t];
        EXPECT_EQ(found.weights, expected.weights);
        EXPECT_EQ(found.synapse_traces, expected.synapse_traces);
        EXPECT_EQ(found.last, expected.last);
        EXPECT_EQ(found.traces, expected.traces);
        EXPECT_EQ(found.same_side, expected.same_side);
        EXPECT_EQ(found.counts, expected.counts);
        EXPECT_EQ(found.steps, expected.steps);
        EXPECT_EQ(found.last_traces, expected.last_traces);
        EXPECT_EQ(found.greatest, expected.greatest);
        EXPECT_EQ(found.stamps, expected.stamps);
        EXPECT_EQ(found.axonal_traces, expected.axonal_traces);
        EXPECT_EQ(found.eligibility, expected.eligibility);
        EXPECT_EQ(found.remainders, expected.remainders);
        EXPECT_EQ(found.transmitter_spikes, expected.transmitter_spikes);
        EXPECT_EQ(found.pulses, expected.pulses);
        EXPECT_EQ(found.concentrations, expected.concentrations);
    }
    for (std::size_t t = 0; t < factors[0].size(); ++t) {
        EXPECT_EQ(factors[0][t].values, factors[1][t].values);
        EXPECT_EQ(factors[0][t].last, factors[1][t].last);
        EXPECT_EQ(factors[0][t].counts, factors[1][t].counts);
    }
    EXPECT_GT(std::ranges::max(factors[0].back().counts), 3U);
}

TEST_F(CudaDevices, AdvanceDetailedCells) {
    const NetworkSize size;
    gpu().models.cells.has_cells = true;
    const auto device = make();
    const auto emulator = make_emulator({.blocks = 3, .threads = 32, .seed = 9, .spike_room = 10'000});
    std::array<SpikeList, 2> spikes;
    std::array<std::vector<BlockState>, 2> states;
    for (std::size_t k = 0; k < 2; ++k) {
        Backend& backend = k == 0 ? *device : *emulator;
        std::vector<std::unique_ptr<SimpleCells>> cells;
        std::vector<std::vector<CellGroupOfBlock>> groups(size.blocks);
        // In the second block, half of the neurons are cells; in the third one, all.
        for (u32 b = 1; b < size.blocks; ++b) {
            const u32 first = b == 1 ? size.neurons / 2 : 0;
            cells.push_back(std::make_unique<SimpleCells>(size.neurons - first));
            groups[b].push_back({cells.back().get(), first == 0 ? 0U : 1U, first, size.neurons - first, 1});
        }
        CellForests forests(groups);
        RandomNetwork network = random_network(size, 6);
        std::vector<CellsImage> images = forests.images();
        for (u32 b = 0; b < size.blocks; ++b) {
            BlockImage& block = network.image.blocks[b];
            for (const CellGroupOfBlock& group : groups[b]) {
                GroupImage image{.first = group.first,
                                 .count = group.count,
                                 .is_cells = true,
                                 .reads_negative_zero = true,
                                 .constants = {{}},
                                 .refractory_steps = {4},
                                 .first_inputs = {group.first}};
                for (u32 i = 0; i < group.count; ++i) image.constants[0].push_back(group.cells->constant_current(i));
                block.groups[0].count = group.first;
                block.groups[0].constants[1].resize(group.first);
                block.groups[0].signals.clear();
                if (group.first == 0) block.groups.clear();
                block.groups.push_back(image);
            }
            block.cells = std::move(images[b]);
        }
        network.image.cell_programs = forests.programs();
        network.image.cell_rates = forests.rates();
        const u64 bytes = forests.rates().size() * sizeof(double);
        network.load_into(backend);
        EXPECT_GT(backend.memory().state, bytes);
        for (u32 b = 0; b < size.blocks; ++b) {
            BlockState state;
            backend.get_state(b, state);
            forests.read(b, 0, state);
            backend.set_state(b, state);
        }
        for (const auto& [first, last] : {std::pair<i64, i64>{1, 100}, {101, 300}}) {
            ASSERT_EQ(backend.run(first, last, never_stops), last);
            take_all(backend, size.blocks, spikes[k]);
        }
        EXPECT_FALSE(backend.failure());
        for (u32 b = 0; b < size.blocks; ++b) backend.get_state(b, states[k].emplace_back());
        // Other blocks have other numbers of nodes.
        EXPECT_EQ(states[k][0].cells.potential.size(), 0U);
        EXPECT_EQ(states[k][2].cells.potential.size(), 7U * size.neurons / 2);
    }
    for (u32 b = 0; b < size.blocks; ++b) {
        EXPECT_EQ(states[0][b].cells.potential, states[1][b].cells.potential);
        EXPECT_EQ(states[0][b].cells.states, states[1][b].cells.states);
        EXPECT_EQ(states[0][b].refractory, states[1][b].refractory);
    }
    EXPECT_GT(std::ranges::count_if(spikes[0], [](const auto& spike) { return std::get<1>(spike) == 2; }), 30);
    EXPECT_EQ(spikes[0], spikes[1]);
}

TEST_F(CudaDevices, DeliverSpikesOfOtherProcesses) {
    const NetworkSize size;
    const auto device = make();
    const auto emulator = make_emulator({.blocks = 3, .threads = 32, .seed = 9, .spike_room = 10'000});
    SpikeList spikes;
    SpikeList expected;
    SpikeList without;
    for (const auto& [backend, list] : {std::pair{device.get(), &spikes}, std::pair{emulator.get(), &expected}}) {
        RandomNetwork network = random_network(size, 3);
        // Rows after those of the sources of this process.
        const u32 sources = size.blocks * size.neurons;
        for (u32 b = 0; b < size.blocks; ++b) {
            BlockRows& rows = network.rows[b];
            for (u32 row = 0; row < 40; ++row) {
                for (u32 k = 0; k <= row; ++k) {
                    rows.synapses.push_back({(1 + k % 13) * size.neurons + (row + k) % size.neurons, 0.25F});
                }
                rows.begin.push_back(rows.synapses.size());
            }
            network.image.blocks[b].rows += 40;
            network.image.blocks[b].synapses = rows.synapses.size();
        }
        network.load_into(*backend);
        for (i64 last = 2; last <= 80; last += 2) {
            // Of the last two steps; more and more of them, and none now and then.
            for (u32 b = 0; b < size.blocks && last > 2; ++b) {
                std::vector<RemoteSpike> remote;
                for (u32 row = b; row < (last % 8 == 0 ? 0 : last / 2); ++row) {
                    remote.push_back({last - 2 - row % 2, sources + row, 0});
                }
                backend->receive(b, remote);
            }
            ASSERT_EQ(backend->run(last - 1, last, never_stops), last);
            take_all(*backend, size.blocks, *list);
        }
        without.clear();
        network.load_into(*backend);
        ASSERT_EQ(backend->run(1, 80, never_stops), 80);
        take_all(*backend, size.blocks, without);
    }
    EXPECT_GT(spikes.size(), without.size() + 100);
    EXPECT_EQ(spikes, expected);
}

TEST_F(CudaDevices, AreTakenInTurnByTheProcessesOfAHost) {
    gpu().devices = 3;
    const auto second = make({.device = {}, .host_rank = 1});
    EXPECT_EQ(second->identity(), make({.device = 1})->identity());
    EXPECT_NE(second->identity(), make({.device = {}, .host_rank = 2})->identity());
    EXPECT_EQ(second->identity(), make({.device = {}, .host_rank = 4})->identity());
    EXPECT_EQ(make_emulator({})->identity(), (DeviceIdentity{}));
}

TEST_F(CudaDevices, TakeCoursesAndMoreSpikesInAStepThanTheyHaveNeurons) {
    const NetworkSize size;
    const auto device = make();
    const auto emulator = make_emulator({.blocks = 3, .threads = 32, .seed = 9, .spike_room = 1});
    SpikeList spikes;
    SpikeList expected;
    for (const auto& [backend, list] : {std::pair{device.get(), &spikes}, std::pair{emulator.get(), &expected}}) {
        RandomNetwork network = random_network(size, 3);
        for (BlockImage& block : network.image.blocks) {
            block.groups[0].signals.push_back(random_signal(size.neurons, false, 0));
        }
        network.load_into(*backend);
        for (const auto& [first, last] : {std::pair<i64, i64>{1, 50}, {51, 51}, {52, 200}}) {
            backend->set_courses(first, some_courses(size, first, last));
            for (i64 reached = first - 1; reached < last;) {
                reached = backend->run(reached + 1, last, never_stops);
                take_all(*backend, size.blocks, *list);
            }
        }
    }
    // Each neuron of a block is played twice in each fifth step.
    EXPECT_GT(expected.size(), u64{2} * size.neurons * size.blocks * 40);
    EXPECT_EQ(spikes, expected);
    const u64 of_one = static_cast<u64>(std::ranges::count(expected, std::tuple<i64, u32, u32>{100, 1, 7}));
    EXPECT_GE(of_one, 2U);
}

TEST_F(CudaDevices, CountTheMemoryThatTheyTake) {
    gpu().local_bytes = {{96, 40}};
    const NetworkSize size;
    const auto device = make({.threads = 96});
    EXPECT_EQ(device->memory().sum(), 0U);
    EXPECT_EQ(*device->room(), gpu().free_bytes - spare_bytes);
    const RandomNetwork network = random_network(size, 3);
    network.load_into(*device);
    const std::vector<RemoteSpike> remote(100);
    const auto allocated = [] {
        u64 bytes = 0;
        for (const auto& [address, words] : gpu().memory) bytes += words.size() * sizeof(u64);
        return bytes;
    };
    const auto expect_all = [&] {
        const DeviceBytes bytes = device->memory();
        const u64 code = bytes.kernels - u64{40} * gpu().threads * size.blocks;
        EXPECT_EQ(code, 5U);
        // The fake device rounds to whole words, and up.
        EXPECT_LE(bytes.sum() - bytes.kernels, allocated());
        EXPECT_GE(bytes.sum() - bytes.kernels + gpu().memory.size() * sizeof(u64), allocated());
    };
    device->run(1, 2, never_stops);
    expect_all();
    const DeviceBytes before = device->memory();
    u64 synapses = 0;
    for (const BlockRows& rows : network.rows)
        synapses += rows.synapses.size() * sizeof(Synapse) + rows.begin.size() * sizeof(u64);
    EXPECT_GE(before.synapses, synapses);
    EXPECT_LT(before.synapses, synapses + 2 * size.blocks * array_alignment);
    EXPECT_GE(before.rings, u64{size.blocks} * size.slots * size.neurons * sizeof(i64));
    EXPECT_GE(before.spikes, u64{size.blocks} * usual_spike_room * sizeof(Spike));
    device->receive(1, remote);
    device->run(3, 4, never_stops);
    EXPECT_GT(device->memory().spikes, before.spikes);
    expect_all();
}

TEST_F(CudaDevices, RunStepsAgainThatTheyHaveRunBefore) {
    const NetworkSize size;
    const auto device = make();
    random_network(size, 3).load_into(*device);
    // The fake device checks that no records of these steps are left.
    for (const i64 first : {i64{1}, i64{39}, i64{20}}) EXPECT_EQ(device->run(first, 40, never_stops), 40);
    EXPECT_EQ(device->run(41, 40, never_stops), 40);
    EXPECT_EQ(gpu().launches, 3);
}

TEST_F(CudaDevices, StopWhenTheyAreAsked) {
    const NetworkSize size;
    const auto device = make();
    random_network(size, 4).load_into(*device);
    int asked = 0;
    const i64 reached = device->run(1, 100'000, [&] { return ++asked == 2; });
    EXPECT_LT(reached, 100);
    EXPECT_EQ(reached % size.epoch_steps, 0);
    EXPECT_EQ(asked, 2);
    // It goes on as if it had not stopped.
    EXPECT_EQ(device->run(reached + 1, 200, never_stops), 200);
    SpikeList spikes;
    take_all(*device, size.blocks, spikes);
    random_network(size, 4).load_into(*device);
    EXPECT_EQ(device->run(1, 200, never_stops), 200);
    SpikeList expected;
    take_all(*device, size.blocks, expected);
    EXPECT_EQ(spikes, expected);
}

TEST_F(CudaDevices, EndTheKernelBeforeAnErrorOfTheCallerLeaves) {
    const auto device = make();
    random_network({}, 4).load_into(*device);
    EXPECT_THROW(device->run(1, 100'000, []() -> bool { throw std::runtime_error("interrupted"); }),
                 std::runtime_error);
    EXPECT_EQ(gpu().launch, nullptr);
    SpikeList spikes;
    take_all(*device, 3, spikes);
}

TEST_F(CudaDevices, StopWhenThereIsNoRoomForSpikes) {
    const NetworkSize size;
    const auto device = make({.spike_room = 1});
    random_network(size, 5).load_into(*device);
    SpikeList spikes;
    i64 done = 0;
    int runs = 0;
    while (done < 300) {
        const i64 reached = device->run(done + 1, 300, never_stops);
        ASSERT_GT(reached, done);
        done = reached;
        ++runs;
        take_all(*device, size.blocks, spikes);
    }
    EXPECT_GT(runs, 3);
    const auto roomy = make();
    random_network(size, 5).load_into(*roomy);
    EXPECT_EQ(roomy->run(1, 300, never_stops), 300);
    SpikeList expected;
    take_all(*roomy, size.blocks, expected);
    EXPECT_EQ(spikes, expected);
}

TEST_F(CudaDevices, SayThatANeuronHasFailed) {
    const auto device = make();
    random_network({}, 6).load_into(*device);
    BlockState state;
    device->get_state(1, state);
    state.variables[3] = 1e9;
    state.refractory[3] = 100;
    device->set_state(1, state);
    EXPECT_LT(device->run(1, 1000, never_stops), 10);
    const std::optional<Failure> failure = device->failure();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->step, 1);
    EXPECT_EQ(failure->block, 1U);
    EXPECT_EQ(failure->neuron, 3U);
}

TEST_F(CudaDevices, LaunchFewStepsWhereTimeIsLimited) {
    gpu().limits_run_time = 1;
    const NetworkSize size;
    const auto device = make();
    random_network(size, 7).load_into(*device);
    SpikeList spikes;
    EXPECT_EQ(device->run(1, 301, never_stops), 301);
    take_all(*device, size.blocks, spikes);
    EXPECT_GT(gpu().launches, 4);
    gpu().limits_run_time = 0;
    const auto other = make();
    random_network(size, 7).load_into(*other);
    EXPECT_EQ(other->run(1, 301, never_stops), 301);
    SpikeList expected;
    take_all(*other, size.blocks, expected);
    EXPECT_EQ(spikes, expected);
}

TEST_F(CudaDevices, ChooseThreadsByNeuronsAndRegisters) {
    const auto threads_of = [](const NetworkSize& size, const CudaOptions& options = {}) {
        const auto device = make(options);
        random_network(size, 8).load_into(*device);
        device->run(1, 2, never_stops);
        EXPECT_EQ(gpu().threads, gpu().bound_threads());
        return gpu().threads;
    };
    const auto has_registers = [] {
        return gpu().source.find("static constexpr u32 registers = 1;") != std::string::npos;
    };
    EXPECT_EQ(threads_of({}), 512U);
    EXPECT_TRUE(has_registers());
    EXPECT_EQ(threads_of({.neurons = 700}), 704U);
    EXPECT_TRUE(has_registers());
    EXPECT_EQ(threads_of({.blocks = 1, .neurons = 1100}), 1024U);
    EXPECT_FALSE(has_registers());
    // Fewer where registers do not suffice, but a thread for each block.
    gpu().local_bytes = {{256, 300}, {512, 300}, {352, 300}, {704, 300}, {96, 300}};
    EXPECT_EQ(threads_of({}), 256U);
    EXPECT_TRUE(has_registers());
    EXPECT_EQ(threads_of({.neurons = 700}), 352U);
    EXPECT_FALSE(has_registers());
    gpu().multiprocessors = 300;
    EXPECT_EQ(threads_of({.blocks = 300, .neurons = 2}), 512U);
    EXPECT_EQ(threads_of({}, {.blocks = 3, .threads = 96}), 96U);
}

TEST_F(CudaDevices, FreeWhatTheyTake) {
    {
        const auto device = make();
        random_network({}, 9).load_into(*device);
        device->run(1, 10, never_stops);
        random_network({}, 10).load_into(*device);
        EXPECT_EQ(gpu().modules, 1);
        EXPECT_EQ(gpu().memory.size(), 4U);  // of the network, and of the groups of each block
    }
    EXPECT_EQ(gpu().contexts, 0);
    EXPECT_EQ(gpu().entered, 0);
    EXPECT_EQ(gpu().modules, 0);
    EXPECT_EQ(gpu().streams, 0);
    EXPECT_EQ(gpu().pinned, 0);
    EXPECT_TRUE(gpu().memory.empty());
}

TEST_F(CudaDevices, CompileForTheirArchitecture) {
    gpu().capability_major = 8;
    gpu().capability_minor = 6;
    random_network({}, 11).load_into(*make());
    EXPECT_EQ(gpu().options[0], "--gpu-architecture=sm_80");
    // Newer than the compiler: the driver compiles.
    gpu().capability_major = 12;
    random_network({}, 11).load_into(*make());
    EXPECT_EQ(gpu().options[0], "--gpu-architecture=compute_100");
    EXPECT_NE(std::ranges::find(gpu().options, "--fmad=false"), gpu().options.end());
}

TEST_F(CudaDevices, RefuseWhatTheyCannotDo) {
    fields_of<DeviceError>([] { make({.device = 1}); }, {"cuda:1", "only cuda:0", "CUDA_VISIBLE_DEVICES"});
    gpu().devices = 2;
    fields_of<DeviceError>([] { make({.device = 7}); }, {"cuda:7", "cuda:0 to cuda:1", "choose one"});
    fields_of<DeviceError>([] { make({.device = -1}); }, {"cuda:-1", "cuda:0 to cuda:1"});
    fields_of<ValueOutOfBoundsError>([] { make({.threads = 33}); }, {"33", "multiple of 32"});
    fields_of<ValueOutOfBoundsError>([] { make({.blocks = 1025}); }, {"1025", "1024"});
    fields_of<ValueOutOfBoundsError>([] { make({.blocks = 64, .threads = 32}); }, {"at least the number of blocks"});

    gpu().cooperative = 0;
    fields_of<DeviceError>([] { make(); }, {"Fake 9000", "cooperative"});
    gpu().cooperative = 1;

    gpu().capability_major = 7;
    fields_of<DeviceError>([] { make(); }, {"sm_70", "sm_75", "simulate on processors"});
    gpu().capability_minor = 5;
    EXPECT_EQ(make()->blocks(), 3U);

    gpu().version = 12'040;
    fields_of<DeviceError>([] { make(); }, {"CUDA 12.4", "NVRTC 13.5", "ranvier[cuda12]"});
    gpu().version = 11'080;
    fields_of<DeviceError>([] { make(); }, {"CUDA 11.8", "525"});
    // Of the same major version, code of an architecture runs, and PTX does not.
    gpu().version = 13'000;
    EXPECT_EQ(make()->blocks(), 3U);
    gpu().capability_major = 12;
    fields_of<DeviceError>([] { make(); }, {"CUDA 13.0", "NVRTC 13.5"});
}

TEST_F(CudaDevices, RefuseNetworksThatAreTooLarge) {
    const auto device = make();
    gpu().free_bytes = 70'000'000;
    fields_of<InsufficientMemoryError>([&] { random_network({}, 1).load_into(*device); },
                                       {"Fake 9000", "70 MB of 1074 MB are free", "network smaller"});
    gpu().free_bytes = std::size_t{1} << 30;
    // Another process was faster.
    gpu().errors["memory_allocate"] = 2;
    fields_of<InsufficientMemoryError>([&] { random_network({}, 1).load_into(*device); }, {"the network needs more"});
    gpu().errors.clear();
    gpu().active_blocks = 0;
    fields_of<DeviceError>([&] { random_network({}, 1).load_into(*device); }, {"0 at once", "fewer blocks"});
    gpu().active_blocks = 1;
    fields_of<StateError>([&] { random_network({.blocks = 1, .neurons = 32'768}, 1).load_into(*device); },
                          {"32768", "32767", "more blocks"});
    // It is usable still.
    random_network({}, 1).load_into(*device);
    EXPECT_EQ(device->run(1, 10, never_stops), 10);
}

TEST_F(CudaDevices, ReportTheErrorsOfCompilerAndDriver) {
    const auto device = make();
    gpu().errors["compile_program"] = 6;
    gpu().compiler_log = "ranvier.cu(7): error: a mistake";
    fields_of<DeviceError>([&] { random_network({}, 1).load_into(*device); }, {"a mistake", "sm_90"});
    gpu().errors = {{"compile_program", 7}};
    fields_of<DeviceError>([&] { random_network({}, 1).load_into(*device); }, {"NVRTC_ERROR_FAKE", "install"});
    gpu().errors = {{"module_load_data", 222}};
    fields_of<DeviceError>([&] { random_network({}, 1).load_into(*device); }, {"CUDA 13.5", "update the driver"});
    gpu().errors = {{"module_get_function", 500}};
    fields_of<DeviceError>([&] { random_network({}, 1).load_into(*device); }, {"finding the kernel"});
    EXPECT_EQ(gpu().modules, 0);
    gpu().errors.clear();
    random_network({}, 1).load_into(*device);
    gpu().errors = {{"launch_cooperative", 720}};
    fields_of<DeviceError>([&] { device->run(1, 10, never_stops); }, {"at once"});
    gpu().errors = {{"copy_to_host", 700}};
    BlockState state;
    fields_of<DeviceError>([&] { device->get_state(0, state); }, {"copying from the GPU", "nvidia-smi"});
}

TEST_F(CudaDevices, AreLostWhenARunFails) {
    {
        const auto device = make();
        random_network({}, 1).load_into(*device);
        gpu().lost_after = 10;
        fields_of<DeviceError>([&] { device->run(5, 100, never_stops); },
                               {"Fake 9000", "CUDA_ERROR_LAUNCH_FAILED (a text)", "steps 5 and 100", "saved state"});
        BlockState state;
        fields_of<DeviceError>([&] { device->get_state(0, state); }, {"failed before", "new process"});
        fields_of<DeviceError>([&] { device->run(5, 100, never_stops); }, {"failed before"});
        fields_of<DeviceError>([&] { random_network({}, 1).load_into(*device); }, {"failed before"});
        gpu().launch.reset();
    }
    EXPECT_EQ(gpu().contexts, 0);
    EXPECT_EQ(gpu().entered, 0);
}

TEST_F(CudaDevices, TellThatThereIsNoDriverOrDevice) {
    fields_of<DeviceError>([] { Driver::load("/nowhere/libcuda.so.1"); },
                           {"/nowhere/libcuda.so.1", "cannot be loaded", "install the driver"});
    fields_of<DeviceError>([] { Driver::load("libm.so.6"); }, {"libm.so.6", "lacks", "cuInit", "525"});
    gpu().errors["init"] = 100;
    fields_of<DeviceError>([] { fake_driver(); }, {"no GPU", "CUDA_VISIBLE_DEVICES"});
    gpu().errors["init"] = 803;
    fields_of<DeviceError>([] { fake_driver(); }, {"different versions", "restart"});
    gpu().errors["init"] = 802;
    fields_of<DeviceError>([] { fake_driver(); }, {"not ready", "fabricmanager"});
    gpu().errors["init"] = 34;
    fields_of<DeviceError>([] { fake_driver(); }, {"stub"});
    gpu().errors["init"] = 999;
    fields_of<DeviceError>([] { fake_driver(); }, {"initialised", "nvidia-smi"});
    gpu().errors.clear();
    gpu().devices = 0;
    fields_of<DeviceError>([] { fake_driver(); }, {"0 devices", "no GPU"});
}

TEST_F(CudaDevices, TellThatThereIsNoCompiler) {
    fields_of<DeviceError>([] { KernelCompiler::load("/nowhere/libnvrtc.so"); },
                           {"/nowhere/libnvrtc.so", "cannot be loaded", "pip install ranvier[cuda]"});
    fields_of<DeviceError>([] { KernelCompiler::load("libm.so.6"); }, {"libm.so.6", "lacks", "nvrtcVersion"});
    // A library that is missing is an error, not a reason to take the next one.
    const std::vector<std::string> paths{"/nowhere/libnvrtc.so.13", "/nowhere/libnvrtc.so.12"};
    fields_of<DeviceError>([&] { find_compiler(paths, 13'000); }, {"/nowhere/libnvrtc.so.13"});
    fields_of<DeviceError>([] { fake_compiler()->compile("", {.architecture = 70}); },
                           {"sm_70", "NVRTC 13.5", "sm_75, sm_80, sm_90, sm_100"});
}

TEST(CudaTargets, AreTheNewestThatTheDeviceRuns) {
    const std::vector<u32> supported{75, 80, 86, 89, 90, 100, 120};
    const auto target = [&](u32 capability) { return choose_target(capability, supported); };
    EXPECT_EQ(target(75), (KernelTarget{75, false}));
    EXPECT_EQ(target(86), (KernelTarget{86, false}));
    EXPECT_EQ(target(87), (KernelTarget{86, false}));
    EXPECT_EQ(target(90), (KernelTarget{90, false}));
    EXPECT_EQ(target(103), (KernelTarget{100, false}));
    // A major architecture between those of the compiler, and one after them.
    EXPECT_EQ(target(110), (KernelTarget{100, true}));
    EXPECT_EQ(target(130), (KernelTarget{120, true}));
    fields_of<DeviceError>([&] { target(70); }, {"sm_70", "sm_75"});
    fields_of<DeviceError>([] { choose_target(75, std::vector<u32>{80, 90}); }, {"sm_75", "sm_80 and newer"});
}

TEST(CudaMemory, HasAlignedArraysThatDoNotOverlap) {
    const NetworkImage image = random_network({.blocks = 2, .neurons = 7, .epoch_steps = 3}, 1).image;
    const MemoryPlan plan = plan_memory(image, 10);
    std::vector<std::pair<u64, u64>> arrays{{plan.data, 2 * sizeof(BlockData)},
                                            {plan.records, 6 * 2 * sizeof(Record)},
                                            {plan.control, sizeof(Control)},
                                            {plan.spike_counts, 2 * sizeof(u32)},
                                            {plan.events, 2 * sizeof(u64)}};
    for (std::size_t b = 0; b < 2; ++b) {
        const BlockPlaces& places = plan.blocks[b];
        EXPECT_EQ(places.spike_room, 4 * 3 * 7U);
        arrays.insert(arrays.end(), {{places.state, 7 * sizeof(double)},
                                     {places.refractory, 7 * sizeof(i32)},
                                     {places.rows, 15 * sizeof(u64)},
                                     {places.synapses, image.blocks[b].synapses * sizeof(Synapse)},
                                     {places.ring, 16 * 7 * sizeof(i64)},
                                     {places.lists, 6 * 7 * sizeof(u16)},
                                     {places.spikes, 84 * sizeof(Spike)}});
    }
    std::ranges::sort(arrays);
    u64 end = 0;
    for (const auto& [place, bytes] : arrays) {
        EXPECT_EQ(place % array_alignment, 0U);
        EXPECT_GE(place, end);
        end = place + bytes;
    }
    EXPECT_GE(plan.bytes, end);
    EXPECT_EQ(plan_memory(image, 1000).blocks[0].spike_room, 1000U);
}

}  // namespace TEST_FILE
}  // namespace ranvier::device
