#include "device/cuda/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "device/backend/memory_plan.hpp"
#include "device/backend/row_packing.hpp"
#include "device/backend/shared_plan.hpp"
#include "device/cuda/owned.hpp"
#include "device/cuda/program_source.hpp"
#include "device/kernel/block.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

constexpr u32 most_threads = 1024;  // of a block, on all architectures
/// Threads of a block, unless it has more neurons: so many read rows at once.
constexpr u32 usual_threads = 512;
/// Fewer get no more registers: 255 each.
constexpr u32 least_threads = 256;
/// Of a thread: more of them are registers that do not suffice.
constexpr int most_local_bytes = 256;
/// Variables of a neuron that threads keep in registers, at most.
constexpr u32 most_registers = 16;
/// Of a block that draws rows, and the memory of all threads for partners that were drawn without repetition.
constexpr u32 drawing_threads = 256;
constexpr u64 most_scratch = u64{1} << 30;
/// Time of a launch where a screen is attached, whose driver ends kernels after some seconds.
constexpr double limited_seconds = 0.3;

/// The kinds of signals that groups may get, as bits. Rates that a user sets make Poisson trains of a course, and of a course
/// trains.
u32 signal_kinds(std::span<const GroupImage> groups) {
    u32 kinds = 0;
    for (const GroupImage& group : groups) {
        for (const SignalImage& signal : group.signals) {
            kinds |= std::holds_alternative<NoiseImage>(signal.form)
                         ? bit_of(SignalKind::noise)
                         : bit_of(SignalKind::course) | bit_of(SignalKind::poisson);
        }
    }
    return kinds;
}

u32 whole_warps(u32 threads) { return (threads + warp_size - 1) / warp_size * warp_size; }

/// Rows that the device has drawn, of all blocks; see Construction.
struct DrawnRows {
    std::unique_ptr<DeviceMemory> begin;
    std::unique_ptr<DeviceMemory> synapses;
    std::vector<UrgentSynapses> urgent;  ///< by block
    std::vector<u32> delay_counts;       ///< Construction::delay_counts
    u32 delay_room = 0;
};

/// What a network has on the device.
struct Loaded {
    NetworkImage image;  ///< without groups
    MemoryPlan plan;
    std::unique_ptr<Module> module;
    u64 kernel_bytes = 0;  ///< of its code and the stacks of threads
    u32 threads = 0;
    u32 signals = 0;  ///< kinds that the kernel has, as bits
    std::vector<SharedPlan> shared;  ///< by block
    u32 shared_bytes = 0;  ///< most of any block
    std::unique_ptr<DeviceMemory> memory;
    std::vector<std::unique_ptr<DeviceMemory>> groups;  ///< by block
    std::vector<std::unique_ptr<DeviceMemory>> lists;  ///< by block, if it needs more room for spikes than was planned
    std::unique_ptr<DeviceMemory> courses;
    std::vector<std::unique_ptr<DeviceMemory>> table_memory;  ///< by block; null without tables
    std::vector<PackedTables> tables;  ///< by block, without the bytes
    std::unique_ptr<DeviceMemory> rates;  ///< of cells
    std::vector<std::unique_ptr<DeviceMemory>> cell_memory;  ///< by block; null without cells
    std::vector<PlacedCells> cells;  ///< by block, without the bytes
    std::vector<std::size_t> cell_states;  ///< by block
    std::vector<BlockData> data;
    bool has_new_data = true;  ///< data has changed since it was copied to the device
    // By block, as after the last run.
    std::vector<u32> spike_counts;  ///< without those that were taken
    std::vector<u64> events;
    i64 steps = 0;  ///< that were done
    /// Spikes of other processes for the next run, by block.
    std::vector<std::vector<RemoteSpike>> remote;
    std::unique_ptr<DeviceMemory> remote_memory;  ///< grows with their greatest number

    u64 remote_count() const {
        u64 count = 0;
        for (const std::vector<RemoteSpike>& spikes : remote) count += spikes.size();
        return count;
    }
};

class CudaDevice final : public Backend {
   public:
    CudaDevice(const CudaOptions& options, std::shared_ptr<const Driver> driver,
               std::shared_ptr<const KernelCompiler> compiler)
        : options_(options),
          context_(std::move(driver), options.device.value_or(0)),
          compiler_(std::move(compiler)),
          name_(context_.name()),
          identity_(context_.identity()),
          multiprocessors_(static_cast<u32>(context_.attribute(DeviceAttribute::multiprocessors))),
          limits_run_time_(context_.attribute(DeviceAttribute::limits_run_time) != 0),
          blocks_(options.blocks != 0 ? options.blocks : std::min(multiprocessors_, most_threads)) {
        const int major = context_.attribute(DeviceAttribute::capability_major);
        const int minor = context_.attribute(DeviceAttribute::capability_minor);
        target_ = choose_target(static_cast<u32>(10 * major + minor), compiler_->architectures());
        check_versions(context_.driver().version(), compiler_->version(), target_.is_ptx);
        if (context_.attribute(DeviceAttribute::cooperative_launch) == 0) {
            throw DeviceError({.object = "GPU " + name_,
                               .value = "no cooperative launch",
                               .bound = "blocks of threads of the kernel wait for each other, so all must run at once",
                               .remedy = "use another GPU or driver, or simulate on processors: leave out `device`"});
        }
        const ContextUse use(context_);
        stream_ = std::make_unique<Stream>(context_);
        stop_stream_ = std::make_unique<Stream>(context_);
        stop_ = std::make_unique<PinnedNumber>(context_);
    }
    ~CudaDevice() override {
        // Not ContextUse, which throws.
        const bool entered = context_.functions().context_push(context_.handle()) == 0;
        loaded_.reset();
        drawn_ = {};
        stop_.reset();
        stop_stream_.reset();
        stream_.reset();
        void* popped = nullptr;
        if (entered) context_.functions().context_pop(&popped);
    }
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    std::string name() const override { return name_; }
    DeviceIdentity identity() const override { return identity_; }
    u32 blocks() const override { return blocks_; }

