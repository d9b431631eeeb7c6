#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aligned_array.hpp"
#include "base/math.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace interval_fire_parts {

enum Parameter : std::size_t { tau, interval_min, interval_max, burst_groups, burst_duration, burst_factor, jump };

/// The state must differ from its limit in double precision.
constexpr double longest_interval = 100.0;  ///< in units of tau
constexpr double shortest_interval = 1e-9;
/// In double precision, longer times are the same as infinite ones, and shorter times the same as 0.
constexpr Bounds time_bounds{.lower = 1e-12, .upper = 1e12};

constexpr std::array parameters{
    ParameterInfo{"tau", "ms", 10.0, time_bounds, "Time constant with which the state relaxes"},
    ParameterInfo{"interval_min", "ms", 20.0, time_bounds, "Shortest interval between spikes, at least 1e-9 tau"},
    ParameterInfo{"interval_max", "ms", 40.0, time_bounds, "Longest interval between spikes, at most 100 tau"},
    ParameterInfo{"burst_groups",
                  "",
                  0.0,
                  {.lower = 0.0, .upper = 1e6},
                  "Number of groups, of equal size and by id, that burst one after another; 0: none burst"},
    ParameterInfo{"burst_duration", "ms", 50.0, time_bounds, "Time for which each group bursts"},
    ParameterInfo{"burst_factor",
                  "",
                  5.0,
                  {.lower = 1e-9, .upper = 1e9},
                  "How much faster the time of a cell runs while it bursts"},
    ParameterInfo{"jump", "", 0.0, any_number, "Increment of the state by each spike at the receptor spikes"},
};

constexpr std::array variables{
    VariableInfo{"m", "", "State, at 1 of which the cell fires"},
    VariableInfo{"evaluations", "", "Number of jumps at the receptor spikes, each of one exponential and logarithm"},
};
enum Variable : std::size_t { m, evaluations };

constexpr std::array<std::string_view, 2> receptors{"jump", "spikes"};

/// Neurons are tested block by block: a block in which none fires and none receives a spike is skipped.
constexpr std::size_t block_size = 16;
/// Counted spikes are gathered from this many neurons, so that the vectors that take them are full.
constexpr std::size_t chunk_size = 16 * block_size;
constexpr std::uint64_t bits_of_nothing = std::uint64_t{1} << 63;
constexpr std::uint64_t all_bits = ~std::uint64_t{0};

/// The arrays that one step reads and writes for neurons [begin, end), which share their local time (see Burst). Raw
/// pointers, so that no function of the standard library is called from code that is compiled for several instruction
/// sets.
///
/// A cell whose state relaxes towards m_inf and would reach 1 at the local time s_f has, at s, m_inf - m = (m_inf -
/// 1) e^((s_f - s) / tau). So the state follows from s_f and the constant of the present interval, 1 / (m_inf - 1),
/// and a cell needs no work until the next spike.
struct StepArrays {
    std::size_t begin;
    std::size_t end;
    double now;               ///< local time at the end of the step, ms
    double* fire_at;          ///< local time at which the cell fires, ms
    const double* steepness;  ///< 1 / (m_inf - 1)
    double* weights;          ///< sum of those that arrived at the receptor "jump"
    double* evaluations;      ///< number of counted spikes that the cell has taken
    double* counts;           ///< number of spikes that arrived at the receptor "spikes"
    const double* tau;        ///< one value when uniform, else one for each neuron
    const double* jump;       ///< one value, or one for each neuron
    bool same_jump;           ///< whether it is one value
    std::uint32_t* spikes;
    std::size_t fired;     ///< number of spikes so far
    std::size_t odd_cell;  ///< written: a cell whose count is not a whole number of spikes; else the former value
    double odd_count;      ///< written: its count
};

/// The cells of a chunk that still have spikes to take, packed.
struct CountedSpikes {
    std::uint32_t cell[chunk_size];
    double left[chunk_size];
    double fire_at[chunk_size];
    double steepness[chunk_size];
    double jump[chunk_size];
    double tau[chunk_size];
};

