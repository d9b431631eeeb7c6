// The program's own account of its memory, and what it predicts, against every byte that it really allocates. This program
// replaces the operators new and delete, and mmap, from which buffers come.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "comm/mirror_communicator.hpp"
#include "models/equations/program_model.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/engine/simulation.hpp"
#include "selections.hpp"

namespace {

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> most{0};
std::atomic<std::int64_t> taken{0};  ///< in all, given back or not

void count(std::int64_t bytes) {
    if (bytes > 0) taken.fetch_add(bytes, std::memory_order_relaxed);
    const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t known = most.load(std::memory_order_relaxed);
    while (now > known && !most.compare_exchange_weak(known, now, std::memory_order_relaxed)) {
    }
}

/// Of a block of the heap, with its size in front.
std::int64_t heap_bytes(void* memory) {
    return static_cast<std::int64_t>(::malloc_usable_size(memory) + sizeof(std::size_t));
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(bytes) : std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    count(heap_bytes(memory));
    return memory;
}

void release(void* memory) {
    if (memory == nullptr) return;
    count(-heap_bytes(memory));
    std::free(memory);
}

std::int64_t whole_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    return static_cast<std::int64_t>((bytes + page - 1) / page * page);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, 1); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

// The C library itself does not call this one, for stacks of threads and large blocks.
extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    void* const memory = reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
    if (memory != MAP_FAILED) count(whole_pages(bytes));
    return memory;
}
extern "C" int munmap(void* address, std::size_t bytes) noexcept {
    count(-whole_pages(bytes));
    return static_cast<int>(::syscall(SYS_munmap, address, bytes));
}