    /// Compiling takes as long as what the host prepares.
    void expect_construction() override {
        construction_ = std::async(
            [compiler = compiler_, target = target_] { return compiler->compile(construction_source(), target); });
    }
    ConstructedRows construct(const ConstructionImage& image) override {
        check_usable();
        const ContextUse use(context_);
        loaded_.reset();
        drawn_ = {};
        if (!construction_.valid()) expect_construction();
        const Module module(context_, construction_.get(), "construct");
        int active = 0;
        context_.check(context_.functions().most_active_blocks(&active, module.kernel(), drawing_threads, 0),
                       "counting blocks that run at once");
        const auto aligned = [](u64 bytes) {
            return (bytes + array_alignment - 1) / array_alignment * array_alignment;
        };
        // The same arrays are measured, and then copied.
        u64 bytes = 0;
        const auto measure = [&](const auto& elements) {
            bytes += aligned(std::as_bytes(std::span(elements)).size());
            return elements.data();
        };
        Construction construction = construction_of(image, measure);
        measure(draws_of(image, measure));
        const u64 scratch_bytes = construction.scratch_words * sizeof(u32) * drawing_threads;
        u64 blocks = u64{static_cast<u32>(active)} * multiprocessors_;
        if (scratch_bytes > 0) blocks = std::clamp<u64>(most_scratch / scratch_bytes, 1, std::max<u64>(blocks, 1));
        const std::vector<DrawnWeights> nothing(image.projections.size());
        const std::vector<UrgentSynapses> none_urgent(construction.blocks);
        const u64 input_counts = construction.receptor_count * construction.neurons;
        measure(nothing);
        measure(none_urgent);
        const std::vector<u32> no_delays(construction.receptor_count * std::size_t{construction.delay_room});
        measure(no_delays);
        bytes += aligned(input_counts * sizeof(u64)) + aligned(construction.stretches * sizeof(u64)) +
                 aligned(blocks * scratch_bytes);
        const u64 begin_bytes = (construction.rows + 2) * sizeof(u64);
        check_memory(bytes + begin_bytes);
        DrawnRows drawn;
        drawn.begin = std::make_unique<DeviceMemory>(context_, begin_bytes, "rows of synapses");
        const DeviceMemory work(context_, bytes, "the construction of the network");
        const auto clear = [&](u64 address, u64 count) {
            if (count == 0) return;
            context_.check(context_.functions().fill_bytes(address, 0, count, stream_->handle()), "clearing memory");
        };
        clear(drawn.begin->address(), begin_bytes);
        clear(work.address(), bytes);
        stream_->wait("clearing memory");
        BlockRows given;
        for (u32 b = 0; image.given && b < construction.blocks; ++b) {
            const std::vector<u64> lengths = image.given_lengths(b, given);
            copy(drawn.begin->address() + (b * construction.neurons + 2) * sizeof(u64),
                 std::as_bytes(std::span(lengths)));
            stream_->wait("copying the lengths of rows");
        }
        u64 next = work.address();
        const auto take = [&]<class Element>(u64 count) {
            auto* const taken = reinterpret_cast<Element*>(static_cast<std::uintptr_t>(next));
            next += aligned(count * sizeof(Element));
            return taken;
        };
        const auto put = [&]<class Element>(const std::vector<Element>& elements) {
            copy(next, std::as_bytes(std::span(elements)));
            return take.template operator()<Element>(elements.size());
        };
        construction = construction_of(image, put);
        const std::vector<ProjectionDraws> draws = draws_of(image, put);
        construction.draws = put(draws);
        construction.weights = put(nothing);
        construction.urgent = put(none_urgent);
        construction.delay_counts = put(no_delays);
        copy(next, std::as_bytes(std::span(image.input_counts)));
        construction.input_counts = take.template operator()<u64>(input_counts);
        construction.sums = take.template operator()<u64>(construction.stretches);
        construction.scratch = take.template operator()<u32>(blocks * scratch_bytes / sizeof(u32));
        construction.row_begin = reinterpret_cast<u64*>(static_cast<std::uintptr_t>(drawn.begin->address()));
        stream_->wait("copying what rows are drawn from");
        std::vector<u64> synapses;
        for (u32 part = 0; part < build_parts; ++part) {
            if (static_cast<BuildPart>(part) == BuildPart::fill) {
                synapses = count_synapses(construction);
                u64 all = 0;
                for (const u64 of_block : synapses) all += of_block;
                check_memory(all * sizeof(Synapse));
                drawn.synapses = std::make_unique<DeviceMemory>(context_, all * sizeof(Synapse), "synapses");
                construction.synapses =
                    reinterpret_cast<Synapse*>(static_cast<std::uintptr_t>(drawn.synapses->address()));
            }
            const auto launch_part = [&] {
                void* arguments[] = {&construction, &part};
                context_.check(
                    context_.functions().launch_cooperative(module.kernel(), static_cast<unsigned>(blocks), 1, 1,
                                                            drawing_threads, 1, 1, 0, stream_->handle(), arguments),
                    "starting the construction");
                stream_->wait("drawing synapses");
            };
            if (static_cast<BuildPart>(part) != BuildPart::join) {
                launch_part();
                continue;
            }
            std::unique_ptr<DeviceMemory> memory;
            for (u32 b = 0; image.given && b < construction.blocks; ++b) {
                image.given(b, true, given);
                put_given(given, construction, memory);
                construction.given_block = b;
                launch_part();
            }
        }
        std::vector<DrawnWeights> weights(nothing.size());
        std::vector<u64> counts(input_counts);
        drawn.urgent.resize(none_urgent.size());
        drawn.delay_counts.resize(no_delays.size());
        drawn.delay_room = construction.delay_room;
        read(reinterpret_cast<std::uintptr_t>(construction.delay_counts), std::span(drawn.delay_counts));
        read(reinterpret_cast<std::uintptr_t>(construction.weights), std::span(weights));
        read(reinterpret_cast<std::uintptr_t>(construction.urgent), std::span(drawn.urgent));
        read(reinterpret_cast<std::uintptr_t>(construction.input_counts), std::span(counts));
        stream_->wait("reading what was drawn");
        drawn_ = std::move(drawn);
        return constructed(construction, std::move(synapses), std::move(weights), counts);
    }

