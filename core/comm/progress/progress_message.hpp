#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// A spike and the step in which it was emitted.
struct StampedSpike {
    Step stamp = 0;
    NeuronId source;
};

/// The kind of an entry in a run with asynchronously advancing groups of neurons.
enum class ProgressKind : std::uint32_t {
    /// A group has reached a step; its spikes since the last notification follow, and it emits none in the next steps.
    clock,
    read,  ///< the readers of a group have reached a step
    // Between neighbours in the tree of processes; see CommonProgress and RunAgreement.
    branch_progress,  ///< all groups of the processes of a branch have reached a step
    all_progress,     ///< all groups of all processes have
    stop_request,     ///< request to end the run early
    report,           ///< the latest step that the processes of a branch plan to reach
    verdict,          ///< the step after which the run ends
    end,              ///< no further message in this run
};

/// A message is a list of entries. Entries of kind `clock` are followed by their spikes, a word each.
struct ProgressEntry {
    ProgressKind kind = ProgressKind::clock;
    /// For clocks and reads: the channel between the two processes. For reports and verdicts: 1 if a process requested
    /// a stop.
    std::uint32_t channel = 0;
    std::uint32_t spikes = 0;
    /// For clocks: number of steps after `step` in which the group emits no spikes, whatever arrives.
    std::uint32_t silent = 0;
    Step step = 0;
};
static_assert(sizeof(ProgressEntry) == 24);

/// A spike in a message: the source, and the number of steps from its emission to the clock.
class ProgressSpike {
   public:
    static constexpr int lag_bits = 16;
    static constexpr Step most_lag = (Step{1} << lag_bits) - 1;
    static constexpr std::uint64_t most_source = (std::uint64_t{1} << (64 - lag_bits)) - 1;

    static std::uint64_t pack(const StampedSpike& spike, Step clock) {
        return spike.source.value << lag_bits | static_cast<std::uint64_t>(clock - spike.stamp);
    }
    static StampedSpike unpack(std::uint64_t word, Step clock) {
        return {clock - static_cast<Step>(word & most_lag), NeuronId{word >> lag_bits}};
    }
};

/// Appends to a message.
inline void append_entry(std::vector<std::byte>& message, const ProgressEntry& entry,
                         std::span<const StampedSpike> spikes = {}) {
    const std::size_t before = message.size();
    message.resize(before + sizeof entry + spikes.size() * sizeof(std::uint64_t));
    std::byte* to = message.data() + before;
    std::memcpy(to, &entry, sizeof entry);
    to += sizeof entry;
    for (const StampedSpike& spike : spikes) {
        const std::uint64_t word = ProgressSpike::pack(spike, entry.step);
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
    }
}

/// Iterates over a message: visit(entry, spikes). @param room buffer for spikes @throws InternalError when it is
/// truncated
template <class Visit>
void for_each_entry(std::span<const std::byte> message, std::vector<StampedSpike>& room, Visit visit) {
    while (!message.empty()) {
        ProgressEntry entry;
        if (message.size() < sizeof entry) throw InternalError("a message about progress ends within an entry");
        std::memcpy(&entry, message.data(), sizeof entry);
        message = message.subspan(sizeof entry);
        if (entry.spikes > message.size() / sizeof(std::uint64_t)) {
            throw InternalError("a message about progress ends within the spikes of an entry");
        }
        room.clear();
        for (std::uint32_t i = 0; i < entry.spikes; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, message.data() + i * sizeof word, sizeof word);
            room.push_back(ProgressSpike::unpack(word, entry.step));
        }
        message = message.subspan(std::size_t{entry.spikes} * sizeof(std::uint64_t));
        visit(entry, std::span<const StampedSpike>(room));
    }
}

}  // namespace ranvier::comm
