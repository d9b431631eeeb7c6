#include <span>
#include <string_view>

#include "base/registry.hpp"
#include "comm/exchange/exchange_methods.hpp"
#include "ranvier/comm/exchange/exchange_choice.hpp"

namespace ranvier::comm {

namespace {

constexpr Registry<ExchangeInfo> methods("method of exchange", all_exchanges);

}  // namespace

std::span<const ExchangeInfo* const> exchanges() { return methods.items(); }

const ExchangeInfo& find_exchange(std::string_view name) { return methods.find(name); }

const ExchangeInfo* ExchangeChoice::find(std::string_view name) { return name.empty() ? nullptr : &methods.find(name); }

std::string_view ExchangeChoice::name() const { return empty() ? std::string_view() : method_->name; }

}  // namespace ranvier::comm
