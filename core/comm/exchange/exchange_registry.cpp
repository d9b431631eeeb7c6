#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/errors.hpp"
#include "comm/exchange/exchange_methods.hpp"

namespace ranvier::comm {

namespace {

// A list and no registration by static objects: their order is not known, and a linker may drop them.
constexpr std::array all_exchanges{
    &allgather_exchange, &alltoall_exchange, &alltoallv_exchange,  &auto_exchange,          &multisend_exchange,
    &neighbor_exchange,  &overlap_exchange,  &persistent_exchange, &rma_allgather_exchange, &two_phase_exchange,
};

}  // namespace

std::span<const ExchangeInfo* const> exchanges() { return all_exchanges; }

const ExchangeInfo& find_exchange(std::string_view name) {
    std::array<std::string_view, all_exchanges.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (all_exchanges[i]->name == name) return *all_exchanges[i];
        names[i] = all_exchanges[i]->name;
    }
    throw unknown_name("method of exchange", name, names);
}

}  // namespace ranvier::comm
