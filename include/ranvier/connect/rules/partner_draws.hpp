#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ranvier/base/random.hpp"

namespace ranvier::connect {

/// How a rule draws the partners of a major neuron, for machines that draw them by code of their own: fewer than 2^32
/// possible partners. Major neurons and partners are numbered; ids without gaps follow each other.
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

    static constexpr std::uint32_t none = UINT32_MAX;
    /// If there are gaps: the numbers of the major neurons by id from `first_major` on, or none.
    std::vector<std::uint32_t> numbers = {};
    /// If there are gaps: the ids of the partners, counted from `first_partner`.
    std::vector<std::uint32_t> partner_ids = {};
    /// If there are gaps, and no autapses: by major neuron, the partner that is the neuron itself, or none.
    std::vector<std::uint32_t> own_partners = {};
};

}  // namespace ranvier::connect
