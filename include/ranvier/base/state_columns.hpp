#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier {

/// State of many owners (neurons, sources, ...) as named columns: one value for each owner, or a list for each, whose
/// lengths are the column "size".
///
/// The same function saves and loads: `serialize` appends a value to its column, or replaces the value by the element
/// of the present owner.
class StateColumns {
   public:
    using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                                std::vector<std::uint32_t>, std::vector<std::int64_t>>;
    struct Column {
        std::string name;
        bool is_list = false;
        Values values;
        std::size_t next = 0;  ///< index of the next element to load from a list
    };

    /// To save.
    StateColumns() = default;
    /// To load. @throws StateError unless the lengths of the columns agree
    explicit StateColumns(std::vector<Column> columns);

    bool loads() const { return loads_; }
    std::size_t owners() const { return owners_; }
    /// The total length of all lists.
    std::size_t elements() const { return ends_.empty() ? elements_ : ends_.back(); }
    /// Selects the owner whose values are loaded next. @pre owner < owners()
    void seek(std::size_t owner);
    std::vector<Column> take() && { return std::move(columns_); }

    /// Saves or loads a value of the present owner.
    template <class Value>
    void serialize(std::string_view name, Value& value) {
        std::vector<Value>& values = column<Value>(name, false).first;
        if (loads_) {
            value = values[owner_];
        } else {
            values.push_back(value);
        }
    }

    /// Saves or loads the length of the present owner's list, and returns it. @param size ignored when loading
    std::size_t serialize_size(std::size_t size);

    /// Saves or loads the values of the present owner's list. @param at from an index to a reference
    template <class Value, class At>
    void serialize_list(std::string_view name, std::size_t size, At at) {
        if (size == 0) return;
        const auto [values, next] = column<Value>(name, true);
        if (loads_) {
            check_end(name, next + size);
            for (std::size_t i = 0; i < size; ++i) at(i) = values[next + i];
            next += size;
        } else {
            for (std::size_t i = 0; i < size; ++i) values.push_back(at(i));
        }
    }
    /// Saves or loads the next value of the present owner's list.
    template <class Value>
    void serialize_element(std::string_view name, Value& value) {
        serialize_list<Value>(name, 1, [&](std::size_t) -> Value& { return value; });
    }

   private:
    /// The column of a name; created when saving.
    template <class Value>
    std::pair<std::vector<Value>&, std::size_t&> column(std::string_view name, bool is_list) {
        // NOLINTNEXTLINE(misc-const-correctness): its values are changed through a reference
        Column* const found = find(name, is_list);
        Column& selected = found != nullptr ? *found : add(name, is_list, std::vector<Value>{});
        auto* const values = std::get_if<std::vector<Value>>(&selected.values);
        if (values == nullptr) throw other_state(name);
        return {*values, selected.next};
    }
    /// Null if there is none. @throws StateError when loading
    Column* find(std::string_view name, bool is_list);
    Column& add(std::string_view name, bool is_list, Values values);
    void check_end(std::string_view name, std::size_t end) const;
    static StateError other_state(std::string_view name);

    std::vector<Column> columns_;
    bool loads_ = false;
    std::size_t owners_ = 0;
    std::size_t owner_ = 0;
    std::size_t elements_ = 0;
    std::size_t hint_ = 0;  ///< where the search for the next column starts: columns come in a fixed order
    std::vector<std::size_t> ends_;  ///< of the lists of all owners
};

}  // namespace ranvier
