#include "engine/simulation/fingerprint.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "network/fingerprint_mixer.hpp"
#include "network/network_parts.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

template <class Value>
void add_option(network::Fingerprint& mixed, const Value& value) {
    if constexpr (requires { value.name(); }) {
        mixed.add(value.name());
    } else if constexpr (std::is_same_v<Value, std::optional<bool>>) {
        mixed.add(value.has_value());
        mixed.add(value.value_or(true));
    } else if constexpr (std::is_same_v<Value, std::shared_ptr<const std::vector<std::int32_t>>>) {
        mixed.add(value != nullptr);
        if (value) mixed.add(*value);
    } else {
        mixed.add(value);
    }
}

/// Calls visit(name, member) for each option that all processes must share.
template <class Visit>
void visit_shared_options(Visit visit) {
    visit_options([&](std::string_view name, auto member, OnRanks on_ranks) {
        if (on_ranks == OnRanks::same) visit(name, member);
    });
}

/// The name of the n-th part of a fingerprint.
std::string part_name(const network::Network& network, std::size_t part) {
    if (part == 0) return "resolution or seed";
    part -= 1;
    if (part < network.populations().size()) return "population '" + network.populations()[part].name + "'";
    part -= network.populations().size();
    if (part < network.projections().size()) return "projection '" + network.projections()[part].name + "'";
    part -= network.projections().size();
    if (part < network.stimuli().size()) return "stimulus '" + network.stimuli()[part].name + "'";
    part -= network.stimuli().size();
    if (part < network.spike_recorders().size()) return "spike recorder " + std::to_string(part);
    part -= network.spike_recorders().size();
    if (part < network.state_recorders().size()) return "state recorder " + std::to_string(part);
    part -= network.state_recorders().size();
    if (part < network.outside_fields().size()) return "field " + std::to_string(part);
    part -= network.outside_fields().size();
    std::string option;
    visit_shared_options([&](std::string_view name, auto) {
        if (part-- == 0) option = name;
    });
    return "option " + option;
}

}  // namespace

std::vector<std::uint64_t> fingerprint(const network::Network& network, const SimulationOptions& options) {
    std::vector<std::uint64_t> numbers;
    numbers.push_back(network::fingerprint_of([&](network::Fingerprint& mixed) {
        mixed.add(network.resolution());
        mixed.add(network.seed());
    }));
    for (const std::vector<network::NetworkPart>& parts : network::parts_of_specs(network)) {
        numbers.push_back(network::fingerprint_of([&](network::Fingerprint& mixed) {
            for (const network::NetworkPart& part : parts) {
                mixed.add(part.name);
                mixed.add(part.value);
            }
        }));
    }
    visit_shared_options([&](std::string_view, auto member) {
        numbers.push_back(
            network::fingerprint_of([&](network::Fingerprint& mixed) { add_option(mixed, options.*member); }));
    });
    return numbers;
}

void compare_descriptions(comm::Communicator& communicator, const network::Network& network,
                          const SimulationOptions& options) {
    if (communicator.size() == 1) return;
    const std::vector<std::uint64_t> local = fingerprint(network, options);
    const auto fail = [&](std::string value, std::string bound) {
        throw RemoteError({.object = "network of rank " + std::to_string(communicator.rank().value),
                           .value = std::move(value),
                           .bound = std::move(bound),
                           .remedy = "run the same script with the same input on all ranks"});
    };
    constexpr std::size_t kinds = 7;
    std::uint64_t counts[kinds] = {network.populations().size(),
                                   network.projections().size(),
                                   network.stimuli().size(),
                                   network.spike_recorders().size(),
                                   network.state_recorders().size(),
                                   network.outside_fields().size(),
                                   local.size()};
    static constexpr const char* names[kinds] = {"populations",     "projections", "stimuli", "spike recorders",
                                                 "state recorders", "fields",      "parts"};
    std::uint64_t least[kinds];
    std::uint64_t greatest[kinds];
    std::copy(std::begin(counts), std::end(counts), least);
    std::copy(std::begin(counts), std::end(counts), greatest);
    communicator.reduce(least, comm::Reduction::least);
    communicator.reduce(greatest, comm::Reduction::greatest);
    for (std::size_t i = 0; i < kinds; ++i) {
        if (least[i] == greatest[i]) continue;
        fail("one with " + std::to_string(counts[i]) + " " + names[i],
             "ranks have from " + std::to_string(least[i]) + " to " + std::to_string(greatest[i]));
    }
    std::vector<std::uint64_t> lowest = local;
    std::vector<std::uint64_t> highest = local;
    communicator.reduce(lowest, comm::Reduction::least);
    communicator.reduce(highest, comm::Reduction::greatest);
    for (std::size_t part = 0; part < local.size(); ++part) {
        if (lowest[part] == highest[part]) continue;
        fail("", "its " + part_name(network, part) + " is not the same on all ranks");
    }
}

}  // namespace ranvier::engine
