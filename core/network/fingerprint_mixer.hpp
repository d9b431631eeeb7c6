#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ranvier/base/hash.hpp"
#include "ranvier/network/network.hpp"

namespace ranvier::network {

/// Hashes values of all types into one number.
class Fingerprint {
   public:
    void add(std::uint64_t value) { hash_.add(value); }
    void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
    void add(std::string_view text) {
        add(text.size());
        for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
    void add(const char* text) { add(std::string_view(text)); }
    void add(const std::string& text) { add(std::string_view(text)); }
    void add(std::size_t first, std::size_t second) {
        add(first);
        add(second);
    }
    template <class Item>
        requires std::is_integral_v<Item> || std::is_enum_v<Item>
    void add(Item value) {
        add(static_cast<std::uint64_t>(value));
    }
    template <class Item>
    void add(const std::vector<Item>& items) {
        add(items.size());
        for (const Item& item : items) add(item);
    }
    template <class Value>
    void add(const std::map<std::string, Value, std::less<>>& values) {
        add(values.size());
        for (const auto& [name, value] : values) {
            add(name);
            add(value);
        }
    }
    template <class Number>
    void add(const SharedNumbers<Number>& items) {
        add(items.size());
        for (const Number item : items) add(item);
    }
    void add(const Distribution& distribution) {
        const auto& [kind, first, second, restriction, lower, upper] = distribution;
        add(kind);
        add(first);
        add(second);
        add(restriction);
        add(lower);
        add(upper);
    }
    /// Bounds follow from the function and the network.
    void add(const ExpressionValues& values) { add(values.function->fingerprint()); }
    void add(const Values& values) {
        add(values.index());
        std::visit([this](const auto& value) { add(value); }, values);
    }
    void add(std::monostate) {}
    void add(const SiteProbabilities& probabilities) { add(probabilities.values); }
    void add(const SiteSpec& site) {
        add(site.index());
        std::visit([this](const auto& value) { add(value); }, site);
    }
    void add(const std::shared_ptr<const connect::PairFunction>& function) { add(function->fingerprint()); }
    void add(const connect::Mask::Pointer& mask) {
        add(mask != nullptr);
        if (mask == nullptr) return;
        add(mask->kind());
        add(mask->dimensions());
        add_all(mask->center());
        add_all(mask->halves());
        for (const connect::Point& axis : mask->rotation()) add_all(axis);
        add(mask->first());
        add(mask->second());
    }
    void add(const connect::RuleSpec& rule) {
        add(rule.name());
        for (const connect::RuleValue& value : rule.values()) {
            std::visit([this](const auto& given) { add(given); }, value);
        }
        add(rule.reversal().has_value());
        if (!rule.reversal()) return;
        const auto& [of, same_weights, same_delays] = *rule.reversal();
        add(of.value);
        add(same_weights, same_delays);
    }
    void add(const connect::Point& point) {
        for (const double coordinate : point) add(coordinate);
    }
    void add(const connect::Positions::Array& array) { add(array.coordinates); }
    void add(const connect::Positions::Grid& grid) {
        for (const std::uint64_t count : grid.shape) add(count);
        add(grid.first);
        add(grid.spacing);
    }
    void add(const connect::Positions::Random& random) {
        add(random.shape);
        add(random.lower);
        add(random.extent);
        add(random.min_distance);
    }
    void add(const connect::Positions& positions) {
        const auto& [dimensions, unit, form, period, origin] = positions;
        add(dimensions);
        add(unit);
        add(form.index());
        std::visit([this](const auto& given) { add(given); }, form);
        add(period);
        add(origin);
    }
    void add(const connect::Rotations& rotations) {
        add(rotations.steps.size());
        for (const auto& [kind, axis, angles] : rotations.steps) {
            add(kind);
            add(axis);
            add(angles);
        }
    }
    void add(const IdSequence& ids) {
        add(ids.size());
        ids.for_each_progression([this](std::uint64_t, NeuronId first, std::uint64_t stride, std::uint64_t size) {
            add(first.value, stride);
            add(size);
        });
    }

    std::uint64_t value() const { return hash_.value(); }

   private:
    void add_all(const connect::Point& point) {
        for (const double coordinate : point) add(coordinate);
    }

    SequenceHash hash_;
};

template <class Add>
std::uint64_t fingerprint_of(Add add) {
    Fingerprint mixed;
    add(mixed);
    return mixed.value();
}

}  // namespace ranvier::network
