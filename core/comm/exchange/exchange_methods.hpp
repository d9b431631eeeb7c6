#pragma once

#include "comm/exchange/exchange.hpp"

/// Every method of exchange, defined in the file of its name. A new one gets a line here and one in exchange_registry.cpp.
namespace ranvier::comm {

extern const ExchangeInfo allgather_exchange;
extern const ExchangeInfo alltoall_exchange;
extern const ExchangeInfo alltoallv_exchange;
extern const ExchangeInfo auto_exchange;
extern const ExchangeInfo multisend_exchange;
extern const ExchangeInfo neighbor_exchange;
extern const ExchangeInfo overlap_exchange;
extern const ExchangeInfo persistent_exchange;
extern const ExchangeInfo rma_allgather_exchange;
extern const ExchangeInfo two_phase_exchange;

}  // namespace ranvier::comm
