#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ranvier::program {

inline constexpr std::size_t largest_matrix = 64;
/// Limit of the norm of A h, the change of states in a step. More squarings would lose digits.
inline constexpr double largest_norm = 0x1p40;

/// e^(A h) of an n x n matrix, by row: the propagator over a step h of the linear equations dx/dt = A x. Every entry
/// has a relative error of about the last bit of double precision, given an exact A h, also for equal, nearly equal and
/// widely separated time constants: scaling, Taylor's series and squaring with about 32 digits, using only additions
/// and multiplications, so that the bits are the same everywhere.
///
/// Entries are infinite or NaN where A has such entries, where the greatest column sum of absolute values of A h
/// exceeds largest_norm, and where states overflow.
/// @pre n <= largest_matrix
std::vector<double> matrix_exponential(std::span<const double> matrix, std::size_t n, double h);

}  // namespace ranvier::program