template <bool uniform>
struct StepKernel {
    RANVIER_ALWAYS_INLINE static std::size_t run(StepArrays* arguments) {
        StepArrays a = *arguments;
        for (std::size_t begin = a.begin; begin < a.end; begin += chunk_size) {
            advance(a, begin, a.end - begin < chunk_size ? a.end - begin : chunk_size);
        }
        arguments->odd_cell = a.odd_cell;
        arguments->odd_count = a.odd_count;
        return a.fired;
    }

   private:
    RANVIER_ALWAYS_INLINE static void advance(StepArrays& a, std::size_t begin, std::size_t count) {
        CountedSpikes counted;
        std::size_t cells = 0;
        std::uint64_t any_due = 0;
        std::size_t first = 0;
        for (; first + block_size <= count; first += block_size) {
            any_due |= advance_block(a, begin + first, block_size, counted, cells);
        }
        if (first < count) any_due |= advance_block(a, begin + first, count - first, counted, cells);
        if (cells > 0) any_due |= take_counted(a, counted, cells);
        if (any_due == 0) return;
        for (std::size_t i = begin; i < begin + count; ++i) {
            if (a.fire_at[i] <= a.now) a.spikes[a.fired++] = static_cast<std::uint32_t>(i);
        }
    }

    /// Returns whether a cell of the block fires, apart from counted spikes, which it gathers.
    RANVIER_ALWAYS_INLINE static std::uint64_t advance_block(StepArrays& a, std::size_t begin, std::size_t count,
                                                             CountedSpikes& counted, std::size_t& cells) {
        const double* const fire_at = a.fire_at + begin;
        const double* const weights = a.weights + begin;
        const double* const counts = a.counts + begin;
        std::uint64_t busy = 0;
        std::uint64_t any_counts = 0;
        for (std::size_t k = 0; k < count; ++k) {
            busy |= std::bit_cast<std::uint64_t>(weights[k]) ^ bits_of_nothing;
            busy |= fire_at[k] <= a.now ? all_bits : std::uint64_t{0};
            any_counts |= std::bit_cast<std::uint64_t>(counts[k]) ^ bits_of_nothing;
        }
        const std::uint64_t any_due = busy != 0 ? take_weights(a, begin, count) : 0;
        if (any_counts != 0) gather(a, begin, count, counted, cells);
        return any_due;
    }

    /// Takes the weights that arrived at a block.
    RANVIER_ALWAYS_INLINE static std::uint64_t take_weights(const StepArrays& a, std::size_t begin, std::size_t count) {
        double* const fire_at = a.fire_at + begin;
        double* const weights = a.weights + begin;
        const double* const steepness = a.steepness + begin;
        const double* const taus = a.tau + (uniform ? 0 : begin);
        std::uint64_t any_due = 0;
        RANVIER_NO_OVERLAP
        for (std::size_t k = 0; k < count; ++k) {
            const double weight = weights[k];
            const double before = fire_at[k];
            const double after = moved(a.now, before, weight * steepness[k], taus[uniform ? 0 : k]);
            // A cell that fires in this step without its input also fires with it.
            const bool stays = before <= a.now || std::bit_cast<std::uint64_t>(weight) == bits_of_nothing;
            const double next = stays ? before : after;
            fire_at[k] = next;
            weights[k] = -0.0;
            any_due |= next <= a.now ? all_bits : std::uint64_t{0};
        }
        return any_due;
    }

    /// Appends the cells of a block that spikes reach and that do not fire already.
    RANVIER_ALWAYS_INLINE static void gather(StepArrays& a, std::size_t begin, std::size_t count,
                                             CountedSpikes& counted, std::size_t& cells) {
        for (std::size_t i = begin; i < begin + count; ++i) {
            const double arrived = a.counts[i];
            a.counts[i] = -0.0;
            // No function of the standard library: see StepArrays.
            const double in_range = arrived >= 0.0 && arrived < 0x1p31 ? arrived : 0.0;
            if (static_cast<double>(static_cast<std::int32_t>(in_range)) != arrived) {
                a.odd_cell = i;
                a.odd_count = arrived;
                continue;
            }
            counted.cell[cells] = static_cast<std::uint32_t>(i);
            counted.left[cells] = arrived;
            counted.fire_at[cells] = a.fire_at[i];
            counted.steepness[cells] = a.steepness[i];
            counted.jump[cells] = a.jump[a.same_jump ? 0 : i];
            counted.tau[cells] = a.tau[uniform ? 0 : i];
            cells += arrived > 0.0 && a.fire_at[i] > a.now ? 1 : 0;
        }
    }

