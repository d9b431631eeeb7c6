#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "program/event_function.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::models {

/// The compiled code of one event of synapses.
struct CompiledEvent {
    program::UniformsFunction prepare = nullptr;
    program::EventFunction run = nullptr;
};

/// The compiled events of both sides, and the owner that keeps their code in memory.
struct CompiledEvents {
    CompiledEvent presynaptic;
    CompiledEvent postsynaptic;
    std::shared_ptr<const void> owner;
};

/// The form of synapses that code is compiled for.
struct EventForm {
    InstructionSet set = InstructionSet::baseline;
    bool double_weights = false;
    std::vector<std::uint32_t> per_synapse_parameters;  ///< parameters with a value per synapse, ascending

    auto operator<=>(const EventForm&) const = default;
};

/// The compiled code of a synapse model. Thread-safe.
class CompiledEventsLibrary {
   public:
    void put(EventForm form, CompiledEvents events) {
        const std::lock_guard lock(mutex_);
        events_.insert_or_assign(std::move(form), std::move(events));
    }
    std::optional<CompiledEvents> find(const EventForm& form) const {
        const std::lock_guard lock(mutex_);
        const auto found = events_.find(form);
        return found == events_.end() ? std::nullopt : std::optional(found->second);
    }

   private:
    mutable std::mutex mutex_;
    std::map<EventForm, CompiledEvents> events_;
};

}  // namespace ranvier::models
