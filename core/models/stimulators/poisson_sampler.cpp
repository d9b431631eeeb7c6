#include "models/stimulators/poisson_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/philox_lanes.hpp"

namespace ranvier::models {

namespace {

constexpr std::size_t batch_size = philox_lanes::count;
constexpr std::uint32_t sign_bit = 0x80000000;
/// Up to this number, targets are drawn one by one: a batch with one target took four times as long.
constexpr std::size_t few_targets = 4;
/// A table ends where the probability of more events falls below this: late enough that continuing is rare, early enough
/// that a threshold still has many digits.
constexpr double tail_probability = 0x1p-14;
/// No number drawn with 32 + 64 bits from a tabulated mean exceeds this.
constexpr std::size_t survival_count = 192;
/// Marks the table of a target as unbounded.
constexpr std::int32_t no_end = std::numeric_limits<std::int32_t>::max();

/// Probability of more than k events, for k = 0, 1, ...
std::array<double, survival_count> survival(double mean) {
    std::array<double, survival_count> result;
    double probability = math::exp(-mean);
    for (std::size_t k = 0; k < survival_count; ++k) {
        probability *= mean / static_cast<double>(k + 1);
        result[k] = probability;
    }
    // From the small end, so that the tail keeps its relative accuracy.
    for (std::size_t k = survival_count - 1; k-- > 0;) result[k] += result[k + 1];
    return result;
}

std::size_t table_length(const std::array<double, survival_count>& survival) {
    std::size_t length = 1;
    while (survival[length - 1] >= tail_probability) ++length;
    return length;
}

std::uint32_t threshold(double survival) { return static_cast<std::uint32_t>(std::llround(survival * 0x1p32)); }

struct DrawArguments {
    RandomKey key;
    /// Ids of the targets: a progression, or a list.
    std::uint64_t first_id;
    std::uint64_t id_stride;
    const std::uint64_t* ids;
    std::size_t id_count;
    std::uint64_t block;
    std::size_t batches;
    const std::int32_t* thresholds;
    std::size_t threshold_count;
    std::size_t row_length;
    const std::int32_t* table_ends;
    std::size_t columns_per_batch;  ///< 0 when all batches use the same ones
    std::uint8_t* numbers;
    std::size_t half;
    std::uint8_t* has_tail;
};

/// Counts the thresholds above each word.
template <bool listed>
struct DrawTabulated {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const DrawArguments* arguments) {
        const DrawArguments a = *arguments;
        for (std::size_t batch = 0; batch < a.batches; ++batch) {
            alignas(64) std::uint64_t c0[batch_size], c1[batch_size], c2[batch_size], c3[batch_size];
            for (std::size_t i = 0; i < batch_size; ++i) {
                const std::uint64_t id = id_of(a, batch * batch_size + i);
                c0[i] = a.block;
                c1[i] = a.block >> 32;
                c2[i] = id;
                c3[i] = id >> 32;
            }
            alignas(64) std::uint64_t words[2][batch_size];
            philox_lanes::run<set>(a.key, c0, c1, c2, c3, words[0], words[1]);
            std::int32_t tail = 0;
            for (std::size_t h = 0; h < 2; ++h) {
                const std::size_t column = a.columns_per_batch * batch;
                alignas(64) std::int32_t counts[2 * batch_size];
                for (std::size_t begin = 0; begin < 2 * batch_size; begin += at_once<set>) {
                    count<set>(a, words[h], begin, column + begin, counts + begin);
                }
                const std::int32_t* const ends = a.table_ends + column;
                std::uint8_t* const out = a.numbers + h * a.half + 2 * batch_size * batch;
                for (std::size_t i = 0; i < 2 * batch_size; ++i) {
                    tail |= counts[i] == ends[i] ? 1 : 0;
                    out[i] = static_cast<std::uint8_t>(counts[i]);
                }
            }
            a.has_tail[batch] = static_cast<std::uint8_t>(tail);
        }
    }

   private:
    RANVIER_ALWAYS_INLINE static std::uint64_t id_of(const DrawArguments& a, std::size_t target) {
        // The padding of the last batch repeats an id of the list; its numbers are not used.
        if constexpr (listed) return a.ids[target < a.id_count ? target : a.id_count - 1];
        return a.first_id + target * a.id_stride;
    }

