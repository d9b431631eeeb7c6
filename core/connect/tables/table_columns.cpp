#include "ranvier/connect/tables/table_columns.hpp"

#include <cstdint>

namespace ranvier::connect {

template <class Target, class Weight>
TableColumns<Target, Weight>::TableColumns() = default;
template <class Target, class Weight>
TableColumns<Target, Weight>::TableColumns(TableColumns&&) noexcept = default;
template <class Target, class Weight>
TableColumns<Target, Weight>& TableColumns<Target, Weight>::operator=(TableColumns&&) noexcept = default;
template <class Target, class Weight>
TableColumns<Target, Weight>::~TableColumns() = default;

template struct TableColumns<std::uint16_t, float>;
template struct TableColumns<std::uint32_t, float>;
template struct TableColumns<std::uint16_t, double>;
template struct TableColumns<std::uint32_t, double>;

}  // namespace ranvier::connect
