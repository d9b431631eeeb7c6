#include "ranvier/base/state_columns.hpp"

#include <cstdint>

namespace ranvier {

namespace {

constexpr std::string_view size_name = "size";

std::size_t length(const StateColumns::Values& values) {
    return std::visit([](const auto& column) { return column.size(); }, values);
}

}  // namespace

StateColumns::StateColumns(std::vector<Column> columns) : columns_(std::move(columns)), loads_(true) {
    bool any = false;
    for (const Column& column : columns_) {
        if (column.is_list) continue;
        if (any && length(column.values) != owners_) throw other_state(column.name);
        owners_ = length(column.values);
        any = true;
    }
    std::size_t end = 0;
    for (const Column& column : columns_) {
        if (column.is_list || column.name != size_name) continue;
        const auto* const sizes = std::get_if<std::vector<std::int64_t>>(&column.values);
        if (sizes == nullptr) throw other_state(column.name);
        ends_.reserve(owners_);
        for (const std::int64_t size : *sizes) {
            if (size < 0) throw other_state(column.name);
            end += static_cast<std::size_t>(size);
            ends_.push_back(end);
        }
    }
    for (const Column& column : columns_) {
        if (column.is_list && length(column.values) != end) throw other_state(column.name);
    }
}

void StateColumns::seek(std::size_t owner) {
    owner_ = owner;
    const std::size_t begin = owner == 0 || ends_.empty() ? 0 : ends_[owner - 1];
    for (Column& column : columns_) column.next = begin;
}

std::size_t StateColumns::serialize_size(std::size_t size) {
    auto value = static_cast<std::int64_t>(size);
    serialize(size_name, value);
    if (!loads_) elements_ += size;
    return static_cast<std::size_t>(value);
}

StateColumns::Column* StateColumns::find(std::string_view name, bool is_list) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::size_t place = hint_ + i < columns_.size() ? hint_ + i : hint_ + i - columns_.size();
        Column& column = columns_[place];
        if (column.name != name) continue;
        if (column.is_list != is_list) throw other_state(name);
        hint_ = place + 1 == columns_.size() ? 0 : place + 1;
        return &column;
    }
    if (loads_) throw other_state(name);
    return nullptr;
}

StateColumns::Column& StateColumns::add(std::string_view name, bool is_list, Values values) {
    hint_ = 0;
    return columns_.emplace_back(Column{std::string(name), is_list, std::move(values)});
}

void StateColumns::check_end(std::string_view name, std::size_t end) const {
    if (end > (ends_.empty() ? 0 : ends_[owner_])) throw other_state(name);
}

StateError StateColumns::other_state(std::string_view name) {
    return StateError({.object = "saved state '" + std::string(name) + "'",
                       .value = "",
                       .bound = "it does not match the models of this version of Ranvier",
                       .remedy = "load it with the version that saved it"});
}

}  // namespace ranvier
