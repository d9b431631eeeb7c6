#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {

/// Common part of all exchange methods: checked arguments, counts, and the list of received spikes.
class ExchangeBase : public SpikeExchange {
   public:
    /// @throws ValueOutOfBoundsError when an option is out of its bounds
    explicit ExchangeBase(const ExchangeArguments& arguments);

    /// Divides the spikes listed in `arrivals_`: few long pieces.
    void take(std::uint32_t worker, const Visit& visit) override;
    bool more() const override { return more_; }
    ExchangeCounts counts() const override;
    void reset_counts() override { counts_ = {}; }

   protected:
    Communicator& communicator() const { return *communicator_; }
    std::int32_t ranks() const { return communicator_->size(); }
    const ExchangeOptions& options() const { return options_; }

    /// Current size of all buffers in bytes.
    virtual std::uint64_t buffer_bytes() const = 0;

    /// Counts a collective call with `partners` other processes and this many bytes.
    void count_collective(std::size_t bytes, std::size_t partners) {
        counts_.bytes_sent += bytes;
        counts_.messages += partners;
        ++counts_.rounds;
    }
    /// The same with all other processes.
    void count_collective(std::size_t bytes) { count_collective(bytes, static_cast<std::size_t>(ranks() - 1)); }

    ExchangeCounts counts_;
    std::vector<Arrivals> arrivals_;  ///< of the last transfer
    bool more_ = false;  ///< whether the last transfer left spikes for another round

   private:
    std::shared_ptr<Communicator> communicator_;
    ExchangeOptions options_;
};

/// The `make` of an ExchangeInfo.
template <class Method>
std::unique_ptr<SpikeExchange> make_exchange(const ExchangeArguments& arguments) {
    return std::make_unique<Method>(arguments);
}

/// The destinations that a directed method needs. @throws InternalError when they are null
std::shared_ptr<const Destinations> checked_destinations(const ExchangeArguments& arguments);

/// The part of [0, count) of worker `worker` of `workers`.
struct Share {
    std::size_t first = 0;
    std::size_t last = 0;
};
constexpr Share share_of(std::uint32_t worker, std::uint32_t workers, std::size_t count) {
    return {count * worker / workers, count * (worker + 1) / workers};
}

/// Block size in which a worker gathers spikes for its part of the processes. Processing block by block keeps its
/// output in the cache for any number of processes and spikes. Each block costs a search in the list of every spike.
class Blocks {
   public:
    /// @param spikes number of spikes in this round
    std::size_t count(std::size_t processes, std::size_t spikes) const {
        const std::size_t for_entries = (entries_per_spike_ * spikes + most_entries - 1) / most_entries;
        // One or two processes per block need as much memory as two.
        const std::size_t useful = 2 * for_entries > processes
                                       ? processes
                                       : std::max((processes + most_processes - 1) / most_processes, for_entries);
        return std::clamp<std::size_t>(entries_per_spike_ / least_entries_per_spike, 1,
                                       std::max<std::size_t>(useful, 1));
    }
    bool any_noted() const { return any_noted_; }
    /// Adapts to the gathered numbers, for the next time.
    void note(std::size_t entries, std::size_t spikes) {
        if (spikes == 0) return;
        entries_per_spike_ = entries / spikes;
        any_noted_ = true;
    }

   private:
    static constexpr std::size_t most_processes = 4096;
    static constexpr std::size_t most_entries = 65536;
    static constexpr std::size_t least_entries_per_spike = 256;

    std::size_t entries_per_spike_ = 0;
    bool any_noted_ = false;
};

/// Extends a list to at least this size without doubling its memory: lists of spikes have similar, large sizes in every
/// epoch.
template <class List>
void lengthen(List& values, std::size_t size) {
    if (size <= values.size()) return;
    if (size > values.capacity()) values.reserve(size + size / 16);
    values.resize(size);
}

/// Shrinks a list whose capacity was needed only once, as in the first epoch.
template <class List>
void trim(List& values, std::size_t used) {
    constexpr std::size_t negligible = 4096;
    if (values.capacity() <= 4 * used + negligible) return;
    List shorter(values.get_allocator());
    shorter.reserve(std::max(used, values.size()));
    shorter.assign(values.begin(), values.end());
    values = std::move(shorter);
}

template <class List>
std::uint64_t bytes_of(const List& values) {
    return values.capacity() * sizeof(typename List::value_type);
}

}  // namespace ranvier::comm