    void load(NetworkImage image) override {
        if (image.blocks.empty() || image.blocks.size() > blocks_) throw InternalError("blocks of an image");
        check_usable();
        const ContextUse use(context_);
        loaded_.reset();
        if (!image.has_rows) drawn_ = {};
        failure_.reset();
        for (BlockImage& block : image.blocks) {
            for (std::size_t r = 0; image.has_rows && r < block.receptors.size(); ++r) {
                ReceptorImage& receptor = block.receptors[r];
                receptor.delay_counts = counts_of(drawn_.delay_counts, r, receptor.delays, drawn_.delay_room);
            }
        }
        should_settle_ = false;
        auto made = std::make_unique<Loaded>();
        made->plan = plan_memory(image, options_.spike_room != 0 ? options_.spike_room : usual_spike_room);
        check_memory(made->plan.bytes);
        load_kernel(image, *made);
        const auto stack = static_cast<u64>(made->module->attribute(FunctionAttribute::local_bytes));
        made->kernel_bytes = made->module->bytes() + stack * made->threads * image.blocks.size();
        made->memory = std::make_unique<DeviceMemory>(context_, made->plan.bytes, "the network");
        fill(*made, image);
        made->image = std::move(image);
        // Nobody reads them again.
        for (BlockImage& block : made->image.blocks) {
            block.groups = {};
            block.cells = {};
        }
        made->image.cell_rates = {};
        drawn_.begin.reset();
        made->spike_counts.assign(made->data.size(), 0);
        made->events.assign(made->data.size(), 0);
        made->remote.resize(made->data.size());
        loaded_ = std::move(made);
    }

    void set_rows(u32 block, BlockRows& rows) override {
        const BlockImage& image = loaded_->image.blocks[block];
        if (rows.begin.size() != u64{image.rows} + 1 || rows.synapses.size() != image.synapses) {
            throw InternalError("size of the rows of a block");
        }
        const PackedRows packed = pack_rows(rows, image.receptors, may_split(loaded_->image));
        const std::scoped_lock lock(copying_);
        check_usable();
        const ContextUse use(context_);
        copy_to<u32>(place(block).rows, packed.words);
        copy_to<Synapse>(place(block).synapses, rows.synapses);
        stream_->wait("copying synapses");
        BlockData& data = loaded_->data[block];
        data.rows.length_bits = packed.length_bits;
        data.is_split = packed.is_split ? 1 : 0;
        data.urgent_bits = packed.urgent_bits;
        loaded_->has_new_data = true;
    }

    void get_rows(u32 block, BlockRows& rows) override {
        check_usable();
        const ContextUse use(context_);
        const BlockData& data = loaded_->data[block];
        const u32 count = loaded_->image.blocks[block].rows;
        std::vector<u32> words(index_words(count, data.rows.length_bits));
        rows.synapses.resize(loaded_->image.blocks[block].synapses);
        read(reinterpret_cast<std::uintptr_t>(data.rows.words), std::span(words));
        read(reinterpret_cast<std::uintptr_t>(data.synapses), std::span(rows.synapses));
        stream_->wait("reading synapses");
        read_begins(words, data.rows.length_bits, count, rows);
    }

    void set_tables(u32 block, const TablesImage& tables) override {
        const std::scoped_lock lock(copying_);
        check_usable();
        const ContextUse use(context_);
        BlockData& data = loaded_->data[block];
        loaded_->has_new_data = true;
        std::unique_ptr<DeviceMemory>& memory = loaded_->table_memory[block];
        memory = nullptr;
        loaded_->tables[block] = {};
        if (!tables.empty()) {
            // How many bytes there are does not depend on the address.
            const std::size_t bytes = pack_tables(tables, 0).bytes.size();
            check_memory(bytes);
            memory = std::make_unique<DeviceMemory>(context_, bytes, "synapses that change with spikes");
            PackedTables packed = pack_tables(tables, memory->address());
            copy(memory->address(), packed.bytes);
            stream_->wait("copying synapses that change with spikes");
            packed.bytes = {};
            loaded_->tables[block] = std::move(packed);
        }
        const PackedTables& made = loaded_->tables[block];
        data.learning_count = static_cast<u32>(made.learning.size());
        data.factor_count = static_cast<u32>(made.factors.size());
        data.learning = made.learning_tables;
        data.factors = made.factor_tables;
        data.settled = made.settled;
    }

    void set_learning(u32 block, u32 table, const LearningState& state, i64 step) override {
        check_usable();
        const ContextUse use(context_);
        const PackedTables& tables = loaded_->tables[block];
        const LearningTable& to = tables.learning[table];
        visit_state(state, to, [&](const auto& values, const auto* at) { copy_to_array(at, std::span(values)); });
        const std::vector<u32> none(to.neurons, 0);
        copy_to_array(to.new_counts, std::span(none));
        copy_to_array(to.greatest, std::span(&state.greatest, 1));
        copy_to_array(tables.settled, std::span(&step, 1));
        stream_->wait("copying synapses that learn");
    }
    void get_learning(u32 block, u32 table, LearningState& state) override {
        check_usable();
        const ContextUse use(context_);
        const LearningTable& from = loaded_->tables[block].learning[table];
        visit_state(state, from, [&](auto& values, const auto* at) { copy_from_array(at, std::span(values)); });
        copy_from_array(from.greatest, std::span(&state.greatest, 1));
        stream_->wait("copying synapses that learn");
    }
    void set_factors(u32 block, u32 table, const FactorState& state) override {
        check_usable();
        const ContextUse use(context_);
        const FactorTable& to = loaded_->tables[block].factors[table];
        visit_state(state, to, [&](const auto& values, const auto* at) { copy_to_array(at, std::span(values)); });
        stream_->wait("copying the state of synapses");
    }
    void get_factors(u32 block, u32 table, FactorState& state) override {
        check_usable();
        const ContextUse use(context_);
        const FactorTable& from = loaded_->tables[block].factors[table];
        visit_state(state, from, [&](auto& values, const auto* at) { copy_from_array(at, std::span(values)); });
        stream_->wait("copying the state of synapses");
    }

    void settle(i64 step) override {
        check_usable();
        const ContextUse use(context_);
        bool has_stopped = false;
        launch({.first = step + 1, .last = step + 1, .settles = 1}, [] { return false; }, has_stopped);
    }

    void replay(i64 step, bool takes_back) override {
        check_usable();
        const ContextUse use(context_);
        bool has_stopped = false;
        const double sign = takes_back ? -1.0 : 1.0;
        launch(
            {.inverse_quantum = sign, .first = step + 1, .last = step + 1, .replays = 1}, [] { return false; },
            has_stopped);
    }

    void set_constants(u32 block, std::span<const GroupImage> groups) override {
        check_usable();
        if ((signal_kinds(groups) & ~loaded_->signals) != 0) throw InternalError("kinds of signals of a block");
        const ContextUse use(context_);
        put_groups(*loaded_, loaded_->image.programs, block, groups);
    }

    void set_cells(std::span<const CellsImage> blocks, std::span<const double> rates) override {
        check_usable();
        const ContextUse use(context_);
        put_cells(*loaded_, blocks, rates);
    }

