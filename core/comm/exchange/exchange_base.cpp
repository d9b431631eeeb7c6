#include "comm/exchange/exchange_base.hpp"

#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

namespace {

void check_range(const char* object, std::uint64_t value, std::uint64_t least, std::uint64_t greatest,
                 const char* remedy) {
    if (value >= least && value <= greatest) return;
    throw ValueOutOfBoundsError(
        {.object = object,
         .value = std::to_string(value),
         .bound = "it must be from " + std::to_string(least) + " to " + std::to_string(greatest),
         .remedy = remedy});
}

}  // namespace

ExchangeBase::ExchangeBase(const ExchangeArguments& arguments)
    : communicator_(arguments.communicator), options_(arguments.options) {
    if (communicator_ == nullptr) throw InternalError("exchange of spikes: no communicator was given");
    check_range("the number of workers of the exchange of spikes", options_.workers, 1, std::uint64_t{1} << 16,
                "give the number of threads of a process");
    check_range("the number of steps of an epoch", options_.most_lags, 1, std::uint64_t{1} << ArrivedSpike::lag_bits,
                "exchange spikes more often than the shortest delay requires");
    check_range("the number of intervals of the exchange of spikes", options_.intervals, 1, 2,
                "choose 2 to send spikes while neurons are updated, or 1");
}

ExchangeCounts ExchangeBase::counts() const {
    ExchangeCounts counts = counts_;
    counts.buffer_bytes = buffer_bytes();
    return counts;
}

void ExchangeBase::take(std::uint32_t worker, const Visit& visit) {
    for (const auto& [step, spikes] : arrivals_) {
        const auto [first, last] = share_of(worker, options_.workers, spikes.size());
        if (first < last) visit({step, spikes.subspan(first, last - first)});
    }
}

std::shared_ptr<const Destinations> checked_destinations(const ExchangeArguments& arguments) {
    if (arguments.destinations == nullptr) {
        throw InternalError("exchange of spikes: a directed method was given no destinations");
    }
    return arguments.destinations;
}

}  // namespace ranvier::comm
