#pragma once

#include "bindings.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/connect/space/positions.hpp"
#include "ranvier/network/network.hpp"

/// Positions of neurons.
namespace ranvier::bindings {

/// Coordinates of neurons: one row each.
using OutputPoints = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

/// @pre there are neurons, and all have positions of the same number of dimensions
OutputPoints coordinates_of(const connect::Space& space, const IdSequence& neurons);

/// Matrices of neurons.
using OutputMatrices = nb::ndarray<nb::numpy, double, nb::ndim<3>>;

OutputMatrices rotations_of(const network::Network& network, const IdSequence& neurons);

}  // namespace ranvier::bindings
