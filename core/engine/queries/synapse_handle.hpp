#pragma once

#include <cstdint>

#include "connect/tables/table_kind.hpp"

namespace ranvier::engine {

/// The location of a synapse, packed into one number.
struct SynapseHandle {
    std::uint32_t shard = 0;  ///< number among those of all processes
    connect::KindIndex kind;
    std::uint64_t position = 0;

    static constexpr int shard_bits = 18;
    static constexpr int position_bits = 64 - shard_bits - connect::kind_bits;

    std::uint64_t pack() const {
        return std::uint64_t{shard} << (position_bits + connect::kind_bits) |
               std::uint64_t{kind.value} << position_bits | position;
    }
    static SynapseHandle unpack(std::uint64_t packed) {
        return {static_cast<std::uint32_t>(packed >> (position_bits + connect::kind_bits)),
                connect::KindIndex{static_cast<std::uint32_t>(packed >> position_bits & (connect::most_kinds - 1))},
                packed & ((std::uint64_t{1} << position_bits) - 1)};
    }
};

}  // namespace ranvier::engine
