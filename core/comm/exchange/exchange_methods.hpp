#pragma once

#include <array>

#include "ranvier/comm/exchange/exchange.hpp"

/// Every exchange method, defined in the file of its name; those that begin with rma_ in rma_allgather.cpp, and variants
/// in the file of the method with which their names begin. Declare a new method here and add it to the list below.
namespace ranvier::comm {

extern const ExchangeInfo allgather_exchange;
extern const ExchangeInfo allgather_overlap_exchange;
extern const ExchangeInfo alltoall_exchange;
extern const ExchangeInfo alltoallv_exchange;
extern const ExchangeInfo auto_exchange;
extern const ExchangeInfo connected_exchange;
extern const ExchangeInfo grid_exchange;
extern const ExchangeInfo hierarchical_exchange;
extern const ExchangeInfo multisend_exchange;
extern const ExchangeInfo multisend_reduce_scatter_exchange;
extern const ExchangeInfo neighbor_exchange;
extern const ExchangeInfo overlap_exchange;
extern const ExchangeInfo persistent_exchange;
extern const ExchangeInfo persistent_reduce_scatter_exchange;
extern const ExchangeInfo rma_allgather_exchange;
extern const ExchangeInfo rma_allgather_counter_exchange;
extern const ExchangeInfo rma_allgather_flush_exchange;
extern const ExchangeInfo rma_allgather_pscw_exchange;
extern const ExchangeInfo rma_bruck_exchange;
extern const ExchangeInfo rma_bruck_counter_exchange;
extern const ExchangeInfo rma_bruck_flush_exchange;
extern const ExchangeInfo rma_bruck_pscw_exchange;
extern const ExchangeInfo shared_memory_exchange;
extern const ExchangeInfo two_phase_exchange;
extern const ExchangeInfo two_phase_any_exchange;

inline constexpr std::array all_exchanges{
    &allgather_exchange,
    &allgather_overlap_exchange,
    &alltoall_exchange,
    &alltoallv_exchange,
    &auto_exchange,
    &connected_exchange,
    &grid_exchange,
    &hierarchical_exchange,
    &multisend_exchange,
    &multisend_reduce_scatter_exchange,
    &neighbor_exchange,
    &overlap_exchange,
    &persistent_exchange,
    &persistent_reduce_scatter_exchange,
    &rma_allgather_exchange,
    &rma_allgather_counter_exchange,
    &rma_allgather_flush_exchange,
    &rma_allgather_pscw_exchange,
    &rma_bruck_exchange,
    &rma_bruck_counter_exchange,
    &rma_bruck_flush_exchange,
    &rma_bruck_pscw_exchange,
    &shared_memory_exchange,
    &two_phase_exchange,
    &two_phase_any_exchange,
};

}  // namespace ranvier::comm
