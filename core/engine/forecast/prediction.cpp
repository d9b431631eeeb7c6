#include <span>
#include <utility>
#include <vector>

#include "engine/devices/construction_image.hpp"
#include "engine/devices/device_image.hpp"
#include "engine/forecast/device_memory.hpp"
#include "engine/forecast/memory.hpp"
#include "engine/option_choices.hpp"
#include "network/lowering/lowering.hpp"
#include "parallel/processor_quota.hpp"
#include "parallel/processors.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/simulation.hpp"

/// What is told of simulations without building them.
namespace ranvier::engine {

namespace {

std::uint32_t expected_shards(const SimulationOptions& options, const network::Network& network, std::int32_t ranks) {
    const std::uint32_t threads = choose_threads(
        options, parallel::default_threads(parallel::available_processors().size(), parallel::processor_quota()));
    // Blocks of a device.
    if (options.device == "cuda-emulator") return emulated_blocks(options, threads);
    if (options.device != "cpu") return options.shards > 0 ? options.shards : blocks_of_gpu;
    return choose_shards(options, network, ranks, threads);
}

}  // namespace

std::vector<MemoryItem> predict_memory(const network::Network& network, const SimulationOptions& options,
                                       std::int32_t ranks, Rank rank, const Activity& activity) {
    if (options.device != "cpu") check_for_device(network, options, ranks);
    network::LoweredNetwork lowered(network);
    const std::span<const connect::PopulationRange> ranges = lowered.ranges();
    const std::uint32_t shards = expected_shards(options, network, ranks);
    const connect::ProcessLayout layout(make_placement(network, options, ranks), rank, shards,
                                        {ranges.begin(), ranges.end()}, choose_costs(options, network));
    lowered.draw_for(layout.ids(), ranks == 1);
    connect::BuildOptions build_options = make_build_options(network, options, lowered.shortest_delay(), ranks, shards);
    const bool sorted = options.device != "cpu" || choose_sorting(options, lowered.plan(), ranks, shards);
    if (!sorted) build_options.numbering = connect::RowNumbering::unsorted;
    build_options.drawn = drawn_on_device(options, lowered.plan(), ranks, sorted);
    MemoryEstimate estimate =
        estimate_memory(lowered, layout, build_options, options, choose_window(options, network), activity);
    const bool is_emulated = options.device == "cuda-emulator";
    const std::uint64_t on_device = is_emulated ? estimate.device->sum() : 0;
    const std::uint64_t building_bytes = estimate.peak_bytes - estimate.final_bytes - on_device;
    estimate.items.push_back({"construction", building_bytes});
    if (estimate.device) {
        for (MemoryItem& item : items_of(*estimate.device)) estimate.items.push_back(std::move(item));
    }
    return estimate.items;
}

bool sorts_connections(const network::Network& network, const SimulationOptions& options, std::int32_t ranks) {
    if (options.device != "cpu") return true;
    return choose_sorting(options, network::LoweredNetwork(network).plan(), ranks,
                          expected_shards(options, network, ranks));
}

}  // namespace ranvier::engine