    void set_state(u32 block, const BlockState& state) override {
        check_usable();
        const BlockImage& image = loaded_->image.blocks[block];
        if (state.variables.size() != std::size_t{image.variables} * image.neurons ||
            state.refractory.size() != image.neurons) {
            throw InternalError("size of the state of a block");
        }
        const ContextUse use(context_);
        copy_to<double>(place(block).state, state.variables);
        copy_to<i32>(place(block).refractory, state.refractory);
        const Cells& cells = loaded_->cells[block].cells;
        copy_to_array(cells.potential, std::span(state.cells.potential));
        copy_to_array(cells.states, std::span(state.cells.states));
        stream_->wait("copying the state of neurons");
    }

    void get_state(u32 block, BlockState& state) override {
        check_usable();
        const BlockImage& image = loaded_->image.blocks[block];
        state.variables.resize(std::size_t{image.variables} * image.neurons);
        state.refractory.resize(image.neurons);
        const ContextUse use(context_);
        copy_from<double>(place(block).state, state.variables);
        copy_from<i32>(place(block).refractory, state.refractory);
        const Cells& cells = loaded_->cells[block].cells;
        state.cells.potential.resize(cells.node_count);
        state.cells.states.resize(loaded_->cell_states[block]);
        copy_from_array(cells.potential, std::span(state.cells.potential));
        copy_from_array(cells.states, std::span(state.cells.states));
        stream_->wait("copying the state of neurons");
    }

    void set_ring(u32 block, std::span<const i64> sums) override {
        check_usable();
        const BlockImage& image = loaded_->image.blocks[block];
        if (sums.size() != std::size_t{image.slots} * image.inputs()) throw InternalError("size of a ring");
        const ContextUse use(context_);
        copy_to<i64>(place(block).ring, sums);
        stream_->wait("copying sums of weights");
    }

    void receive(u32 block, std::span<const RemoteSpike> spikes) override {
        check_usable();
        loaded_->remote[block].assign(spikes.begin(), spikes.end());
    }

    void set_courses(i64 first, std::span<const BlockCourses> blocks) override {
        check_usable();
        const ContextUse use(context_);
        std::vector<Courses> places;
        // How many bytes there are does not depend on the address.
        const std::size_t bytes = pack_courses(first, blocks, 0, places).size();
        std::unique_ptr<DeviceMemory>& memory = loaded_->courses;
        if (memory == nullptr || memory->bytes() < bytes) {
            memory.reset();
            memory = std::make_unique<DeviceMemory>(context_, bytes, "inputs of neurons");
        }
        copy(memory->address(), pack_courses(first, blocks, memory->address(), places));
        stream_->wait("copying inputs of neurons");
        for (u32 b = 0; b < places.size(); ++b) {
            loaded_->data[b].courses = places[b];
            const BlockImage& image = loaded_->image.blocks[b];
            if (image.most_spikes(blocks[b].most_played) <= loaded_->data[b].list_room) continue;
            // Some more than needed now: then later courses need no other memory.
            make_lists(b, image.most_spikes(2 * blocks[b].most_played));
        }
        loaded_->has_new_data = true;
    }

    void get_ring(u32 block, std::span<i64> sums) override {
        check_usable();
        const ContextUse use(context_);
        copy_from<i64>(place(block).ring, sums);
        stream_->wait("copying sums of weights");
    }

    i64 run(i64 first, i64 last, const std::function<bool()>& stops) override {
        check_usable();
        if (first > last) return last;
        const ContextUse use(context_);
        const i64 epoch = loaded_->image.epoch_steps;
        i64 most = limits_run_time_ ? epoch : last - first + 1;
        for (i64 begin = first;;) {
            const i64 end = std::min(last, begin + most - 1);
            const auto start = std::chrono::steady_clock::now();
            bool has_stopped = false;
            const i64 reached = launch({.first = begin, .last = end}, stops, has_stopped);
            if (reached < end || end == last || has_stopped || failure_) return reached;
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            // Only where a screen is attached. Launches are whole epochs.
            if (taken.count() < limited_seconds / 2.0) most *= 2;
            if (taken.count() > limited_seconds) most = std::max(epoch, most / 2 / epoch * epoch);
            begin = end + 1;
        }
    }

    bool should_settle() const override { return should_settle_; }
    std::optional<Failure> failure() const override { return failure_; }

    void take_spikes(u32 block, std::vector<Spike>& spikes) override {
        check_usable();
        const BlockData& data = loaded_->data[block];
        const u32 count = loaded_->spike_counts[block];
        if (count > data.spike_room) throw InternalError("more spikes than there is room for");
        spikes.resize(count);
        if (count == 0) return;
        const ContextUse use(context_);
        // They may be in memory of their own.
        copy_from<Spike>(reinterpret_cast<std::uintptr_t>(data.spikes) - loaded_->memory->address(), spikes);
        stream_->wait("copying spikes");
        loaded_->spike_counts[block] = 0;
    }

    u64 events(u32 block) override {
        check_usable();
        return loaded_->events[block];
    }

    DeviceBytes memory() const override {
        if (loaded_ == nullptr) return {};
        DeviceBytes bytes = loaded_->plan.purposes;
        for (const auto& groups : loaded_->groups) bytes.state += groups->bytes();
        if (loaded_->courses != nullptr) bytes.state += loaded_->courses->bytes();
        for (const auto& lists : loaded_->lists) bytes.spikes += lists == nullptr ? 0 : lists->bytes();
        if (loaded_->remote_memory != nullptr) bytes.spikes += loaded_->remote_memory->bytes();
        bytes.kernels = loaded_->kernel_bytes;
        if (loaded_->image.has_rows) bytes.synapses += drawn_.synapses->bytes();
        if (loaded_->rates != nullptr) bytes.state += loaded_->rates->bytes();
        for (const auto& cells : loaded_->cell_memory) bytes.state += cells == nullptr ? 0 : cells->bytes();
        for (const auto& tables : loaded_->table_memory) bytes.synapses += tables == nullptr ? 0 : tables->bytes();
        return bytes;
    }

    std::optional<u64> room() const override {
        check_usable();
        const ContextUse use(context_);
        const u64 available = memory_info().first;
        return available - std::min(available, spare_bytes);
    }

   private:
    const BlockPlaces& place(u32 block) const { return loaded_->plan.blocks[block]; }

    void check_usable() const {
        if (lost_.empty()) return;
        throw DeviceError({.object = "GPU " + name_,
                           .value = lost_,
                           .bound = "it has failed before, and its memory is lost",
                           .remedy = "start a new process, and continue there from a saved state"});
    }