    template <InstructionSet set>
    struct Lanes {
        using Vector [[gnu::vector_size(vector_bytes<set>)]] = std::int32_t;
    };
    static constexpr std::size_t vectors = 4;
    template <InstructionSet set>
    static constexpr std::size_t at_once = vectors * vector_bytes<set> / sizeof(std::int32_t);

    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void count(const DrawArguments& a, const std::uint64_t* words, std::size_t begin,
                                            std::size_t column, std::int32_t* counts) {
        using Vector = Lanes<set>::Vector;
        constexpr std::size_t lanes = sizeof(Vector) / sizeof(std::int32_t);
        const std::int32_t* const row = a.thresholds + column;
        Vector word[vectors], number[vectors];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) {
            __builtin_memcpy(&word[v], reinterpret_cast<const char*>(words) + 4 * (begin + v * lanes), sizeof(Vector));
            word[v] ^= std::numeric_limits<std::int32_t>::min();
            number[v] = Vector{};
        }
        for (std::size_t k = 0; k < a.threshold_count; ++k) {
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                Vector limit;
                __builtin_memcpy(&limit, row + k * a.row_length + v * lanes, sizeof(Vector));
                if constexpr (set == InstructionSet::avx512) {
                    number[v] = word[v] < limit ? number[v] + 1 : number[v];
                } else {
                    number[v] -= word[v] < limit;  // the mask of a comparison that holds is -1
                }
            }
        }
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) __builtin_memcpy(counts + v * lanes, &number[v], sizeof(Vector));
    }
};

template <bool uniform>
struct AddNumbers {
    RANVIER_ALWAYS_INLINE static void run(const std::uint8_t* pairs, unsigned which, const double* weights,
                                          std::size_t size, double* __restrict out) {
        const unsigned shift = 8 * which;
        const double weight = uniform ? weights[0] : 0.0;
        for (std::size_t i = 0; i < size; ++i) {
            std::uint16_t pair;
            __builtin_memcpy(&pair, pairs + 2 * i, sizeof pair);
            const std::int32_t number = (pair >> shift) & 0xFF;
            out[i] += (uniform ? weight : weights[i]) * static_cast<double>(number);
        }
    }
};

/// log(k!) of a whole number, with an error far below that of the exponent that it is part of.
double log_factorial(double k) {
    if (k < 12.0) {
        double product = 1.0;
        for (int factor = 2; factor <= static_cast<int>(k); ++factor) product *= factor;
        return math::log(product);
    }
    const double inverse = 1.0 / k;
    const double square = inverse * inverse;
    const double series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    constexpr double half_log_of_2pi = 0.91893853320467274178;
    return (k + 0.5) * math::log(k) - k + half_log_of_2pi + series;
}

}  // namespace

std::uint32_t draw_large_poisson(SequentialRandom& random, double mean) {
    const double b = 0.931 + 2.53 * std::sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double v_r = 0.9277 - 3.6224 / (b - 2.0);
    const double log_of_mean = math::log(mean);
    while (true) {
        const double u = random.next_unit() - 0.5;
        const double v = random.next_unit();
        const double u_s = 0.5 - std::abs(u);
        const double k = std::floor((2.0 * a / u_s + b) * u + mean + 0.43);
        if (u_s >= 0.07 && v <= v_r) return static_cast<std::uint32_t>(k);
        if (k < 0.0 || (u_s < 0.013 && v > u_s)) continue;
        const double left = math::log(v * inverse_alpha / (a / (u_s * u_s) + b));
        if (left <= k * log_of_mean - mean - log_factorial(k)) return static_cast<std::uint32_t>(k);
    }
}

PoissonSampler::PoissonSampler(const StimulusArguments& arguments)
    : key_(arguments.key),
      targets_(arguments.targets),
      size_(arguments.targets.size()),
      half_(2 * ((size_ + batch_size - 1) / batch_size * batch_size)),
      instruction_set_(arguments.instruction_set),
      means_{std::pmr::vector<double>(arguments.memory)},
      thresholds_(arguments.memory),
      table_ends_(arguments.memory),
      numbers_(2 * half_, 0, arguments.memory),
      has_tail_(half_ / (2 * batch_size), 0, arguments.memory),
      large_targets_(arguments.memory),
      large_numbers_(arguments.memory) {
    set_means({{0.0}});
}

