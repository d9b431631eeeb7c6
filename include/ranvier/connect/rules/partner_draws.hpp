#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ranvier/base/random.hpp"

namespace ranvier::connect {

/// How a rule draws the partners of a major neuron, for machines that draw them by code of their own: fewer than 2^32
/// possible partners, with contiguous ids.
struct PartnerDraws {
    enum class Way : std::uint8_t {
        with_repetition,     ///< draw_with_repetition()
        without_repetition,  ///< draw_without_repetition()
        by_skips,            ///< numbers of partners that are skipped are geometrically distributed
        all,                 ///< all partners, ascending
        same,                ///< the one of the same index
    };

    Way way = Way::with_repetition;
    std::uint64_t majors = 0;
    std::uint64_t partners = 0;
    std::uint64_t first_major = 0;    ///< id
    std::uint64_t first_partner = 0;  ///< id
    bool allows_autapses = true;
    RandomKey key;
    std::uint32_t degree = 0;  ///< of each major neuron
    /// Degrees of the major neurons from `begin` on, if they differ; otherwise empty. Thread-safe; the sampler must outlive
    /// it.
    std::function<void(std::uint64_t begin, std::span<std::uint32_t> degrees)> degrees = {};
    double inverse_log_of_failure = 0.0;
};

}  // namespace ranvier::connect