    /// Moves each cell by one spike, and again those that have more of them, until none has. So a cell needs as many
    /// exponentials and logarithms as spikes reach it, each of which begins with the result of the one before.
    RANVIER_ALWAYS_INLINE static std::uint64_t take_counted(const StepArrays& a, CountedSpikes& counted,
                                                            std::size_t cells) {
        std::uint64_t any_due = 0;
        while (cells > 0) {
            std::size_t padded = cells;
            for (; padded % block_size != 0; ++padded) {
                counted.fire_at[padded] = a.now;
                counted.steepness[padded] = 1.0;
                counted.jump[padded] = 0.0;
                counted.tau[padded] = 1.0;
            }
            for (std::size_t first = 0; first < padded; first += block_size) {
                RANVIER_NO_OVERLAP
                for (std::size_t k = first; k < first + block_size; ++k) {
                    counted.fire_at[k] =
                        moved(a.now, counted.fire_at[k], counted.jump[k] * counted.steepness[k], counted.tau[k]);
                }
            }
            std::size_t kept = 0;
            for (std::size_t k = 0; k < cells; ++k) {
                const double fires = counted.fire_at[k];
                const double left = counted.left[k] - 1.0;
                const bool is_due = fires <= a.now;
                a.fire_at[counted.cell[k]] = fires;
                a.evaluations[counted.cell[k]] += 1.0;
                any_due |= is_due ? all_bits : std::uint64_t{0};
                counted.cell[kept] = counted.cell[k];
                counted.left[kept] = left;
                counted.fire_at[kept] = fires;
                counted.steepness[kept] = counted.steepness[k];
                counted.jump[kept] = counted.jump[k];
                counted.tau[kept] = counted.tau[k];
                kept += !is_due && left > 0.0 ? 1 : 0;
            }
            cells = kept;
        }
        return any_due;
    }

    /// The time at which a cell fires whose state is changed now.
    /// @param change of the state, times steepness
    RANVIER_ALWAYS_INLINE static double moved(double now, double fire_at, double change, double tau) {
        // At this value, the logarithm makes the cell fire at once.
        constexpr double least = 0x1p-100;
        // (m_inf - m) / (m_inf - 1), which is 1 when the cell fires.
        double rest = math::exp((fire_at - now) / tau) - change;
        rest = rest < least ? least : rest;
        return now + tau * math::log(rest);
    }
};

/// The interval in which the local time of a cell runs faster. Local time s and time t are related by s(t) = t +
/// (factor - 1) * (part of the burst before t).
struct Burst {
    double begin = 0.0;     ///< ms
    double duration = 0.0;  ///< ms
    double gain = 0.0;      ///< burst_factor - 1

    double local_time(double time) const { return time + gain * std::clamp(time - begin, 0.0, duration); }

    friend bool operator==(const Burst&, const Burst&) = default;
};