    /// Free bytes, and all.
    std::pair<u64, u64> memory_info() const {
        std::size_t available = 0;
        std::size_t total = 0;
        context_.check(context_.functions().memory_get_info(&available, &total), "reading the free memory");
        return {available, total};
    }

    void check_memory(u64 needed) const {
        const auto [available, total] = memory_info();
        if (needed + spare_bytes <= available) return;
        const auto in_megabytes = [](u64 bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; };
        throw InsufficientMemoryError(
            {.object = "memory of the GPU " + name_,
             .value = in_megabytes(needed + spare_bytes) + " for the network",
             .bound = in_megabytes(available) + " of " + in_megabytes(total) + " are free",
             .remedy =
                 "make the network smaller, end other programs that use the GPU, use a larger one, or simulate on "
                 "processors: leave out `device`"});
    }

    /// Compiles the kernel, and chooses the threads of a block, what they keep in registers and in shared memory.
    void load_kernel(const NetworkImage& image, Loaded& made) const {
        const auto blocks = static_cast<u32>(image.blocks.size());
        u32 neurons = 0;
        for (const BlockImage& block : image.blocks) neurons = std::max(neurons, block.neurons);
        u32 variables = 0;
        for (const DeviceProgram& program : image.programs) variables = std::max(variables, program.variables);
        for (const BlockImage& block : image.blocks) made.signals |= signal_kinds(block.groups);
        // Each thread waits for a block.
        const u32 least = whole_warps(blocks);
        const u32 chosen = options_.tuning.threads.value_or(options_.threads);
        made.threads = chosen != 0 ? std::max(chosen, least)
                                   : std::clamp(whole_warps(neurons), std::max(least, usual_threads), most_threads);
        for (;;) {
            const bool keeps_state =
                neurons <= made.threads && variables <= most_registers && options_.tuning.has_registers.value_or(true);
            // Without variables, a thread keeps how long its neuron is refractory.
            const u32 registers = keeps_state ? std::max(variables, 1U) : 0;
            made.module = std::make_unique<Module>(
                context_,
                compiler_->compile(kernel_source(image.programs,
                                                 {.threads = made.threads,
                                                  .blocks = blocks_of_each(blocks),
                                                  .registers = registers,
                                                  .signals = made.signals,
                                                  .has_clocks = !options_.tuning.clocks.empty()},
                                                 {image.learning_rules, image.release_rules}, image.cell_programs),
                                   target_),
                "run");
            plan_shared_memory(image, keeps_state, made);
            const u32 fewer = whole_warps(made.threads / 2);
            // Threads that do not have enough registers are slower than half as many.
            const bool spills = made.module->attribute(FunctionAttribute::local_bytes) > most_local_bytes;
            if (chosen != 0 || !spills || fewer < std::max(least, least_threads)) break;
            made.threads = fewer;
        }
        const DriverFunctions& functions = context_.functions();
        context_.check(functions.function_set_attribute(made.module->kernel(),
                                                        static_cast<int>(FunctionAttribute::most_dynamic_shared_bytes),
                                                        static_cast<int>(made.shared_bytes)),
                       "reserving shared memory");
        int active = 0;
        context_.check(functions.most_active_blocks(&active, made.module->kernel(), static_cast<int>(made.threads),
                                                    made.shared_bytes),
                       "counting blocks that run at once");
        if (u64{static_cast<u32>(active)} * multiprocessors_ < image.blocks.size()) {
            throw DeviceError({.object = "blocks of threads",
                               .value = std::to_string(image.blocks.size()),
                               .bound = "the GPU " + name_ + " can run " +
                                        std::to_string(u64{static_cast<u32>(active)} * multiprocessors_) + " at once",
                               .remedy = "use fewer blocks, or fewer threads for each"});
        }
    }

    bool may_split(const NetworkImage& image) const {
        return image.epoch_steps == 1 && options_.tuning.may_split.value_or(true);
    }

    /// Blocks of a multiprocessor.
    u32 blocks_of_each(u32 blocks) const { return (blocks + multiprocessors_ - 1) / multiprocessors_; }

    /// A multiprocessor has its shared memory for all its blocks.
    void plan_shared_memory(const NetworkImage& image, bool keeps_state, Loaded& made) const {
        const auto blocks = static_cast<u32>(image.blocks.size());
        const int of_block = context_.attribute(DeviceAttribute::most_shared_bytes);
        const int of_all = context_.attribute(DeviceAttribute::shared_bytes_of_multiprocessor) /
                               static_cast<int>(blocks_of_each(blocks)) -
                           context_.attribute(DeviceAttribute::reserved_shared_bytes);
        const int available =
            std::min(of_block, of_all) - made.module->attribute(FunctionAttribute::static_shared_bytes);
        const SharedRoom room{.bytes = static_cast<u32>(std::max(available, 0)),
                              .arrival_room = options_.arrival_room,
                              .has_registers = keeps_state};
        made.shared.clear();
        made.shared_bytes = 0;
        for (const BlockImage& block : image.blocks) {
            SharedRoom of_this = room;
            if (options_.tuning.shared_bytes) {
                const SharedNeed need = shared_need(block, image.programs, blocks, options_.arrival_room);
                of_this.bytes = std::min(room.bytes, std::max(need.least, *options_.tuning.shared_bytes));
            }
            made.shared.push_back(plan_shared(block, image.programs, blocks, of_this));
            made.shared_bytes = std::max(made.shared_bytes, made.shared.back().places.bytes);
        }
    }

    /// Copies an image, and clears what it does not have.
    void fill(Loaded& made, const NetworkImage& image) {
        const MemoryPlan& plan = made.plan;
        const u64 base = made.memory->address();
        context_.check(context_.functions().fill_bytes(base, 0, plan.bytes, stream_->handle()), "clearing memory");
        const auto at = [&]<class Element>(Element*& pointer, u64 place) {
            pointer = reinterpret_cast<Element*>(static_cast<std::uintptr_t>(base + place));
        };
        u32 source = 0;
        for (std::size_t b = 0; b < image.blocks.size(); ++b) {
            const BlockImage& block = image.blocks[b];
            const BlockPlaces& places = plan.blocks[b];
            BlockData data{.neurons = block.neurons,
                           .slots = block.slots,
                           .receptor_count = static_cast<u32>(block.receptors.size()),
                           .group_count = static_cast<u32>(block.groups.size()),
                           .spike_room = places.spike_room,
                           .list_room = places.list_room,
                           .first_source = source,
                           .rows = {},
                           .receptors = {},
                           .shared = made.shared[b].places,
                           .courses = {},
                           .cells = {}};
            std::ranges::copy(made.shared[b].receptors, data.receptors);
            source += block.neurons;
            at(data.state, places.state);
            at(data.refractory, places.refractory);
            at(data.rows.words, places.rows);
            if (image.has_rows) {
                put_drawn_rows(static_cast<u32>(b), image, base + places.rows, data);
            } else {
                at(data.synapses, places.synapses);
            }
            at(data.ring, places.ring);
            at(data.lists, places.lists);
            at(data.spikes, places.spikes);
            at(data.spike_count, plan.spike_counts + b * sizeof(u32));
            at(data.events, plan.events + b * sizeof(u64));
            made.data.push_back(data);
            made.groups.push_back(nullptr);
            made.lists.push_back(nullptr);
            made.table_memory.push_back(nullptr);
            made.tables.emplace_back();
            put_groups(made, image.programs, static_cast<u32>(b), block.groups);
        }
        stream_->wait("copying the network");
        std::vector<CellsImage> cells;
        cells.reserve(image.blocks.size());
        for (const BlockImage& block : image.blocks) cells.push_back(block.cells);
        put_cells(made, cells, image.cell_rates);
    }

