#include "peak_flops.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "parallel/processors.hpp"
#include "ranvier/base/errors.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ranvier::benchmarks {

namespace {

constexpr std::uint32_t loops_at_once = 10'000;
/// Independent chains of operations: enough for two units whose operations take four or five cycles.
constexpr std::uint32_t chains = 12;
// Each chain converges to 1.
constexpr double factor = 0.75;
constexpr double summand = 0.25;

/// Does `chains` operations `loops_at_once` times, on vectors. Returns a result, so that nothing is left out.
using Kernel = double (*)();

// The chains are written one by one: an array of them might be kept in memory.
#define RANVIER_CHAINS(each) \
    each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10) each(11)

#if defined(__x86_64__)

__attribute__((target("avx512f"))) double multiply_and_add_avx512() {
    const __m512d a = _mm512_set1_pd(factor);
    const __m512d b = _mm512_set1_pd(summand);
#define RANVIER_BEGIN(i) __m512d x##i = _mm512_set1_pd(i);
#define RANVIER_STEP(i) x##i = _mm512_fmadd_pd(x##i, a, b);
#define RANVIER_END(i) sum = _mm512_add_pd(sum, x##i);
    RANVIER_CHAINS(RANVIER_BEGIN)
    for (std::uint32_t i = 0; i < loops_at_once; ++i) {
        RANVIER_CHAINS(RANVIER_STEP)
    }
    __m512d sum = _mm512_setzero_pd();
    RANVIER_CHAINS(RANVIER_END)
#undef RANVIER_BEGIN
#undef RANVIER_STEP
#undef RANVIER_END
    return _mm512_cvtsd_f64(sum);
}

__attribute__((target("avx2,fma"))) double multiply_and_add_avx2() {
    const __m256d a = _mm256_set1_pd(factor);
    const __m256d b = _mm256_set1_pd(summand);
#define RANVIER_BEGIN(i) __m256d x##i = _mm256_set1_pd(i);
#define RANVIER_STEP(i) x##i = _mm256_fmadd_pd(x##i, a, b);
#define RANVIER_END(i) sum = _mm256_add_pd(sum, x##i);
    RANVIER_CHAINS(RANVIER_BEGIN)
    for (std::uint32_t i = 0; i < loops_at_once; ++i) {
        RANVIER_CHAINS(RANVIER_STEP)
    }
    __m256d sum = _mm256_setzero_pd();
    RANVIER_CHAINS(RANVIER_END)
#undef RANVIER_BEGIN
#undef RANVIER_STEP
#undef RANVIER_END
    return _mm256_cvtsd_f64(sum);
}

double multiply_and_add() {
    const __m128d a = _mm_set1_pd(factor);
    const __m128d b = _mm_set1_pd(summand);
#define RANVIER_BEGIN(i) __m128d x##i = _mm_set1_pd(i);
#define RANVIER_STEP(i) x##i = _mm_add_pd(_mm_mul_pd(x##i, a), b);
#define RANVIER_END(i) sum = _mm_add_pd(sum, x##i);
    RANVIER_CHAINS(RANVIER_BEGIN)
    for (std::uint32_t i = 0; i < loops_at_once; ++i) {
        RANVIER_CHAINS(RANVIER_STEP)
    }
    __m128d sum = _mm_setzero_pd();
    RANVIER_CHAINS(RANVIER_END)
    return _mm_cvtsd_f64(sum);
}
constexpr std::uint32_t baseline_numbers = 2;

#elif defined(__aarch64__)

double multiply_and_add() {
    const float64x2_t a = vdupq_n_f64(factor);
    const float64x2_t b = vdupq_n_f64(summand);
#define RANVIER_BEGIN(i) float64x2_t x##i = vdupq_n_f64(i);
#define RANVIER_STEP(i) x##i = vfmaq_f64(b, x##i, a);
#define RANVIER_END(i) sum = vaddq_f64(sum, x##i);
    RANVIER_CHAINS(RANVIER_BEGIN)
    for (std::uint32_t i = 0; i < loops_at_once; ++i) {
        RANVIER_CHAINS(RANVIER_STEP)
    }
    float64x2_t sum = vdupq_n_f64(0.0);
    RANVIER_CHAINS(RANVIER_END)
    return vaddvq_f64(sum);
}
constexpr std::uint32_t baseline_numbers = 2;

#else

double multiply_and_add() {
#define RANVIER_BEGIN(i) double x##i = i;
#define RANVIER_STEP(i) x##i = x##i * factor + summand;
#define RANVIER_END(i) sum += x##i;
    RANVIER_CHAINS(RANVIER_BEGIN)
    for (std::uint32_t i = 0; i < loops_at_once; ++i) {
        RANVIER_CHAINS(RANVIER_STEP)
    }
    double sum = 0.0;
    RANVIER_CHAINS(RANVIER_END)
    return sum;
}
constexpr std::uint32_t baseline_numbers = 1;

#endif

struct Chosen {
    Kernel kernel = multiply_and_add;
    std::string_view instruction_set = "baseline";
    std::uint32_t numbers = baseline_numbers;  ///< of a vector
};

Chosen choose() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {multiply_and_add_avx512, "avx512", 8};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {multiply_and_add_avx2, "avx2", 4};
#endif
    return {};
}

}  // namespace

PeakFlops measure_peak(std::span<const int> processors, double seconds) {
    if (processors.empty()) {
        throw ShapeError({.object = "processors whose peak is measured",
                          .value = "none",
                          .bound = "there must be at least one",
                          .remedy = "name those that the process may use"});
    }
    if (!(seconds > 0.0 && seconds <= 60.0)) {
        throw ValueOutOfBoundsError({.object = "seconds of the measurement of the peak",
                                     .value = to_text(seconds),
                                     .bound = "they must be positive, and at most 60",
                                     .remedy = "choose a tenth of a second or more"});
    }
    const Chosen chosen = choose();
    std::barrier begin(static_cast<std::ptrdiff_t>(processors.size()));
    std::vector<double> rates(processors.size(), 0.0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < processors.size(); ++i) {
        threads.emplace_back([&, i] {
            // Threads that the system does not bind are spread by its scheduler.
            static_cast<void>(parallel::pin_to_processor(processors[i]));
            [[maybe_unused]] volatile double result = chosen.kernel();
            begin.arrive_and_wait();
            std::uint64_t calls = 0;
            std::chrono::duration<double> elapsed{0.0};
            const auto start = std::chrono::steady_clock::now();
            while (elapsed.count() < seconds) {
                result = chosen.kernel();
                ++calls;
                elapsed = std::chrono::steady_clock::now() - start;
            }
            const double operations = 2.0 * chosen.numbers * chains * loops_at_once * static_cast<double>(calls);
            rates[i] = operations / elapsed.count();
        });
    }
    for (std::thread& thread : threads) thread.join();
    PeakFlops peak{.instruction_set = chosen.instruction_set, .per_instruction = 2 * chosen.numbers};
    for (const double rate : rates) peak.per_second += rate;
    return peak;
}

}  // namespace ranvier::benchmarks