class IntervalFire final : public NeuronGroup {
   public:
    explicit IntervalFire(const GroupArguments& arguments)
        : ids_(arguments.ids),
          population_first_(arguments.population_first.value),
          population_size_(arguments.population_size),
          key_(arguments.key),
          resolution_(arguments.resolution),
          instruction_set_(arguments.instruction_set),
          fire_at_(ids_.size(), arguments.memory),
          steepness_(ids_.size(), arguments.memory),
          evaluations_(ids_.size(), arguments.memory),
          intervals_(ids_.size(), 0, arguments.memory),
          timing_(derive(arguments.parameters, arguments.memory)) {
        const GroupValues& initial = arguments.variables[m];
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            begin_interval(i, local_time(i));
            if (initial[i] != 0.0) fire_at_[i] = fire_time(i, initial[i]);
            evaluations_[i] = arguments.variables[evaluations][i];
        }
    }

    std::size_t update(const UpdateArguments& arguments) override {
        step_ = arguments.step;
        std::size_t fired = 0;
        for (const BurstRange& part : timing_.parts) {
            const double now = part.burst.local_time(time());
            const std::size_t first_fired = fired;
            StepArrays arrays{.begin = part.begin,
                              .end = part.end,
                              .now = now,
                              .fire_at = fire_at_.data(),
                              .steepness = steepness_.data(),
                              .weights = arguments.inputs[0],
                              .evaluations = evaluations_.data(),
                              .counts = arguments.inputs[1],
                              .tau = timing_.tau.values.data(),
                              .jump = timing_.jump.values.data(),
                              .same_jump = timing_.jump.uniform(),
                              .spikes = arguments.spikes,
                              .fired = fired,
                              .odd_cell = ids_.size(),
                              .odd_count = 0.0};
            fired = timing_.tau.uniform() ? Dispatched<StepKernel<true>>::call(instruction_set_, &arrays)
                                          : Dispatched<StepKernel<false>>::call(instruction_set_, &arrays);
            if (arrays.odd_cell < ids_.size() && !odd_) odd_ = OddCount{arrays.odd_cell, arrays.odd_count, step_};
            for (std::size_t i = first_fired; i < fired; ++i) begin_interval(arguments.spikes[i], now);
        }
        return fired;
    }

    std::size_t largest_output() const override { return ids_.size(); }

    std::optional<GroupFailure> failure() const override {
        if (!odd_) return NeuronGroup::failure();
        return GroupFailure{.what =
                                "it is the sum of the weights that arrived in a step at the receptor spikes, which "
                                "takes whole numbers of spikes below 2^31",
                            .remedy = "use weights of 1 at this receptor",
                            .variable = "number of spikes",
                            .place = {},
                            .value = to_text(odd_->count),
                            .neuron = static_cast<std::uint32_t>(odd_->cell),
                            .step = odd_->step};
    }
    bool has_failed() const override { return odd_.has_value(); }

    bool is_finite() const override {
        return std::ranges::all_of(fire_at_, [](double time) { return std::isfinite(time); }) &&
               std::ranges::all_of(steepness_, [](double value) { return std::isfinite(value) && value > 0.0; });
    }

    void read(std::size_t variable, std::span<const std::uint32_t> neurons, double* out) const override {
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            const std::size_t i = neurons[k];
            if (variable == evaluations) {
                out[k] = evaluations_[i];
                continue;
            }
            out[k] = 1.0 - math::expm1((fire_at_[i] - local_time(i)) / timing_.tau[i]) / steepness_[i];
        }
    }

    void write(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) override {
        for (std::size_t k = 0; k < neurons.size(); ++k) {
            if (variable == evaluations) {
                evaluations_[neurons[k]] = values[k];
            } else {
                fire_at_[neurons[k]] = fire_time(neurons[k], values[k]);
            }
        }
    }

    void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const override {
        if (variable == evaluations) return;
        for (std::size_t k = 0; k < neurons.size(); ++k) (void)fire_time(neurons[k], values[k]);
    }

    void serialize_state(std::uint32_t neuron, Step now, StateColumns& columns) override {
        if (columns.loads()) step_ = now;
        columns.serialize("fire_at", fire_at_[neuron]);
        columns.serialize("steepness", steepness_[neuron]);
        columns.serialize("intervals", intervals_[neuron]);
        columns.serialize("evaluations", evaluations_[neuron]);
    }

    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues> given) override {
        return std::make_unique<Change>(*this, derive(given, parts_memory()));
    }

   private:
    /// Neurons with the same local time.
    struct BurstRange {
        std::size_t begin;
        std::size_t end;
        Burst burst;
    };

    /// Values that follow from parameters.
    struct Timing {
        GroupValues tau;
        GroupValues shortest;
        GroupValues longest;
        GroupValues jump;
        std::pmr::vector<BurstRange> parts;

        double local_time(std::size_t neuron, double time) const {
            const auto after = std::ranges::upper_bound(parts, neuron, {}, &BurstRange::begin);
            return (after - 1)->burst.local_time(time);
        }
    };

    class Change final : public ParameterChange {
       public:
        /// @throws ValueOutOfBoundsError if a cell would fire at an infinite time
        Change(IntervalFire& group, Timing timing) : group_(group), timing_(std::move(timing)) {
            for (std::size_t i = 0; i < group_.ids_.size(); ++i) (void)checked(moved_fire_time(i));
        }

        void check(std::size_t variable, std::span<const std::uint32_t> neurons, const double* values) const override {
            if (variable == evaluations) return;
            for (std::size_t k = 0; k < neurons.size(); ++k) (void)group_.fire_time(timing_, neurons[k], values[k]);
        }

        void apply() noexcept override {
            for (std::size_t i = 0; i < group_.ids_.size(); ++i) group_.fire_at_[i] = moved_fire_time(i);
            std::swap(group_.timing_, timing_);
        }

       private:
        double moved_fire_time(std::size_t i) const {
            const double before = group_.local_time(i);
            const double now = timing_.local_time(i, group_.time());
            const double fire_at = group_.fire_at_[i];
            const double tau = group_.timing_.tau[i];
            // Cells whose parameters do not change must keep their bits: which other cells are in the group depends
            // on the shards.
            if (now == before && timing_.tau[i] == tau) return fire_at;
            // The state is a function of the time left, in units of tau.
            return now + (fire_at - before) / tau * timing_.tau[i];
        }

        IntervalFire& group_;
        Timing timing_;
    };

    Timing derive(std::span<const GroupValues> given, std::pmr::memory_resource* memory) const {
        Timing timing{.tau = given[tau].copy(memory),
                      .shortest = given[interval_min].copy(memory),
                      .longest = given[interval_max].copy(memory),
                      .jump = given[jump].copy(memory),
                      .parts = std::pmr::vector<BurstRange>(memory)};
        std::pmr::vector<BurstRange>& parts = timing.parts;
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            const Burst burst = burst_of(i, given[burst_groups][i], given[burst_duration][i], given[burst_factor][i]);
            if (parts.empty() || parts.back().burst != burst) parts.push_back({i, i, burst});
            parts.back().end = i + 1;
        }
        return timing;
    }

    Burst burst_of(std::size_t i, double groups, double duration, double factor) const {
        if (groups != std::floor(groups)) {
            // Of a distribution, only its bounds have been checked.
            throw ValueOutOfBoundsError({.object = "burst_groups",
                                         .value = to_text(groups),
                                         .bound = "it must be a whole number",
                                         .remedy = "round it"});
        }
        if (groups == 0.0) return {};
        const std::uint64_t place = ids_[i].value - population_first_;
        const std::uint64_t group = place * static_cast<std::uint64_t>(groups) / population_size_;
        return {static_cast<double>(group) * duration, duration, factor - 1.0};
    }

    std::pmr::memory_resource* parts_memory() const { return timing_.parts.get_allocator().resource(); }

    double time() const { return static_cast<double>(step_) * resolution_; }
    double local_time(std::size_t neuron) const { return timing_.local_time(neuron, time()); }

    /// Resets the state to 0 and draws the time of the next spike.
    void begin_interval(std::size_t i, double now) {
        const double u = to_open_unit(RandomStream{key_, ids_[i].value}.word64(intervals_[i]++));
        const double interval = timing_.shortest[i] + (timing_.longest[i] - timing_.shortest[i]) * u;
        fire_at_[i] = now + interval;
        steepness_[i] = math::expm1(interval / timing_.tau[i]);
    }

    /// The time at which a cell with this state fires.
    /// @throws ValueOutOfBoundsError if it is infinite
    double fire_time(std::size_t i, double state) const { return fire_time(timing_, i, state); }
    double fire_time(const Timing& timing, std::size_t i, double state) const {
        // With a state of at least 1 the cell fires in the next step.
        const double rest = std::max(1.0 + (1.0 - state) * steepness_[i], 0x1p-100);
        return checked(timing.local_time(i, time()) + timing.tau[i] * math::log(rest));
    }

    static double checked(double fire_time) {
        if (std::isfinite(fire_time)) return fire_time;
        throw ValueOutOfBoundsError({.object = "time at which a cell would fire next",
                                     .value = to_text(fire_time),
                                     .bound = "it must be finite",
                                     .remedy = "choose a smaller tau, or a state nearer to 1"});
    }

    /// The first count that is not a whole number of spikes.
    struct OddCount {
        std::size_t cell;
        double count;
        Step step;
    };

    IdSequence ids_;
    std::uint64_t population_first_;
    std::uint64_t population_size_;
    RandomKey key_;
    double resolution_;
    InstructionSet instruction_set_;
    Step step_ = 0;

    AlignedVector<double> fire_at_;    ///< local time, ms
    AlignedVector<double> steepness_;  ///< 1 / (m_inf - 1) = e^(interval / tau) - 1
    AlignedVector<double> evaluations_;
    std::pmr::vector<std::uint32_t> intervals_;  ///< number of intervals drawn
    Timing timing_;
    std::optional<OddCount> odd_;
};