    /// Without state.
    void put_cells(Loaded& made, std::span<const CellsImage> blocks, std::span<const double> rates) {
        made.rates.reset();
        made.cell_memory.clear();
        made.cells.clear();
        made.cell_states.clear();
        made.has_new_data = true;
        if (!rates.empty()) {
            check_memory(rates.size_bytes());
            made.rates = std::make_unique<DeviceMemory>(context_, rates.size_bytes(), "rates of gates");
            copy(made.rates->address(), std::as_bytes(rates));
            stream_->wait("copying rates of gates");
        }
        const u64 rates_at = made.rates == nullptr ? 0 : made.rates->address();
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            made.cell_memory.push_back(nullptr);
            made.cells.emplace_back();
            made.cell_states.push_back(blocks[b].states);
            if (blocks[b].empty()) {
                made.data[b].cells = {};
                continue;
            }
            // How many bytes there are does not depend on the address.
            const std::size_t bytes = place_cells(blocks[b], 0, nullptr).bytes.size();
            check_memory(bytes);
            made.cell_memory[b] = std::make_unique<DeviceMemory>(context_, bytes, "detailed cells");
            made.cells[b] = place_cells(blocks[b], made.cell_memory[b]->address(),
                                        reinterpret_cast<const double*>(static_cast<std::uintptr_t>(rates_at)));
            copy(made.cell_memory[b]->address(), made.cells[b].bytes);
            stream_->wait("copying detailed cells");
            made.cells[b].bytes = {};
            made.data[b].cells = made.cells[b].cells;
        }
    }

    /// Finds the rows of a block among those that were drawn. @param address of RowTable::words
    void put_drawn_rows(u32 b, const NetworkImage& image, u64 address, BlockData& data) const {
        const BlockImage& block = image.blocks[b];
        std::vector<u64> begin(block.rows + std::size_t{1});
        read(drawn_.begin->address() + b * u64{block.rows} * sizeof(u64), std::span(begin));
        stream_->wait("reading rows");
        PackedRows packed = index_rows(begin);
        if (may_split(image)) split_rows(drawn_.urgent[b], begin.back() - begin.front(), packed);
        copy(address, std::as_bytes(std::span(packed.words)));
        stream_->wait("copying rows");
        data.rows.length_bits = packed.length_bits;
        data.is_split = packed.is_split ? 1 : 0;
        data.urgent_bits = packed.urgent_bits;
        data.synapses =
            reinterpret_cast<const Synapse*>(static_cast<std::uintptr_t>(drawn_.synapses->address())) + begin.front();
    }

    void put_groups(Loaded& made, std::span<const DeviceProgram> programs, u32 block,
                    std::span<const GroupImage> groups) {
        // How many bytes there are does not depend on the address.
        const std::size_t bytes = pack_groups(groups, programs, 0).bytes.size();
        std::unique_ptr<DeviceMemory>& memory = made.groups[block];
        if (memory == nullptr || memory->bytes() < bytes) {
            memory = std::make_unique<DeviceMemory>(context_, bytes, "parameters of neurons");
        }
        const PackedGroups packed = pack_groups(groups, programs, memory->address());
        copy(memory->address(), packed.bytes);
        stream_->wait("copying parameters of neurons");
        BlockData& data = made.data[block];
        data.groups = packed.groups;
        data.constants = packed.constants;
        data.group_count = static_cast<u32>(groups.size());
        data.constant_count = packed.constant_count;
        made.has_new_data = true;
    }

    /// Makes room for more spikes in a step of a block.
    void make_lists(u32 block, u32 list_room) {
        const u32 epoch_steps = loaded_->image.epoch_steps;
        const u64 room = spike_room_for(epoch_steps, list_room, usual_spike_room);
        const u64 list_bytes = 2 * u64{epoch_steps} * list_room * sizeof(u16);
        const u64 spikes_at = (list_bytes + array_alignment - 1) / array_alignment * array_alignment;
        std::unique_ptr<DeviceMemory>& memory = loaded_->lists[block];
        memory.reset();
        memory = std::make_unique<DeviceMemory>(context_, spikes_at + room * sizeof(Spike), "spikes");
        BlockData& data = loaded_->data[block];
        data.lists = reinterpret_cast<u16*>(static_cast<std::uintptr_t>(memory->address()));
        data.spikes = reinterpret_cast<Spike*>(static_cast<std::uintptr_t>(memory->address() + spikes_at));
        data.list_room = list_room;
        data.spike_room = static_cast<u32>(room);
        loaded_->has_new_data = true;
    }

    void copy(u64 address, std::span<const std::byte> bytes) const {
        if (bytes.empty()) return;
        context_.check(context_.functions().copy_to_device(address, bytes.data(), bytes.size(), stream_->handle()),
                       "copying to the GPU");
    }
    template <class Element>
    void copy_to(u64 place, std::span<const Element> elements) const {
        copy(loaded_->memory->address() + place, std::as_bytes(elements));
    }
    template <class Element>
    void copy_from(u64 place, std::span<Element> elements) const {
        read(loaded_->memory->address() + place, elements);
    }
    template <class Element>
    void read(u64 address, std::span<Element> elements) const {
        if (elements.empty()) return;
        context_.check(
            context_.functions().copy_to_host(elements.data(), address, elements.size_bytes(), stream_->handle()),
            "copying from the GPU");
    }

    /// Copies rows of tables. @param memory grows with their greatest number
    void put_given(const BlockRows& rows, Construction& construction, std::unique_ptr<DeviceMemory>& memory) const {
        const std::span<const std::byte> begin = std::as_bytes(std::span(rows.begin));
        const std::span<const std::byte> synapses = std::as_bytes(std::span(rows.synapses));
        const u64 needed = begin.size() + synapses.size();
        if (memory == nullptr || memory->bytes() < needed) {
            memory.reset();
            check_memory(needed);
            memory = std::make_unique<DeviceMemory>(context_, needed, "rows of tables");
        }
        copy(memory->address(), begin);
        copy(memory->address() + begin.size(), synapses);
        stream_->wait("copying synapses");
        construction.given_begin = reinterpret_cast<const u64*>(static_cast<std::uintptr_t>(memory->address()));
        construction.given =
            reinterpret_cast<const Synapse*>(static_cast<std::uintptr_t>(memory->address() + begin.size()));
    }

    /// The synapses of blocks, once their rows are placed.
    std::vector<u64> count_synapses(const Construction& construction) const {
        std::vector<u64> begins(construction.blocks + std::size_t{1});
        for (std::size_t b = 0; b < begins.size(); ++b) {
            read(reinterpret_cast<std::uintptr_t>(construction.row_begin + b * construction.neurons + 1),
                 std::span(begins).subspan(b, 1));
        }
        stream_->wait("counting synapses");
        std::vector<u64> synapses;
        synapses.reserve(construction.blocks);
        for (u32 b = 0; b < construction.blocks; ++b) synapses.push_back(begins[b + std::size_t{1}] - begins[b]);
        return synapses;
    }

    /// Copies spikes of other processes and where those of each block begin, and returns the place of the latter: all spikes
    /// come first.
    u64 put_remote() {
        std::vector<RemoteSpike> spikes;
        std::vector<u64> begin{0};
        for (std::vector<RemoteSpike>& of_block : loaded_->remote) {
            spikes.insert(spikes.end(), of_block.begin(), of_block.end());
            begin.push_back(spikes.size());
            of_block.clear();
        }
        const std::span<const std::byte> spike_bytes = std::as_bytes(std::span(spikes));
        const std::span<const std::byte> begin_bytes = std::as_bytes(std::span(begin));
        const u64 needed = spike_bytes.size() + begin_bytes.size();
        if (loaded_->remote_memory == nullptr || loaded_->remote_memory->bytes() < needed) {
            loaded_->remote_memory.reset();
            loaded_->remote_memory = std::make_unique<DeviceMemory>(context_, 2 * needed, "spikes of other processes");
        }
        const u64 address = loaded_->remote_memory->address();
        copy(address, spike_bytes);
        copy(address + spike_bytes.size(), begin_bytes);
        // They are copied before this memory of the host is freed.
        stream_->wait("copying spikes of other processes");
        return address + spike_bytes.size();
    }

    template <class Element>
    void copy_to_array(const Element* array, std::span<const Element> elements) const {
        copy(reinterpret_cast<std::uintptr_t>(array), std::as_bytes(elements));
    }
    template <class Element>
    void copy_to_array(const Element* array, std::span<Element> elements) const {
        copy_to_array(array, std::span<const Element>(elements));
    }
    template <class Element>
    void copy_from_array(const Element* array, std::span<Element> elements) const {
        if (elements.empty()) return;
        context_.check(context_.functions().copy_to_host(elements.data(), reinterpret_cast<std::uintptr_t>(array),
                                                         elements.size_bytes(), stream_->handle()),
                       "copying from the GPU");
    }

    /// Runs steps by one launch, and returns the last one that was done. @param parameters with the steps, and the
    /// sign of contributions as inverse_quantum
    i64 launch(Parameters parameters, const std::function<bool()>& stops, bool& has_stopped) {
        const i64 first = parameters.first;
        const i64 last = parameters.last;
        const DriverFunctions& functions = context_.functions();
        const MemoryPlan& plan = loaded_->plan;
        const u64 base = loaded_->memory->address();
        const auto blocks = static_cast<u32>(loaded_->data.size());
        if (loaded_->has_new_data) {
            copy_to<BlockData>(plan.data, loaded_->data);
            loaded_->has_new_data = false;
        }
        Control control;
        copy_to<Control>(plan.control, std::span(&control, 1));
        copy_to<u32>(plan.spike_counts, loaded_->spike_counts);
        // Records of an earlier run may have the numbers of these steps, if it had got further.
        const u64 words = 2 * u64{loaded_->image.epoch_steps} * blocks * (sizeof(Record) / sizeof(u32));
        context_.check(functions.fill_words(base + plan.records, static_cast<u32>(first - 1), words, stream_->handle()),
                       "clearing records");
        stream_->wait("preparing a run");
        for (const BlockData& block : loaded_->data) {
            if (block.courses.played_begin != nullptr) parameters.has_repeats = 1;
        }
        for (const BlockImage& block : loaded_->image.blocks) {
            if (block.most_relayed > 0) parameters.has_repeats = 1;
        }
        parameters.has_remote = loaded_->image.has_remote ? 1 : 0;
        parameters.blocks = blocks;
        parameters.epoch_steps = loaded_->image.epoch_steps;
        parameters.quantum = loaded_->image.quantum;
        parameters.inverse_quantum /= loaded_->image.quantum;
        parameters.data = reinterpret_cast<const BlockData*>(static_cast<std::uintptr_t>(base + plan.data));
        parameters.records = reinterpret_cast<Record*>(static_cast<std::uintptr_t>(base + plan.records));
        parameters.control = reinterpret_cast<Control*>(static_cast<std::uintptr_t>(base + plan.control));
        parameters.arrival_room = options_.arrival_room;
        if (loaded_->remote_count() > 0) {
            const u64 begin = put_remote();
            parameters.remote_begin = reinterpret_cast<const u64*>(static_cast<std::uintptr_t>(begin));
            parameters.remote =
                reinterpret_cast<const RemoteSpike*>(static_cast<std::uintptr_t>(loaded_->remote_memory->address()));
        }
        if (!options_.tuning.clocks.empty()) {
            parameters.clocks = reinterpret_cast<u64*>(static_cast<std::uintptr_t>(base + plan.clocks));
        }
        void* arguments[] = {&parameters};
        context_.check(functions.launch_cooperative(loaded_->module->kernel(), blocks, 1, 1, loaded_->threads, 1, 1,
                                                    loaded_->shared_bytes, stream_->handle(), arguments),
                       "starting the kernel");
        const std::exception_ptr failure = wait(first, last, stops, has_stopped);
        // Otherwise the flag could arrive after the next run has cleared it.
        if (has_stopped) stop_stream_->wait("stopping the kernel");
        copy_from<Control>(plan.control, std::span(&control, 1));
        copy_from<u32>(plan.spike_counts, loaded_->spike_counts);
        copy_from<u64>(plan.events, loaded_->events);
        stream_->wait("reading what the kernel has done");
        failure_ = failure_of(control, first);
        should_settle_ = control.should_settle != 0 || (should_settle_ && parameters.settles == 0);
        if (failure) std::rethrow_exception(failure);
        if (!options_.tuning.clocks.empty() && (parameters.settles | parameters.replays) == 0) {
            std::vector<u64> clocks(blocks * std::size_t{part_count});
            copy_from<u64>(plan.clocks, clocks);
            stream_->wait("reading clocks");
            loaded_->steps += control.reached - first + 1;
            write_clocks(options_.tuning.clocks, clocks, loaded_->steps);
        }
        return control.reached;
    }

    /// Waits for the kernel, and asks it to stop if the caller wants that. Returns what `stops` has thrown: the kernel must
    /// have ended before memory that it uses is freed.
    std::exception_ptr wait(i64 first, i64 last, const std::function<bool()>& stops, bool& has_stopped) {
        using namespace std::chrono_literals;
        const DriverFunctions& functions = context_.functions();
        const auto start = std::chrono::steady_clock::now();
        std::exception_ptr failure;
        for (;;) {
            const int state = functions.stream_query(stream_->handle());
            if (state == 0) return failure;
            if (state != static_cast<int>(DriverError::not_ready)) lose(state, first, last);
            if (!has_stopped) {
                try {
                    has_stopped = stops();
                } catch (...) {
                    failure = std::current_exception();
                    has_stopped = true;
                }
                if (has_stopped) send_stop(first, last);
            }
            // Few steps take less time than to fall asleep.
            const auto waited = std::chrono::steady_clock::now() - start;
            if (waited > 200us) std::this_thread::sleep_for(waited > 20ms ? 1ms : 50us);
        }
    }

    /// Copies to memory of the device: reading memory of the host would cost the kernel a microsecond in each step.
    void send_stop(i64 first, i64 last) {
        *stop_->get() = 1;
        const u64 address = loaded_->memory->address() + loaded_->plan.control + offsetof(Control, stop);
        const int error =
            context_.functions().copy_to_device(address, stop_->get(), sizeof(u32), stop_stream_->handle());
        if (error != 0) lose(error, first, last);
    }

    [[noreturn]] void lose(int error, i64 first, i64 last) {
        lost_ = context_.driver().error_text(error);
        throw DeviceError({.object = "GPU " + name_,
                           .value = lost_,
                           .bound = "it failed between steps " + std::to_string(first) + " and " + std::to_string(last),
                           .remedy =
                               "what is in files is not lost: see what `nvidia-smi` and `dmesg` report, and continue "
                               "in a new process from a saved state"});
    }

    CudaOptions options_;
    Context context_;
    std::shared_ptr<const KernelCompiler> compiler_;
    std::string name_;
    DeviceIdentity identity_;
    u32 multiprocessors_;
    bool limits_run_time_;
    u32 blocks_;
    KernelTarget target_;
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Stream> stop_stream_;
    std::unique_ptr<PinnedNumber> stop_;
    std::unique_ptr<Loaded> loaded_;
    DrawnRows drawn_;
    std::mutex copying_;
    std::future<CompiledKernel> construction_;
    std::optional<Failure> failure_;  ///< of the last run
    bool should_settle_ = false;
    std::string lost_;  ///< the error after which nothing works any more
};

