#include <span>
#include <string_view>

#include "base/registry.hpp"
#include "comm/exchange/exchange_methods.hpp"

namespace ranvier::comm {

namespace {

constexpr Registry<ExchangeInfo> methods("method of exchange", all_exchanges);

}  // namespace

std::span<const ExchangeInfo* const> exchanges() { return methods.items(); }

const ExchangeInfo& find_exchange(std::string_view name) { return methods.find(name); }

}  // namespace ranvier::comm