std::optional<std::string> conflict_of(std::span<const double> p) {
    if (p[interval_min] > p[interval_max]) {
        return "interval_min, " + to_text(p[interval_min]) + " ms, must not exceed interval_max, " +
               to_text(p[interval_max]) + " ms";
    }
    if (p[interval_max] > longest_interval * p[tau]) {
        return "interval_max, " + to_text(p[interval_max]) + " ms, must not exceed 100 tau, " +
               to_text(longest_interval * p[tau]) + " ms";
    }
    if (p[interval_min] < shortest_interval * p[tau]) {
        return "interval_min, " + to_text(p[interval_min]) + " ms, must be at least 1e-9 tau, " +
               to_text(shortest_interval * p[tau]) + " ms";
    }
    if (p[burst_groups] != std::floor(p[burst_groups])) {
        return "burst_groups, " + to_text(p[burst_groups]) + ", must be a whole number";
    }
    return std::nullopt;
}

class IntervalFireModel final : public NeuronModel {
   public:
    constexpr explicit IntervalFireModel(const NeuronInfo& info) : NeuronModel(info) {}

    /// Times need double precision, so the requested precision is ignored.
    std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) const override {
        return std::make_unique<IntervalFire>(arguments);
    }

    std::optional<std::string> conflict(std::span<const double> p, std::optional<double>) const override {
        return conflict_of(p);
    }
};

