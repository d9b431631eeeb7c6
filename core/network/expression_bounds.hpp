#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/space/positions.hpp"
#include "ranvier/network/network.hpp"

/// Bounds of the values of expressions, found before anything is built.
namespace ranvier::network {

/// Neurons of one or several populations, on one side of pairs.
struct NeuronsInSpace {
    /// Their positions as they were described, since bounds hold for any seed; null: no population has any.
    std::shared_ptr<const connect::Space> space;
    const Network* network = nullptr;
    IdSequence ids;
};

/// The mask of a rule, if it has one.
struct PairLimit {
    connect::Mask::Pointer mask = nullptr;
    /// Whether it is of displacements from targets to sources.
    bool is_reversed = false;
};

/// Finds the bounds of the values of all pairs within a mask that the neurons could form, with any random numbers: sound, and not
/// tight where an expression uses a quantity several times. Does nothing for other values.
/// @param object "weight of projection 'E to I'"
/// @throws ValueOutOfBoundsError for an expression that needs positions where a population has none, that may not be
///         finite, or whose random numbers are almost never within the bounds of a redraw; as pair_positions()
void bound_pairs(Values& values, const NeuronsInSpace& sources, const NeuronsInSpace& targets, const PairLimit& mask,
                 const std::string& object);

/// The same for the values of neurons: exact where they are not random and there are not too many.
void bound_neurons(Values& values, const NeuronsInSpace& neurons, const std::string& object);

/// The values of an expression of neurons.
/// @param neurons by index: those of the call that gave the expression
/// @param ids of the neurons whose values are wanted
/// @param key, step of random numbers, which are a function of these and of the index of the neuron
std::vector<double> evaluate_neurons(const connect::PairFunction& function, const connect::Space* space,
                                     const IdSequence& neurons, const IdSequence& ids, RandomKey key, Step step);

}  // namespace ranvier::network
