#pragma once

#include <cstddef>

#include "connect/tables/table_estimate.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/comm/exchange/exchange.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/simulation.hpp"

namespace ranvier::engine {

/// Epochs are at most this long, in steps, so that a wish to stop is heard, and the step in which a spike was emitted fits
/// what is sent: 6.4 ms of 0.025 ms.
inline constexpr Step longest_epoch = 256;
static_assert(longest_epoch <= Step{1} << comm::ArrivedSpike::lag_bits);

/// What the neurons and stimuli of a process take, extrapolated from a few of each population.
struct GroupSample {
    double shards = 1.0;
    double neurons = 0.0;  ///< of the process
    double neuron_bytes = 0.0;
    double stimulus_bytes = 0.0;
    double output_bytes = 0.0;  ///< room for the spikes of a step
};
GroupSample sample_groups(const network::LoweredNetwork& network, const connect::ProcessLayout& layout,
                          const SimulationOptions& options);

/// Bytes of the presynaptic table, when every process has as many targets elsewhere as it is a target.
struct PresynapticEstimate {
    double final_bytes = 0.0;
    double peak_bytes = 0.0;  ///< while destinations are not coded yet
};
PresynapticEstimate estimate_presynaptic(const connect::ProcessLayout& layout, const connect::TableEstimate& tables);

/// Bytes of the buffers of the exchange method, from a few epochs of it in which the spikes of this process go to as many
/// ranks as they would.
struct ExchangeSample {
    double bytes = 0.0;  ///< where the method chooses from others: of the one that takes the most
    double of_trial = 0.0;  ///< then, what the others take beside that until it has chosen
};
ExchangeSample sample_exchange(const connect::ProcessLayout& layout, const connect::TableEstimate& tables,
                               const connect::BuildOptions& build, const SimulationOptions& options,
                               double spikes_per_epoch, double steps_per_epoch, const Activity& activity);

/// The same where processes notify each other, and nothing is exchanged in epochs. @param spikes_of_one in a step
double notification_bytes(const connect::ProcessLayout& layout, const connect::TableEstimate& tables,
                          const SimulationOptions& options, double spikes_of_one, double steps_per_epoch);

/// Steps in which any of a transmitter's neurons fires, where others than those with given spikes fire at random.
/// @param spikes_of_one in a step @param steps that are simulated
struct ExpectedPulses {
    double number = 0.0;
    double per_step = 0.0;
};
ExpectedPulses expected_pulses(const network::LoweredNetwork& network, const connect::Transmitter& transmitter,
                               double spikes_of_one, double steps);

}  // namespace ranvier::engine
