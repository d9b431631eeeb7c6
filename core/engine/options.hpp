#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/neuron.hpp"

namespace ranvier::engine {

/// What a user chooses for a simulation. engine/option_choices.hpp tells what the options come to.
struct SimulationOptions {
    std::uint32_t threads = 0;  ///< 0: one for each processor that the process may use
    models::Precision precision = models::Precision::double_precision;         ///< of the state of neurons
    models::Precision weight_precision = models::Precision::single_precision;  ///< of stored weights
    /// How shards advance: "bsp" (bulk-synchronous: all by the shortest delay, then all meet) or "async" (each as far as those
    /// that it gets spikes from allow; engine/async_stepping.hpp).
    std::string stepping = "bsp";
    std::string instruction_set = "auto";  ///< "auto", "baseline", "avx2", "avx512"
    /// Call the code that was compiled for neurons of equations and this instruction set, where there is such; else programs
    /// are interpreted. Bits are the same.
    bool compiled_programs = false;
    /// The same for synapses of equations; in a prediction, whether there will be such code.
    bool compiled_rules = false;
    /// Populations, by index, for whose programs there will be such code when the simulation is built: for predictions only.
    std::vector<std::uint32_t> programs_to_compile = {};
    std::string table_layout =
        "auto";  ///< how tables deliver: "auto", "runs" or "ring" (connect/tables/run_table.hpp, ring_table.hpp)
    std::uint32_t delivery_window = 0;  ///< steps whose inputs runs are added to at a time, a power of two; 0: chosen
    /// How workers are bound to processors: "auto" (one to each processor or each core, if there are as many), "equal",
    /// "compact", "none", or a list of processors (parallel/pinning.hpp).
    std::string pinning = "auto";
    /// Into how many shards the neurons of this process are divided; 0: chosen (engine/option_choices.hpp).
    std::uint32_t shards = 0;
    /// From whom a worker without work takes shards: "none", "local_and_remote", "prefer_local", "local_only"
    /// (parallel/stealing.hpp), or "auto": from nobody, or from anybody if shards do not wait for all others.
    std::string stealing = "auto";
    /// Of a neuron of each population, in any unit: shards get neurons by their cost, not by their number. None: by number.
    std::vector<double> costs = {};
    bool measure_costs = false;  ///< find out what the populations cost; see Simulation::costs()
    std::uint64_t memory_limit =
        0;  ///< bytes that the network may take on this process; 0: what the machine has available

    // For several processes.
    std::string placement = "round_robin";  ///< of neurons: "round_robin", "consecutive" or "shuffle"
    /// A rank for each neuron and source, in the order of ids; goes before `placement`.
    std::shared_ptr<const std::vector<std::int32_t>> ranks = nullptr;
    /// Method of exchanging spikes in epochs; see comm::exchanges(). Empty: "alltoall", or none where shards do not wait for
    /// all others.
    std::string exchange = "";
    /// Where shards do not wait for all others, how processes tell each other how far theirs are: "packed" (all that a process
    /// has to tell another one in one message) or "single" (a message for each pair of shards); see comm::Notifications.
    std::string notifications = "packed";
    std::uint32_t intervals = 1;  ///< into which the shortest delay is divided, where the method can use it: 1 or 2
    std::uint64_t spike_buffer = std::uint64_t{32} << 20;  ///< bytes; see comm::ExchangeOptions
    std::uint32_t allgather_spikes = 16;  ///< see comm::ExchangeOptions
    /// Bytes of the buffers through which processes tell each other of synapses while the network is built.
    std::uint64_t connection_buffer = std::uint64_t{128} << 20;
    /// Sort synapses by source, so that one message tells a rank of a spike. If false, each synapse gets a message. None: the
    /// core chooses what takes less memory (engine/option_choices.hpp).
    std::optional<bool> sort_connections = std::nullopt;
    bool keep_sources = true;  ///< so that connections can be asked for
    std::string row_numbering = "auto";  ///< of tables: "auto", "dense", "compact" or "sparse"
    bool wait_apart = false;  ///< meet before each exchange, so that waiting is told apart from exchanging
    bool trace_epochs = false;  ///< keep the times of each epoch
    /// In a dry run: the rate (spikes/s) at which each neuron is taken to send spikes, in place of its own spikes, which are
    /// still recorded. One rate for all, or one for each population (sources that play spikes keep theirs). Without rates,
    /// the other processes are taken to send what this one sends.
    std::vector<double> invented_rates = {};
};

}  // namespace ranvier::engine