void check_number(int number, int devices) {
    if (number >= 0 && number < devices) return;
    throw DeviceError(
        {.object = "device",
         .value = "cuda:" + std::to_string(number),
         .bound = devices == 1 ? "there is only cuda:0" : "there are cuda:0 to cuda:" + std::to_string(devices - 1),
         .remedy = "choose one of them, or make others visible (CUDA_VISIBLE_DEVICES)"});
}

void check_options(const CudaOptions& options, int devices) {
    check_number(options.device.value_or(0), devices);
    const auto refuse = [](const std::string& object, u32 value, const std::string& bound) {
        throw ValueOutOfBoundsError(
            {.object = object, .value = std::to_string(value), .bound = bound, .remedy = "leave it out"});
    };
    if (options.blocks > most_threads) {
        refuse("blocks of a GPU", options.blocks, "there can be " + std::to_string(most_threads));
    }
    if (options.threads % warp_size != 0 || options.threads > most_threads ||
        (options.threads != 0 && options.threads < options.blocks)) {
        refuse("threads of a block of a GPU", options.threads,
               "it must be a multiple of 32, at most 1024, and at least the number of blocks");
    }
}

}  // namespace

std::unique_ptr<Backend> make_cuda_device(const CudaOptions& options, std::shared_ptr<const Driver> driver,
                                          std::shared_ptr<const KernelCompiler> compiler) {
    CudaOptions chosen = options;
    if (!chosen.device) chosen.device = options.host_rank % driver->device_count();
    check_options(chosen, driver->device_count());
    return std::make_unique<CudaDevice>(chosen, std::move(driver), std::move(compiler));
}