constinit const IntervalFireModel model({
    .name = "interval_fire",
    .summary = "Artificial cell that fires by itself at random intervals, made to measure the exchange of spikes",
    .equations = R"(dm/ds = (m_inf - m) / tau, with m_inf = 1 / (1 - exp(-T / tau))
The interval T is drawn after every spike, uniformly between interval_min and interval_max, so that m rises from
0 to 1 in T. At the end of a step, m jumps by the sum of the weights that arrived in it at the receptor "jump", and m
and the time of the next spike, s + tau ln((m_inf - m) / (m_inf - 1)), are calculated anew, whatever the sum.
A weight at the receptor "spikes", which has to be named, is a number of spikes. The sum n of those that arrived in a
step makes n jumps of m by the parameter jump, one after another, each with its own exponential and logarithm, so that
the work of a cell grows with the spikes that reach it. These jumps follow that of the receptor "jump".
A cell fires at the end of the first step in which m has reached 1; m is set to 0. Spikes that arrive in the step in
which it fires are not taken after that.
The local time s of a cell is t, except in bursts: with burst_groups > 0 the cells of the population are divided by
id into that many groups of equal size, and the local time of group g = 0, 1, ... runs burst_factor times as fast for
g burst_duration <= t < (g + 1) burst_duration. Calculated in double precision always.)",
    .reference = "M. Hines, S. Kumar and F. Schürmann, Frontiers in Computational Neuroscience 5, 49 (2011)",
    .parameters = parameters,
    .variables = variables,
    .receptors = receptors,
    .counting_receptor = receptors[1],
    .weight_unit = "",
    .takes_current = false,
});

}  // namespace interval_fire_parts
}  // namespace

constinit const NeuronModel& interval_fire = interval_fire_parts::model;

}  // namespace ranvier::models