void PoissonSampler::set_means(const GroupValues& means) {
    means_ = means;
    block_ = -1;
    double greatest = 0.0;
    large_targets_.clear();
    for (std::size_t target = 0; target < size_; ++target) {
        const double mean = mean_of(target);
        if (mean > greatest_tabulated_mean) {
            large_targets_.push_back(static_cast<std::uint32_t>(target));
        } else {
            greatest = std::max(greatest, mean);
        }
    }
    large_numbers_.assign(large_targets_.size(), {});
    threshold_count_ = greatest > 0.0 ? table_length(survival(greatest)) : 0;

    // One target has two columns, one for each of two steps; if all means are equal, the columns of one batch serve
    // all targets. The columns of the padding are empty.
    const bool uniform = means_.uniform();
    const std::size_t columns = uniform ? 2 * batch_size : half_;
    const std::size_t different = uniform ? std::min<std::size_t>(size_, 1) : size_;
    const std::size_t width = uniform ? columns : 2;
    table_ends_.assign(columns, no_end);
    thresholds_.assign(threshold_count_ * columns, std::numeric_limits<std::int32_t>::min());
    for (std::size_t i = 0; i < different; ++i) {
        const double mean = mean_of(i);
        if (mean == 0.0 || mean > greatest_tabulated_mean) continue;
        const auto probabilities = survival(mean);
        const std::size_t length = table_length(probabilities);
        std::fill_n(table_ends_.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                    static_cast<std::int32_t>(length));
        for (std::size_t k = 0; k < length; ++k) {
            std::fill_n(thresholds_.begin() + static_cast<std::ptrdiff_t>(k * columns + i * width), width,
                        static_cast<std::int32_t>(threshold(probabilities[k]) ^ sign_bit));
        }
    }
}

bool PoissonSampler::describe(PoissonTrains& trains) const {
    if (!large_targets_.empty()) return false;
    trains.key = key_;
    for (const double mean : means_.values) {
        trains.thresholds.emplace_back();
        trains.survival.emplace_back();
        if (mean == 0.0) continue;
        const auto probabilities = survival(mean);
        for (std::size_t k = 0; k < table_length(probabilities); ++k) {
            trains.thresholds.back().push_back(threshold(probabilities[k]));
        }
        trains.survival.back().assign(probabilities.begin(), probabilities.end());
    }
    return true;
}

void PoissonSampler::draw(Step step) {
    constexpr Step count = steps_at_once;
    step_in_block_ = static_cast<std::size_t>(step % count);
    if (step / count == block_) return;
    block_ = step / count;
    if (threshold_count_ > 0) draw_tabulated();
    if (!large_targets_.empty()) draw_large();
}

void PoissonSampler::draw_tabulated() {
    if (size_ <= few_targets) return draw_few();
    const bool listed = !targets_.is_progression();
    const DrawArguments arguments{.key = key_,
                                  .first_id = targets_[0].value,
                                  .id_stride = targets_.stride(),
                                  .ids = listed ? targets_.list().data() : nullptr,
                                  .id_count = size_,
                                  .block = static_cast<std::uint64_t>(block_),
                                  .batches = has_tail_.size(),
                                  .thresholds = thresholds_.data(),
                                  .threshold_count = threshold_count_,
                                  .row_length = table_ends_.size(),
                                  .table_ends = table_ends_.data(),
                                  .columns_per_batch = means_.uniform() ? 0 : 2 * batch_size,
                                  .numbers = numbers_.data(),
                                  .half = half_,
                                  .has_tail = has_tail_.data()};
    if (listed) {
        Dispatched<DrawTabulated<true>>::call(instruction_set_, &arguments);
    } else {
        Dispatched<DrawTabulated<false>>::call(instruction_set_, &arguments);
    }
    for (std::size_t batch = 0; batch < has_tail_.size(); ++batch) {
        if (has_tail_[batch] != 0) finish_tails(batch);
    }
}

