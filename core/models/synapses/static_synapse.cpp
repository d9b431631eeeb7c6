#include "ranvier/models/registry.hpp"

namespace ranvier::models {

constinit const SynapseModel static_synapse{
    .name = "static_synapse",
    .summary = "Synapse with a constant weight",
    .equations = "Each spike of the source adds the weight to the input of the target when it arrives.",
    .reference = "",
    .parameters = {},
};

}  // namespace ranvier::models
