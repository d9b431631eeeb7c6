#include "comm/exchange/exchange_methods.hpp"

namespace ranvier::comm {

/// Without a class: the records of rounds carry the spikes; see engine/stepping/spike_records.hpp.
const ExchangeInfo shared_memory_exchange{
    .name = "shared_memory",
    .summary = "for processes of one host: each thread reads the spikes of all others from memory that they share",
    .directed = false,
    .on_host = true,
};

}  // namespace ranvier::comm