/// Same words as DrawTabulated and finish_tails.
void PoissonSampler::draw_few() {
    const auto block = static_cast<std::uint64_t>(block_);
    const std::size_t columns = table_ends_.size();
    for (std::size_t target = 0; target < size_; ++target) {
        const RandomStream stream{key_, targets_[target].value, static_cast<std::uint32_t>(block >> 32)};
        const std::array<std::uint32_t, steps_at_once> words = stream.block(static_cast<std::uint32_t>(block));
        const std::int32_t* const limits = thresholds_.data() + (means_.uniform() ? 0 : 2 * target);
        for (std::size_t s = 0; s < steps_at_once; ++s) {
            const auto word = static_cast<std::int32_t>(words[s] ^ sign_bit);
            std::size_t number = 0;
            // Thresholds descend.
            while (number < threshold_count_ && word < limits[number * columns]) ++number;
            if (static_cast<std::int32_t>(number) == table_end(target)) number = continue_tail(target, step_of(s));
            numbers_[place(target, s)] = static_cast<std::uint8_t>(number);
        }
    }
}

void PoissonSampler::finish_tails(std::size_t batch) {
    const std::size_t end = std::min(size_, (batch + 1) * batch_size);
    for (std::size_t target = batch * batch_size; target < end; ++target) {
        for (std::size_t s = 0; s < steps_at_once; ++s) {
            std::uint8_t& number = numbers_[place(target, s)];
            if (number != table_end(target)) continue;
            number = static_cast<std::uint8_t>(continue_tail(target, step_of(s)));
        }
    }
}

std::uint32_t PoissonSampler::continue_tail(std::size_t target, Step step) const {
    const auto probabilities = survival(mean_of(target));
    const auto end = static_cast<std::size_t>(table_end(target));
    const auto block = static_cast<std::uint64_t>(step) / steps_at_once;
    const RandomStream words{key_, targets_[target].value, static_cast<std::uint32_t>(block >> 32)};
    const std::uint32_t word = words.block(static_cast<std::uint32_t>(block))[static_cast<std::size_t>(step) % 4];
    SequentialRandom random = more_random(target, key_of(step));
    // Given that the word lies below the last threshold, this is uniform between 0 and the probability of the tail.
    const double u = (static_cast<double>(word) + random.next_unit()) / threshold(probabilities[end - 1]);
    std::size_t number = end;
    while (number < survival_count - 1 && u * probabilities[end - 1] < probabilities[number]) ++number;
    return static_cast<std::uint32_t>(number);
}

void PoissonSampler::draw_large() {
    for (std::size_t s = 0; s < steps_at_once; ++s) {
        const RandomKey key = key_of(step_of(s));
        for (std::size_t i = 0; i < large_targets_.size(); ++i) {
            SequentialRandom random = more_random(large_targets_[i], key);
            large_numbers_[i][s] = draw_large_poisson(random, mean_of(large_targets_[i]));
        }
    }
}

RandomKey PoissonSampler::key_of(Step step) const {
    const std::uint64_t seed = key_.low | std::uint64_t{key_.high} << 32;
    return make_key(seed, Purpose::poisson, static_cast<std::uint64_t>(step));
}

SequentialRandom PoissonSampler::more_random(std::size_t target, RandomKey key_of_step) const {
    return SequentialRandom({key_of_step, targets_[target].value, 0});
}

std::uint32_t PoissonSampler::count(std::size_t target) const {
    if (mean_of(target) > greatest_tabulated_mean) {
        const auto found = std::lower_bound(large_targets_.begin(), large_targets_.end(), target);
        return large_numbers_[static_cast<std::size_t>(found - large_targets_.begin())][step_in_block_];
    }
    return threshold_count_ == 0 ? 0 : numbers_[place(target, step_in_block_)];
}

void PoissonSampler::add(const GroupValues& weights, double* out) const {
    if (threshold_count_ > 0) {
        const std::uint8_t* const pairs = numbers_.data() + (step_in_block_ / 2) * half_;
        const auto which = static_cast<unsigned>(step_in_block_ % 2);
        const double* const values = weights.values.data();
        if (weights.uniform()) {
            Dispatched<AddNumbers<true>>::call(instruction_set_, pairs, which, values, size_, out);
        } else {
            Dispatched<AddNumbers<false>>::call(instruction_set_, pairs, which, values, size_, out);
        }
    }
    for (std::size_t i = 0; i < large_targets_.size(); ++i) {
        const std::size_t target = large_targets_[i];
        out[target] += weights[target] * large_numbers_[i][step_in_block_];
    }
}

}  // namespace ranvier::models
