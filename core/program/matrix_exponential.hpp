#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ranvier::program {

inline constexpr std::size_t largest_matrix = 64;
/// Of A h: how much states change in a step. More squarings would eat digits.
inline constexpr double largest_norm = 0x1p40;

/// e^(A h) of a matrix of n x n numbers, by row: the propagator over a step h of the linear equations dx/dt = A x. Every
/// entry has a relative error of about the last bit of double precision as far as A h is given exactly, also where time
/// constants are equal, nearly so, or far apart: scaling, Taylor's series and squaring with about 32 digits, made of additions
/// and multiplications alone, so that the bits are the same everywhere.
///
/// Entries are infinite or not a number where A has such, where the greatest sum of the absolute values in a column of A h is
/// above largest_norm, and where states grow beyond all numbers.
/// @pre n <= largest_matrix
std::vector<double> matrix_exponential(std::span<const double> matrix, std::size_t n, double h);

}  // namespace ranvier::program
