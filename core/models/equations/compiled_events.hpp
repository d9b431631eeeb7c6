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

/// Code for an event of synapses.
struct CompiledEvent {
    program::UniformsFunction prepare = nullptr;
    program::EventFunction run = nullptr;
};

/// Code for the events of both sides, and what keeps it in memory.
struct CompiledEvents {
    CompiledEvent presynaptic;
    CompiledEvent postsynaptic;
    std::shared_ptr<const void> owner;
};

/// What code is made for.
struct EventForm {
    InstructionSet set = InstructionSet::baseline;
    bool double_weights = false;
    std::vector<std::uint32_t> own_parameters;  ///< of which each synapse has a value, ascending

    auto operator<=>(const EventForm&) const = default;
};

/// The code that there is for a synapse model. Any threads may use it at the same time.
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