GpuDescription describe_gpu(int number, std::shared_ptr<const Driver> driver) {
    check_number(number, driver->device_count());
    const Context context(std::move(driver), number);
    GpuDescription made{.name = context.name(),
                        .multiprocessors = static_cast<u32>(context.attribute(DeviceAttribute::multiprocessors))};
    const ContextUse use(context);
    std::size_t available = 0;
    std::size_t total = 0;
    context.check(context.functions().memory_get_info(&available, &total), "reading the free memory");
    made.free_bytes = available;
    made.bytes = total;
    return made;
}

std::shared_ptr<const KernelCompiler> find_compiler(std::span<const std::string> paths, int driver_version) {
    auto compiler = KernelCompiler::load(paths.empty() ? "" : paths.front());
    for (std::size_t i = 1; i < paths.size() && compiler->version() / 1000 > driver_version / 1000; ++i) {
        compiler = KernelCompiler::load(paths[i]);
    }
    return compiler;
}

std::unique_ptr<Backend> make_cuda_device(const CudaOptions& options) {
    // What takes longer to install comes first.
    auto driver = Driver::load(options.driver_path);
    auto compiler = find_compiler(options.compiler_paths, driver->version());
    return make_cuda_device(options, std::move(driver), std::move(compiler));
}

}  // namespace ranvier::device
