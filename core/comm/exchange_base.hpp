#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange.hpp"

namespace ranvier::comm {

/// What all methods of exchange have in common: checked arguments, counts, a list of what has arrived.
class ExchangeBase : public SpikeExchange {
   public:
    /// @throws ValueOutOfBoundsError when an option is out of its bounds
    explicit ExchangeBase(const ExchangeArguments& arguments);

    std::span<const Arrivals> arrivals() const override { return arrivals_; }
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
    std::vector<Arrivals> arrivals_;

   private:
    std::shared_ptr<Communicator> communicator_;
    ExchangeOptions options_;
};

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

template <class T>
std::uint64_t bytes_of(const std::vector<T>& values) {
    return values.capacity() * sizeof(T);
}

}  // namespace ranvier::comm