namespace ranvier::engine {

using namespace network;
namespace {

struct Case {
    std::int32_t ranks = 1;
    std::uint32_t threads = 1;
    bool sorted = true;
    std::string numbering = "auto";
    std::string layout = "auto";
    std::string exchange = "alltoall";
    bool double_precision = false;
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
    return stream << c.ranks << " ranks, " << c.threads << " threads, " << (c.sorted ? c.numbering : "unsorted") << ", "
                  << c.layout << ", " << c.exchange << (c.double_precision ? ", double" : "");
}

/// Excitatory and inhibitory neurons with a drive, with the same load on each rank.
Network make_network(std::int32_t ranks) {
    Network network{0.1, 5};
    const std::uint64_t excitatory_size = static_cast<std::uint64_t>(ranks) * 2000;
    const std::uint64_t inhibitory_size = static_cast<std::uint64_t>(ranks) * 500;
    const PopulationId excitatory =
        network.create("iaf_psc_exp", excitatory_size, "excitatory",
                       {{"V_m", Distribution{.kind = Distribution::Kind::normal, .first = -60.0, .second = 3.0}}});
    const PopulationId inhibitory = network.create("iaf_psc_alpha", inhibitory_size, "inhibitory", {});
    const Distribution delays{.kind = Distribution::Kind::normal,
                              .first = 1.5,
                              .second = 0.7,
                              .restriction = Distribution::Restriction::redraw,
                              .lower = 0.5,
                              .upper = 4.0};
    for (const auto& [targets, size] : {std::pair{excitatory, excitatory_size}, {inhibitory, inhibitory_size}}) {
        add_projection(network, {excitatory, 0, excitatory_size}, {targets, 0, size},
                       {"fixed_indegree", {{"indegree", 800}}}, 20.0, delays);
        add_projection(network, {inhibitory, 0, inhibitory_size}, {targets, 0, size},
                       {"fixed_indegree", {{"indegree", 200}}}, -80.0, 1.5);
        add_stimulus(network, {targets, 0, size}, "poisson_generator", {{"rate", 9000.0}}, {}, 60.0, 1.5);
    }
    return network;
}

std::uint64_t total(const std::vector<MemoryItem>& items, const std::string& without = "") {
    std::uint64_t sum = 0;
    for (const MemoryItem& item : items) {
        if (item.component != without) sum += item.bytes;
    }
    return sum;
}

std::string listed(const std::vector<MemoryItem>& items) {
    std::string text;
    for (const MemoryItem& item : items) text += item.component + " " + std::to_string(item.bytes) + ", ";
    return text;
}

class MemoryAccount : public testing::TestWithParam<Case> {};

TEST_P(MemoryAccount, IsWhatIsAllocated) {
    const Case& c = GetParam();
    const Network network = make_network(c.ranks);
    const auto precision =
        c.double_precision ? models::Precision::double_precision : models::Precision::single_precision;
    const SimulationOptions options{.threads = c.threads,
                                    .weight_precision = precision,
                                    .table_layout = c.layout,
                                    .pinning = "none",
                                    .exchange = c.exchange,
                                    // Small beside all else: it is taken as a whole, needed or not.
                                    .connection_buffer = std::uint64_t{2} << 20,
                                    .sort_connections = c.sorted,
                                    .row_numbering = c.numbering,
                                    // Buffers are as large as the largest burst needs: here there is none.
                                    .invented_rates = {10.0}};
    const std::vector<MemoryItem> predicted = predict_memory(network, options, c.ranks, Rank{0}, {.rate = 10.0});
    const std::int64_t before = live;
    most = before;
    {
        Simulation simulation(network, options, {}, comm::make_mirror_communicator(c.ranks));
        const auto built = static_cast<double>(live - before);
        const auto peak = static_cast<double>(most - before);
        simulation.run(1000);
        const auto counted = static_cast<double>(live - before);
        const std::vector<MemoryItem> account = simulation.memory();
        SCOPED_TRACE("account: " + listed(account) + "predicted: " + listed(predicted));
        EXPECT_NEAR(static_cast<double>(total(account)), counted, 0.05 * counted);
        const auto invention = static_cast<double>(total(account) - total(account, "invention"));
        EXPECT_NEAR(static_cast<double>(total(predicted, "construction")), counted - invention, 0.1 * counted);
        // Memory that is needed for a moment only must not be more than predicted: otherwise a network is begun that
        // does not fit.
        EXPECT_LE(peak, 1.05 * static_cast<double>(total(predicted)));
        // Nor far less: memory that comes later, such as buffers of spikes, is predicted separately.
        EXPECT_LE(static_cast<double>(total(predicted)), 1.15 * std::max(peak, built));
    }
    // All of it is given back, but for what libraries keep.
    EXPECT_LT(live - before, 100'000);
}

INSTANTIATE_TEST_SUITE_P(Cases, MemoryAccount,
                         testing::Values(Case{}, Case{.threads = 2}, Case{.double_precision = true},
                                         Case{.layout = "ring"}, Case{.layout = "runs"}, Case{.layout = "blocks"},
                                         Case{.sorted = false}, Case{.ranks = 2}, Case{.ranks = 2, .threads = 2},
                                         Case{.ranks = 2, .numbering = "compact"}, Case{.ranks = 2, .sorted = false},
                                         Case{.ranks = 32, .threads = 2}, Case{.ranks = 32, .numbering = "dense"},
                                         Case{.ranks = 32, .numbering = "compact"}, Case{.ranks = 32, .sorted = false},
                                         Case{.ranks = 32, .exchange = "allgather"},
                                         Case{.ranks = 2048, .numbering = "sparse", .exchange = "allgather"},
                                         Case{.ranks = 2048}, Case{.ranks = 2048, .threads = 2},
                                         Case{.ranks = 2048, .sorted = false},
                                         Case{.ranks = 2048, .exchange = "neighbor"},
                                         Case{.ranks = 2048, .exchange = "allgather"}, Case{.ranks = 20'000}),
                         [](const auto& one) {
                             const Case& c = one.param;
                             return std::to_string(c.ranks) + "_ranks_" + std::to_string(c.threads) + "_threads_" +
                                    (c.sorted ? c.numbering : std::string("unsorted")) + "_" + c.layout + "_" +
                                    c.exchange + (c.double_precision ? "_double" : "");
                         });

/// Neurons of equations whose step has many instructions, so that the interpreter's code and registers weigh.
models::ProgramDescription with_a_long_step() {
    models::ProgramDescription made = models::described_iaf_psc_exp();
    const std::uint32_t current = 15;
    std::uint32_t last = current;
    for (int i = 0; i < 2000; ++i) {
        made.step.instructions.push_back({.operation = program::Operation::add, .operands = {last, current}});
        last = static_cast<std::uint32_t>(program::value_count(made.step) - 1);
    }
    made.step.results[2] = last;
    return made;
}

/// In place of compiled code: nothing happens.
std::uint32_t rest(const program::StepArguments* /*arguments*/) { return 0; }

struct ProgramCase {
    std::uint64_t neurons = 1;
    std::uint32_t threads = 1;
    bool compiled = false;
    bool differ = false;  ///< constants of neurons
    bool injected = false;
};

std::ostream& operator<<(std::ostream& stream, const ProgramCase& c) {
    return stream << c.neurons << " neurons, " << c.threads << " threads" << (c.compiled ? ", compiled" : "")
                  << (c.differ ? ", differ" : "") << (c.injected ? ", with a current" : "");
}

class MemoryOfPrograms : public testing::TestWithParam<ProgramCase> {};

TEST_P(MemoryOfPrograms, IsWhatIsAllocated) {
    const ProgramCase& c = GetParam();
    const auto model = std::make_shared<models::ProgramModel>(with_a_long_step());
    Network network{0.1, 5};
    std::map<std::string, Values, std::less<>> values;
    if (c.differ) values["C_m"] = Distribution{.kind = Distribution::Kind::uniform, .first = 200.0, .second = 300.0};
    const PopulationId neurons =
        network.create({.name = "neurons", .model = model, .size = c.neurons, .values = values});
    if (c.injected) add_stimulus(network, {neurons, 0, c.neurons}, "dc_generator", {{"amplitude", 1e-3}}, {}, 1.0, 1.0);
    SimulationOptions options{.threads = c.threads, .compiled_programs = c.compiled, .pinning = "none"};
    // What is predicted must not depend on whether the code is there already.
    if (c.compiled) options.programs_to_compile = {neurons.value};
    const std::vector<MemoryItem> predicted = predict_memory(network, options, 1, Rank{0}, {.rate = 0.0});
    options.programs_to_compile.clear();
    if (c.compiled) model->use_compiled(available_instruction_set(options.instruction_set), {.function = rest});
    const std::int64_t before = live;
    Simulation simulation(network, options, {}, comm::make_mirror_communicator(1));
    simulation.run(100);
    const auto counted = static_cast<double>(live - before);
    SCOPED_TRACE("account: " + listed(simulation.memory()) + "predicted: " + listed(predicted));
    // Beside what grows with the network, a simulation and each of its threads take some kilobytes.
    const double few = 16'000.0 + 16'000.0 * c.threads;
    EXPECT_NEAR(static_cast<double>(total(predicted, "construction")), counted, 0.1 * counted + few);
    EXPECT_NEAR(static_cast<double>(total(simulation.memory())), counted, 0.05 * counted + few);
}

INSTANTIATE_TEST_SUITE_P(Cases, MemoryOfPrograms,
                         testing::Values(ProgramCase{}, ProgramCase{.compiled = true}, ProgramCase{.neurons = 64},
                                         ProgramCase{.neurons = 64, .compiled = true, .differ = true},
                                         ProgramCase{.neurons = 64, .threads = 2, .differ = true},
                                         ProgramCase{.neurons = 1000, .threads = 2, .compiled = true},
                                         ProgramCase{.neurons = 1000, .differ = true, .injected = true},
                                         ProgramCase{.neurons = 1000, .threads = 2, .compiled = true, .injected = true},
                                         ProgramCase{.neurons = 100'000, .threads = 2, .differ = true},
                                         ProgramCase{
                                             .neurons = 100'000, .compiled = true, .differ = true, .injected = true}));

TEST(ProgramsToCompile, NeuronsDoNotAdvanceWithoutTheirCode) {
    const auto model = std::make_shared<models::ProgramModel>(models::described_iaf_psc_exp());
    Network network{0.1, 5};
    const PopulationId neurons = network.create({.name = "neurons", .model = model, .size = 10});
    const SimulationOptions options{.threads = 1, .compiled_programs = true, .programs_to_compile = {neurons.value}};
    Simulation simulation(network, options, {}, comm::make_mirror_communicator(1));
    EXPECT_THROW(simulation.run(1), InternalError);
}

/// What a network takes, described and simulated, against what is counted and predicted of it.
template <class Describe>
void expect_counted(const Describe& describe, double steps) {
    const std::int64_t before = live;
    const Network network = describe();
    const SimulationOptions options{.threads = 1, .pinning = "none"};
    Simulation simulation(network, options, {}, comm::make_mirror_communicator(1));
    simulation.run(static_cast<Step>(steps));
    const auto counted = static_cast<double>(live - before);
    const std::vector<MemoryItem> account = simulation.memory();
    const std::vector<MemoryItem> predicted = predict_memory(network, options, 1, Rank{0}, {.rate = 0.0});
    SCOPED_TRACE("account: " + listed(account) + "predicted: " + listed(predicted));
    const double few = 32'000.0;  // as above
    EXPECT_NEAR(static_cast<double>(total(account)), counted, 0.05 * counted + few);
    EXPECT_NEAR(static_cast<double>(total(predicted, "construction")), counted, 0.1 * counted + few);
}

TEST(MemoryOfStimuli, HasThePacketsThatAreDrawn) {
    // Two packets overlap: spikes come for eight standard deviations around the middle of each.
    expect_counted(
        [] {
            Network network{0.1, 5};
            const PopulationId neurons = network.create("iaf_psc_exp", 2000, "neurons", {});
            add_stimulus(network, {neurons, 0, 2000}, "pulsepacket_generator", {{"activity", 20.0}, {"sdev", 1.0}},
                         {{"pulse_times", {10.0, 20.0, 90.0, 100.0}}}, 1.0, 1.0);
            return network;
        },
        150);
}

TEST(MemoryOfStimuli, HasListsOfSpikesOnceInTheDescriptionAndOnceInTheSimulation) {
    expect_counted(
        [] {
            Network network{0.1, 5};
            // In each step few fire.
            std::vector<std::vector<double>> times(4000);
            for (std::size_t i = 0; i < times.size(); ++i) {
                for (std::size_t k = 0; k < 20; ++k) times[i].push_back(static_cast<double>(1 + i + 4000 * k) * 0.1);
            }
            add_spike_generators(network, "sources", times);
            return network;
        },
        100);
}

/// Whatever is looked for while weights are read or set takes memory. If it were looked for by each synapse or row, this
/// would be thousands of times as much: here thousands of spikes are on their way along axons of many lengths.
void expect_little_for_each_synapse(const std::string& model) {
    constexpr std::uint64_t neurons = 100;
    Network network{1.0, 5};
    const PopulationId population =
        network.create("interval_fire", neurons, "neurons", {{"interval_min", 2.0}, {"interval_max", 5.0}});
    const Selection all{population, 0, neurons};
    const Distribution delays{.kind = Distribution::Kind::uniform, .first = 1.0, .second = 18.0};
    const IdSequence modulators = model == "stdp_dopamine" ? IdSequence(NeuronId{0}, 1, neurons) : IdSequence();
    add_projection(network, all, all, {"all_to_all"}, 1.0, delays, "", 0.0,
                   {.model = &models::find_synapse_model(model),
                    .parameters = {{"axonal_fraction", 1.0}, {"W_max", 10.0}},
                    .modulators = modulators});
    Simulation simulation(network, {.threads = 1});
    simulation.run(100);
    ASSERT_GT(simulation.counts().spikes, 20 * neurons);
    const ConnectionData synapses = simulation.connections({});
    const auto size = static_cast<std::int64_t>(synapses.handles.size());
    ASSERT_EQ(size, neurons * neurons);
    // What is on its way takes some as well: thrice as many spikes as neurons, each to 18 parts of its row.
    const std::int64_t bound = 200 * size + 2'000'000;
    const auto taken_by = [](const auto& call) {
        const std::int64_t before = taken;
        call();
        return taken - before;
    };
    std::vector<double> weights;
    EXPECT_LT(taken_by([&] { (void)simulation.connections({}); }), bound);
    EXPECT_LT(taken_by([&] { weights = simulation.weights(synapses.handles); }), bound);
    EXPECT_LT(taken_by([&] { simulation.set_weights(synapses.handles, weights); }), bound);
}

TEST(WeightsThatLearn, AreReadAndSetManyAtOnce) {
    for (const char* model : {"stdp", "vogels_sprekeler", "stdp_dopamine"}) {
        SCOPED_TRACE(model);
        expect_little_for_each_synapse(model);
    }
}

}  // namespace
}  // namespace ranvier::engine
