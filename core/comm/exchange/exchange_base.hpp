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

/// What all methods of exchange have in common: checked arguments, counts, a list of what has arrived.
class ExchangeBase : public SpikeExchange {
   public:
    /// @throws ValueOutOfBoundsError when an option is out of its bounds
    explicit ExchangeBase(const ExchangeArguments& arguments);

    /// Divides what is listed in `arrivals_`: few long stretches.
    void take(std::uint32_t worker, const Visit& visit) override;
    bool more() const override { return more_; }
    ExchangeCounts counts() const override;
    void reset_counts() override { counts_ = {}; }

   protected:
    Communicator& communicator() const { return *communicator_; }
    std::int32_t ranks() const { return communicator_->size(); }
    const ExchangeOptions& options() const { return options_; }

    /// Bytes of all buffers held now.
    virtual std::uint64_t buffer_bytes() const = 0;

    /// A collective call with `partners` other processes that was given this many bytes.
    void count_collective(std::size_t bytes, std::size_t partners) {
        counts_.bytes_sent += bytes;
        counts_.messages += partners;
        ++counts_.rounds;
    }
    /// The same with all other processes.
    void count_collective(std::size_t bytes) { count_collective(bytes, static_cast<std::size_t>(ranks() - 1)); }

    ExchangeCounts counts_;
    std::vector<Arrivals> arrivals_;  ///< of the last transfer
    bool more_ = false;               ///< whether it left something for another round

   private:
    std::shared_ptr<Communicator> communicator_;
    ExchangeOptions options_;
};

/// For the `make` of an ExchangeInfo.
template <class Method>
std::unique_ptr<SpikeExchange> make_exchange(const ExchangeArguments& arguments) {
    return std::make_unique<Method>(arguments);
}

/// What a method that is directed needs besides. @throws InternalError when it is null
std::shared_ptr<const Destinations> checked_destinations(const ExchangeArguments& arguments);

/// The part of [0, count) that worker `worker` of `workers` is responsible for.
struct Share {
    std::size_t first = 0;
    std::size_t last = 0;
};
constexpr Share share_of(std::uint32_t worker, std::uint32_t workers, std::size_t count) {
    return {count * worker / workers, count * (worker + 1) / workers};
}

/// How finely a worker cuts its part of the processes when it gathers spikes for them: block by block, so that what it
/// writes to stays in its cache however many processes and spikes there are. Each block costs a search in the list of every
/// spike.
class Blocks {
   public:
    /// @param spikes that go out this time
    std::size_t count(std::size_t processes, std::size_t spikes) const {
        const std::size_t for_entries = (entries_per_spike_ * spikes + most_entries - 1) / most_entries;
        // Blocks of one and of two processes would be as large as those of two.
        const std::size_t useful = 2 * for_entries > processes
                                       ? processes
                                       : std::max((processes + most_processes - 1) / most_processes, for_entries);
        return std::clamp<std::size_t>(entries_per_spike_ / least_entries_per_spike, 1,
                                       std::max<std::size_t>(useful, 1));
    }
    bool any_noted() const { return any_noted_; }
    /// Learns from what was gathered, for the next time.
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

/// Makes a list at least so long, without doubling what it takes: lists of spikes are as long in every epoch, and large.
template <class List>
void lengthen(List& values, std::size_t size) {
    if (size <= values.size()) return;
    if (size > values.capacity()) values.reserve(size + size / 16);
    values.resize(size);
}

/// Gives memory back that a list needed once, as in the first epoch, and does no longer.
template <class List>
void trim(List& values, std::size_t used) {
    constexpr std::size_t hardly_any = 4096;
    if (values.capacity() <= 4 * used + hardly_any) return;
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
