#include "fmm/operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "fmm/rotations.hpp"
#include "ranvier/base/instruction_set.hpp"

namespace ranvier::fmm {

namespace {

/// Rows of a matrix whose sums are kept in registers: 256 bytes.
template <class Real>
inline constexpr std::size_t panel_rows = 256 / sizeof(Real);

template <std::size_t rows, class Real>
RANVIER_ALWAYS_INLINE void multiply_panel(const Real* matrix, std::size_t stride, std::size_t columns,
                                          const Real* __restrict in, Real* __restrict out) {
    Real sums[rows];
    for (std::size_t row = 0; row < rows; ++row) sums[row] = out[row];
    for (std::size_t column = 0; column < columns; ++column) {
        const Real factor = in[column];
        const Real* const entries = matrix + column * stride;
        for (std::size_t row = 0; row < rows; ++row) sums[row] += entries[row] * factor;
    }
    for (std::size_t row = 0; row < rows; ++row) out[row] = sums[row];
}

/// out += matrix in, for one sample. `stride` is a multiple of 32 bytes.
template <class Real>
RANVIER_ALWAYS_INLINE void multiply_one(const Real* matrix, std::size_t stride, std::size_t columns, const Real* in,
                                        Real* out) {
    constexpr std::size_t unit = 32 / sizeof(Real);
    std::size_t row = 0;
    for (; row + panel_rows<Real> <= stride; row += panel_rows<Real>) {
        multiply_panel<panel_rows<Real>>(matrix + row, stride, columns, in, out + row);
    }
    const Real* const rest = matrix + row;
    switch ((stride - row) / unit) {
        case 1:
            return multiply_panel<unit>(rest, stride, columns, in, out + row);
        case 2:
            return multiply_panel<2 * unit>(rest, stride, columns, in, out + row);
        case 3:
            return multiply_panel<3 * unit>(rest, stride, columns, in, out + row);
        case 4:
            return multiply_panel<4 * unit>(rest, stride, columns, in, out + row);
        case 5:
            return multiply_panel<5 * unit>(rest, stride, columns, in, out + row);
        case 6:
            return multiply_panel<6 * unit>(rest, stride, columns, in, out + row);
        case 7:
            return multiply_panel<7 * unit>(rest, stride, columns, in, out + row);
        default:
            return;
    }
}

/// Vectors that multiply_group() multiplies by a matrix at once.
constexpr std::size_t group_size = 4;

/// `registers` registers of `bytes` bytes of rows of each vector of a group. Vectors are types here: from loops over
/// arrays, compilers make slow code.
template <std::size_t bytes, std::size_t registers, class Real>
RANVIER_ALWAYS_INLINE void multiply_group_panel(const Real* matrix, std::size_t stride, std::size_t columns,
                                                const Real* in, Real* const* out, std::size_t row) {
    using Register [[gnu::vector_size(bytes)]] = Real;
    constexpr std::size_t lanes = bytes / sizeof(Real);
    Register sums[group_size][registers];
    for (std::size_t v = 0; v < group_size; ++v) {
        for (std::size_t i = 0; i < registers; ++i) __builtin_memcpy(&sums[v][i], out[v] + row + i * lanes, bytes);
    }
    for (std::size_t column = 0; column < columns; ++column) {
        Register entries[registers];
        for (std::size_t i = 0; i < registers; ++i) {
            __builtin_memcpy(&entries[i], matrix + column * stride + row + i * lanes, bytes);
        }
        for (std::size_t v = 0; v < group_size; ++v) {
            const Real factor = in[v * stride + column];
            for (std::size_t i = 0; i < registers; ++i) sums[v][i] += entries[i] * factor;
        }
    }
    for (std::size_t v = 0; v < group_size; ++v) {
        for (std::size_t i = 0; i < registers; ++i) __builtin_memcpy(out[v] + row + i * lanes, &sums[v][i], bytes);
    }
}

/// out[v] += matrix in[v] for a group of vectors, one after another in `in`, of one sample: the matrix is read once.
template <InstructionSet set, class Real>
RANVIER_ALWAYS_INLINE void multiply_group(const Real* matrix, std::size_t stride, std::size_t columns, const Real* in,
                                          Real* const* out) {
    // The sums of a group, entries and a factor fit into 32 or 16 registers.
    constexpr std::size_t bytes = vector_bytes<set>;
    constexpr std::size_t registers = set == InstructionSet::avx512 ? 4 : 2;
    constexpr std::size_t rows = registers * bytes / sizeof(Real);
    constexpr std::size_t unit = 32 / sizeof(Real);
    std::size_t row = 0;
    for (; row + rows <= stride; row += rows) {
        multiply_group_panel<bytes, registers>(matrix, stride, columns, in, out, row);
    }
    for (; row + 2 * unit <= stride; row += 2 * unit) {
        multiply_group_panel<std::min<std::size_t>(bytes, 64), 64 / std::min<std::size_t>(bytes, 64)>(
            matrix, stride, columns, in, out, row);
    }
    if (row < stride) {
        multiply_group_panel<std::min<std::size_t>(bytes, 32), 32 / std::min<std::size_t>(bytes, 32)>(
            matrix, stride, columns, in, out, row);
    }
}

/// out += matrix in, for samples in registers of `bytes` bytes: four rows at a time.
template <std::size_t bytes, class Real>
RANVIER_ALWAYS_INLINE void multiply_registers(const Real* matrix, std::size_t stride, std::size_t count,
                                              std::size_t samples, const Real* in, Real* out) {
    using Register [[gnu::vector_size(bytes)]] = Real;
    constexpr std::size_t rows = 4;
    for (std::size_t sample = 0; sample < samples; sample += bytes / sizeof(Real)) {
        for (std::size_t row = 0; row < count; row += rows) {
            const std::size_t valid = std::min(rows, count - row);
            Register sums[rows] = {};
            for (std::size_t i = 0; i < valid; ++i) {
                __builtin_memcpy(&sums[i], out + (row + i) * samples + sample, bytes);
            }
            // Padded with zeros, so entries of four rows exist where the matrix is padded.
            for (std::size_t column = 0; column < count; ++column) {
                const Real* const entries = matrix + column * stride + row;
                Register factors;
                __builtin_memcpy(&factors, in + column * samples + sample, bytes);
                for (std::size_t i = 0; i < rows; ++i) sums[i] += entries[i] * factors;
            }
            for (std::size_t i = 0; i < valid; ++i) {
                __builtin_memcpy(out + (row + i) * samples + sample, &sums[i], bytes);
            }
        }
    }
}

/// out += matrix in, for a multiple of sample_lanes samples.
template <InstructionSet set, class Real>
RANVIER_ALWAYS_INLINE void multiply_many(const Real* matrix, std::size_t stride, std::size_t count, std::size_t samples,
                                         const Real* in, Real* out) {
    constexpr std::size_t least = sample_lanes * sizeof(Real);
    if (vector_bytes<set> > least && samples * sizeof(Real) % vector_bytes<set> == 0) {
        multiply_registers<vector_bytes<set>>(matrix, stride, count, samples, in, out);
    } else {
        multiply_registers<std::min(vector_bytes<set>, least)>(matrix, stride, count, samples, in, out);
    }
}

template <class Real>
struct Multiply {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const Real* matrix, std::size_t stride, std::size_t count,
                                          std::size_t samples, const Real* in, Real* out) {
        if (samples == 1) {
            multiply_one(matrix, stride, count, in, out);
        } else {
            multiply_many<set>(matrix, stride, count, samples, in, out);
        }
    }
};

/// The octant of an offset: bits for negative x, y, z.
template <class Neighbor>
std::size_t sign_of(const Neighbor& neighbor) {
    return (neighbor.x < 0 ? 1U : 0U) | (neighbor.y < 0 ? 2U : 0U) | (neighbor.z < 0 ? 4U : 0U);
}

constexpr std::size_t place_of(std::size_t x, std::size_t y, std::size_t z) { return x + 4 * y + 16 * z; }

// ---- rotations ---------------------------------------------------------------------------------------------------------

/// Matrices of a translation by a rotation to the z-axis, in one array: for each degree the rotation by columns, then its
/// transpose by columns; then for each m from 0, (order - m + 1)^2 entries of the translation along z, by columns.
struct RotatedParts {
    std::size_t transposed = 0;
    std::size_t along = 0;
    std::size_t size = 0;

    explicit RotatedParts(std::uint32_t order) {
        transposed = rotation_block(order + 1);
        along = 2 * transposed;
        size = along;
        for (std::uint32_t m = 0; m <= order; ++m) size += std::size_t{order - m + 1} * (order - m + 1);
    }
};

template <class Real>
RANVIER_ALWAYS_INLINE void rotate(const Real* blocks, std::uint32_t order, std::size_t samples,
                                  const Real* __restrict in, Real* __restrict out) {
    for (std::uint32_t l = 0; l <= order; ++l) {
        const std::size_t size = 2 * std::size_t{l} + 1;
        const Real* const block = blocks + rotation_block(l);
        const Real* const from = in + std::size_t{l} * l * samples;
        Real* const to = out + std::size_t{l} * l * samples;
        for (std::size_t i = 0; i < size * samples; ++i) to[i] = Real{0};
        for (std::size_t column = 0; column < size; ++column) {
            const Real* const entries = block + column * size;
            if (samples == 1) {
                const Real factor = from[column];
                RANVIER_NO_OVERLAP
                for (std::size_t row = 0; row < size; ++row) to[row] += entries[row] * factor;
            } else {
                const Real* const factors = from + column * samples;
                for (std::size_t row = 0; row < size; ++row) {
                    RANVIER_NO_OVERLAP
                    for (std::size_t t = 0; t < samples; ++t) to[row * samples + t] += entries[row] * factors[t];
                }
            }
        }
    }
}

template <class Real>
RANVIER_ALWAYS_INLINE void move_along_z(const Real* entries, std::uint32_t order, std::size_t samples,
                                        const Real* __restrict in, Real* __restrict out) {
    for (std::size_t i = 0; i < harmonic_count(order) * samples; ++i) out[i] = Real{0};
    for (std::int32_t m = 0; m <= static_cast<std::int32_t>(order); ++m) {
        const auto first = static_cast<std::uint32_t>(m);
        for (int side = m == 0 ? 1 : 0; side < 2; ++side) {
            const std::int32_t number = side == 0 ? -m : m;
            const Real* entry = entries;
            for (std::uint32_t j = first; j <= order; ++j) {
                const Real* const factors = in + harmonic_index(j, number) * samples;
                for (std::uint32_t l = first; l <= order; ++l) {
                    Real* const to = out + harmonic_index(l, number) * samples;
                    const Real factor = *entry++;
                    RANVIER_NO_OVERLAP
                    for (std::size_t t = 0; t < samples; ++t) to[t] += factor * factors[t];
                }
            }
        }
        entries += std::size_t{order - first + 1} * (order - first + 1);
    }
}

/// Of M2L: sums of 8 octants, a group, and one more.
constexpr std::size_t scratch_expansions = 8 + group_size + 1;

template <class Real>
struct ToLocal {
    using Neighbor = typename Operators<Real>::Neighbor;

    RANVIER_ALWAYS_INLINE static std::size_t place(const Neighbor& neighbor) {
        return place_of(static_cast<std::size_t>(std::abs(neighbor.x)), static_cast<std::size_t>(std::abs(neighbor.y)),
                        static_cast<std::size_t>(std::abs(neighbor.z)));
    }

    /// @param scratch scratch_expansions expansions
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const AlignedVector<Real>* matrices, const AlignedVector<Real>* signs,
                                          Translation translation, std::uint32_t order, std::size_t stride,
                                          const Neighbor* neighbors, std::size_t neighbor_count, std::size_t samples,
                                          Real* scratch, Real* local) {
        const std::size_t count = harmonic_count(order);
        if (order == 0) {
            for (std::size_t i = 0; i < neighbor_count; ++i) {
                const Real factor = matrices[place(neighbors[i])][0];
                for (std::size_t t = 0; t < samples; ++t) local[t] += factor * neighbors[i].multipole[t];
            }
            return;
        }
        const std::size_t size = stride * samples;
        // One for each octant.
        Real* const sums = scratch;
        Real* const flipped = scratch + 8 * size;
        for (std::size_t k = 0; k < scratch_expansions * size; ++k) scratch[k] = Real{0};
        bool is_used[8] = {};
        std::size_t i = 0;
        while (i < neighbor_count) {
            const std::size_t group_place = place(neighbors[i]);
            const Real* const matrix = matrices[group_place].data();
            // A group of one matrix at once. Their octants differ, so no sum is written twice; what is left of a group
            // is 0, and added to the last expansion of scratch.
            Real* const rest = scratch + (scratch_expansions - 1) * size;
            Real* to[group_size] = {rest, rest, rest, rest};
            std::size_t vectors = 0;
            const std::size_t most = samples == 1 && translation == Translation::dense ? group_size : 1;
            for (; vectors < most && i < neighbor_count && place(neighbors[i]) == group_place; ++i, ++vectors) {
                const std::size_t octant = sign_of(neighbors[i]);
                const Real* const sign = signs[octant].data();
                const Real* const from = neighbors[i].multipole;
                Real* const into = flipped + vectors * stride;
                if (samples == 1) {
                    RANVIER_NO_OVERLAP
                    for (std::size_t k = 0; k < count; ++k) into[k] = sign[k] * from[k];
                } else {
                    for (std::size_t k = 0; k < count; ++k) {
                        RANVIER_NO_OVERLAP
                        for (std::size_t t = 0; t < samples; ++t) {
                            into[k * samples + t] = sign[k] * from[k * samples + t];
                        }
                    }
                }
                is_used[octant] = true;
                to[vectors] = sums + octant * size;
            }
            if (translation == Translation::rotation) {
                Real* const turned = flipped + size;
                Real* const moved = flipped + 2 * size;
                const RotatedParts parts(order);
                rotate(matrix, order, samples, flipped, turned);
                move_along_z(matrix + parts.along, order, samples, turned, moved);
                rotate(matrix + parts.transposed, order, samples, moved, turned);
                RANVIER_NO_OVERLAP
                for (std::size_t k = 0; k < count * samples; ++k) to[0][k] += turned[k];
            } else if (samples > 1) {
                multiply_many<set>(matrix, stride, count, samples, flipped, to[0]);
            } else if (vectors > 1) {
                for (std::size_t k = vectors * stride; k < group_size * stride; ++k) flipped[k] = Real{0};
                multiply_group<set>(matrix, stride, count, flipped, to);
            } else {
                multiply_one(matrix, stride, count, flipped, to[0]);
            }
        }
        for (std::size_t octant = 0; octant < 8; ++octant) {
            if (!is_used[octant]) continue;
            const Real* const sign = signs[octant].data();
            const Real* const sum = sums + octant * size;
            for (std::size_t k = 0; k < count; ++k) {
                RANVIER_NO_OVERLAP
                for (std::size_t t = 0; t < samples; ++t) local[k * samples + t] += sign[k] * sum[k * samples + t];
            }
        }
    }
};

// ---- sources -----------------------------------------------------------------------------------------------------------

/// The sum of some lanes, in halves.
RANVIER_ALWAYS_INLINE double sum_lanes(double* lanes) {
    for (std::size_t width = point_lanes / 2; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
    }
    return lanes[0];
}

/// Integrals of harmonics along some sources, divided by their lengths: values[k * point_lanes + lane].
RANVIER_ALWAYS_INLINE void integrate(const SourceGeometry* sources, std::size_t valid, std::uint32_t order,
                                     const double* nodes, const double* weights, std::size_t node_count, double* one,
                                     double* values) {
    const HarmonicFactors<double>& factors = HarmonicFactors<double>::get();
    const std::size_t size = harmonic_count(order) * point_lanes;
    for (std::size_t node = 0; node < node_count; ++node) {
        double x[point_lanes];
        double y[point_lanes];
        double z[point_lanes];
        for (std::size_t i = 0; i < point_lanes; ++i) {
            const SourceGeometry& source = sources[i < valid ? i : valid - 1];
            x[i] = source.begin.x + nodes[node] * (source.end.x - source.begin.x);
            y[i] = source.begin.y + nodes[node] * (source.end.y - source.begin.y);
            z[i] = source.begin.z + nodes[node] * (source.end.z - source.begin.z);
        }
        double* const target = node == 0 ? values : one;
        regular_harmonics<point_lanes>(factors, order, x, y, z, target);
        const double weight = weights[node];
        if (node == 0) {
            for (std::size_t k = 0; k < size; ++k) values[k] *= weight;
        } else {
            RANVIER_NO_OVERLAP
            for (std::size_t k = 0; k < size; ++k) values[k] += weight * one[k];
        }
    }
}

struct SourceMoments {
    RANVIER_ALWAYS_INLINE static void run(const SourceGeometry* sources, std::size_t source_count, std::uint32_t order,
                                          const double* nodes, const double* weights, std::size_t node_count,
                                          const double* strengths, std::size_t samples, const GridNumber* grids,
                                          double* multipole) {
        double one[max_harmonics * point_lanes];
        double values[max_harmonics * point_lanes];
        const std::size_t count = harmonic_count(order);
        for (std::size_t first = 0; first < source_count; first += point_lanes) {
            const std::size_t valid = std::min(point_lanes, source_count - first);
            integrate(sources + first, valid, order, nodes, weights, node_count, one, values);
            const double* const own = strengths + first * samples;
            if (samples == 1) {
                double q[point_lanes];
                for (std::size_t i = 0; i < point_lanes; ++i) q[i] = i < valid ? own[i] : 0.0;
                const GridNumber grid = grids[0];
                for (std::size_t k = 0; k < count; ++k) {
                    double parts[point_lanes];
                    for (std::size_t i = 0; i < point_lanes; ++i)
                        parts[i] = grid.round(values[k * point_lanes + i] * q[i]);
                    multipole[k] += sum_lanes(parts);
                }
            } else {
                for (std::size_t k = 0; k < count; ++k) {
                    for (std::size_t i = 0; i < valid; ++i) {
                        const double value = values[k * point_lanes + i];
                        RANVIER_NO_OVERLAP
                        for (std::size_t t = 0; t < samples; ++t) {
                            multipole[k * samples + t] += grids[t].round(value * own[i * samples + t]);
                        }
                    }
                }
            }
        }
    }
};

/// Adds points to a local expansion by their irregular harmonics, some at once.
template <class Real>
class LocalSum {
   public:
    RANVIER_ALWAYS_INLINE LocalSum(std::uint32_t order, const double* strengths, std::size_t samples, Real* local)
        : order_(order), strengths_(strengths), samples_(samples), local_(local) {}

    RANVIER_ALWAYS_INLINE void add(const Point& place, double weight, std::size_t source) {
        x_[count_] = place.x;
        y_[count_] = place.y;
        z_[count_] = place.z;
        weights_[count_] = weight;
        sources_[count_] = source;
        if (++count_ == point_lanes) finish();
    }
    RANVIER_ALWAYS_INLINE void finish() {
        if (count_ == 0) return;
        for (std::size_t i = count_; i < point_lanes; ++i) {
            x_[i] = x_[0];
            y_[i] = y_[0];
            z_[i] = z_[0];
            weights_[i] = 0.0;
            sources_[i] = sources_[0];
        }
        irregular_harmonics<point_lanes>(HarmonicFactors<double>::get(), order_, x_, y_, z_, values_);
        const std::size_t harmonics = harmonic_count(order_);
        if (samples_ == 1) {
            double q[point_lanes];
            for (std::size_t i = 0; i < point_lanes; ++i) q[i] = weights_[i] * strengths_[sources_[i]];
            for (std::size_t k = 0; k < harmonics; ++k) {
                double parts[point_lanes];
                for (std::size_t i = 0; i < point_lanes; ++i) parts[i] = values_[k * point_lanes + i] * q[i];
                local_[k] += static_cast<Real>(sum_lanes(parts));
            }
        } else {
            for (std::size_t k = 0; k < harmonics; ++k) {
                for (std::size_t t = 0; t < samples_; ++t) {
                    double parts[point_lanes];
                    for (std::size_t i = 0; i < point_lanes; ++i) {
                        parts[i] =
                            values_[k * point_lanes + i] * (weights_[i] * strengths_[sources_[i] * samples_ + t]);
                    }
                    local_[k * samples_ + t] += static_cast<Real>(sum_lanes(parts));
                }
            }
        }
        count_ = 0;
    }

   private:
    std::uint32_t order_;
    const double* strengths_;
    std::size_t samples_;
    Real* local_;
    std::size_t count_ = 0;
    double x_[point_lanes];
    double y_[point_lanes];
    double z_[point_lanes];
    double weights_[point_lanes];
    std::size_t sources_[point_lanes];
    double values_[max_harmonics * point_lanes];
};

/// Calls use(start, step) for steps along a source of half of the distance from 0, at which the quadrature converges faster
/// than the expansion.
template <class Use>
RANVIER_ALWAYS_INLINE void for_each_step(const SourceGeometry& source, const Point& along, Use&& use) {
    const double length = square_root(dot(along, along));
    double begin = 0.0;
    while (begin < 1.0) {
        const Point start = source.begin + begin * along;
        const double distance = square_root(dot(start, start));
        const double step = begin * length + 0.5 * distance < length ? 0.5 * distance / length : 1.0 - begin;
        use(start, step);
        begin = step > 0.0 && begin + step > begin ? begin + step : 1.0;
    }
}

template <class Real>
struct SourceLocals {
    RANVIER_ALWAYS_INLINE static void run(const SourceGeometry* sources, std::size_t source_count, std::uint32_t order,
                                          const double* nodes, const double* weights, std::size_t node_count,
                                          const double* strengths, std::size_t samples, Real* local) {
        LocalSum<Real> sum(order, strengths, samples, local);
        for (std::size_t number = 0; number < source_count; ++number) {
            const SourceGeometry& source = sources[number];
            const Point along = source.end - source.begin;
            for_each_step(source, along, [&](const Point& start, double step) {
                for (std::size_t node = 0; node < node_count; ++node) {
                    sum.add(start + (nodes[node] * step) * along, weights[node] * step, number);
                }
            });
        }
        sum.finish();
    }
};

// ---- targets -----------------------------------------------------------------------------------------------------------

/// Adds scale times the product of coefficients and harmonics of some targets.
template <class Real>
RANVIER_ALWAYS_INLINE void add_products(const Real* coefficients, const Real* harmonics, std::size_t count,
                                        std::size_t valid, std::size_t samples, double scale, std::size_t out_stride,
                                        double* out) {
    if (samples == 1) {
        Real sums[point_lanes] = {};
        for (std::size_t k = 0; k < count; ++k) {
            const Real coefficient = coefficients[k];
            for (std::size_t i = 0; i < point_lanes; ++i) sums[i] += coefficient * harmonics[k * point_lanes + i];
        }
        for (std::size_t i = 0; i < valid; ++i) out[i * out_stride] += scale * static_cast<double>(sums[i]);
        return;
    }
    for (std::size_t i = 0; i < valid; ++i) {
        for (std::size_t sample = 0; sample < samples; sample += sample_lanes) {
            Real sums[sample_lanes] = {};
            for (std::size_t k = 0; k < count; ++k) {
                const Real harmonic = harmonics[k * point_lanes + i];
                const Real* const row = coefficients + k * samples + sample;
                for (std::size_t t = 0; t < sample_lanes; ++t) sums[t] += row[t] * harmonic;
            }
            for (std::size_t t = 0; t < sample_lanes; ++t) {
                out[(i * samples + sample + t) * out_stride] += scale * static_cast<double>(sums[t]);
            }
        }
    }
}

/// Targets in blocks: x, y and z of a block of point_lanes follow each other.
template <bool is_regular, class Real>
struct ExpansionValues {
    RANVIER_ALWAYS_INLINE static void run(const Real* coefficients, std::uint32_t order, const Real* gradient,
                                          std::uint32_t gradient_order, Real centre_x, Real centre_y, Real centre_z,
                                          Real inverse_side, const Real* targets, std::size_t target_count,
                                          std::size_t samples, double scale, double gradient_scale, double* potentials,
                                          double* gradients) {
        constexpr std::size_t most = (max_order + 2) * (max_order + 2);
        Real harmonics[most * point_lanes];
        const HarmonicFactors<Real>& factors = HarmonicFactors<Real>::get();
        const std::uint32_t highest = std::max(order, gradient_order);
        for (std::size_t first = 0; first < target_count; first += point_lanes) {
            const std::size_t valid = std::min(point_lanes, target_count - first);
            Real x[point_lanes];
            Real y[point_lanes];
            Real z[point_lanes];
            const Real* const block = targets + first * 3;
            for (std::size_t i = 0; i < point_lanes; ++i) {
                x[i] = (block[i] - centre_x) * inverse_side;
                y[i] = (block[point_lanes + i] - centre_y) * inverse_side;
                z[i] = (block[2 * point_lanes + i] - centre_z) * inverse_side;
            }
            if constexpr (is_regular) {
                regular_harmonics<point_lanes>(factors, highest, x, y, z, harmonics);
            } else {
                irregular_harmonics<point_lanes>(factors, highest, x, y, z, harmonics);
            }
            add_products(coefficients, harmonics, harmonic_count(order), valid, samples, scale, 1,
                         potentials + first * samples);
            if (gradients == nullptr || gradient == nullptr) continue;
            const std::size_t count = harmonic_count(gradient_order);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                add_products(gradient + axis * count * samples, harmonics, count, valid, samples, gradient_scale, 3,
                             gradients + first * samples * 3 + axis);
            }
        }
    }
};

/// Sums of kept potentials: those of some sources at a time in the precision of the potentials.
template <class Real>
struct KeptValues {
    template <InstructionSet set>
    RANVIER_ALWAYS_INLINE static void run(const Real* kept, const Real* strengths, std::size_t sources,
                                          std::size_t count, std::size_t stride, double* potentials) {
        constexpr std::size_t bytes = std::min(vector_bytes<set>, kept_lanes * sizeof(Real));
        using Register [[gnu::vector_size(bytes)]] = Real;
        constexpr std::size_t lanes = bytes / sizeof(Real);
        constexpr std::size_t registers = kept_lanes / lanes;
        constexpr std::size_t at_once = 64;
        // Sums that do not wait for each other.
        constexpr std::size_t chains = 4;
        for (std::size_t begin = 0; begin < count; begin += kept_lanes) {
            double all[kept_lanes] = {};
            std::size_t first = 0;
            for (; first + at_once <= sources; first += at_once) {
                Register sums[chains][registers] = {};
                for (std::size_t source = first; source < first + at_once; source += chains) {
                    for (std::size_t chain = 0; chain < chains; ++chain, kept += kept_lanes) {
                        add<Register>(kept, strengths[source + chain], sums[chain]);
                    }
                }
                for (std::size_t i = 0; i < kept_lanes; ++i) {
                    const std::size_t r = i / lanes;
                    all[i] += static_cast<double>((sums[0][r] + sums[1][r])[i % lanes]) +
                              static_cast<double>((sums[2][r] + sums[3][r])[i % lanes]);
                }
            }
            Register rest[registers] = {};
            for (; first < sources; ++first, kept += kept_lanes) add<Register>(kept, strengths[first], rest);
            for (std::size_t i = 0; i < kept_lanes; ++i) all[i] += static_cast<double>(rest[i / lanes][i % lanes]);
            for (std::size_t i = 0; i < kept_lanes && begin + i < count; ++i) {
                potentials[(begin + i) * stride] = all[i];
            }
        }
    }

   private:
    template <class Register, std::size_t registers>
    RANVIER_ALWAYS_INLINE static void add(const Real* kept, Real strength, Register (&sums)[registers]) {
        for (std::size_t r = 0; r < registers; ++r) {
            Register values;
            __builtin_memcpy(&values, kept + r * (sizeof(Register) / sizeof(Real)), sizeof(Register));
            sums[r] += strength * values;
        }
    }
};

/// Moments of sources on a grid from those of unit strengths.
template <class Real>
struct KeptMoments {
    RANVIER_ALWAYS_INLINE static void run(const Real* kept, const double* strengths, std::size_t sources,
                                          std::size_t stride, double shift, double* multipole) {
        for (std::size_t source = 0; source < sources; ++source, kept += stride) {
            const double strength = strengths[source];
            RANVIER_NO_OVERLAP
            for (std::size_t k = 0; k < stride; ++k) {
                multipole[k] += GridNumber{shift}.round(static_cast<double>(kept[k]) * strength);
            }
        }
    }
};

template <bool are_points, bool has_gradient, class Real>
struct NearValues {
    RANVIER_ALWAYS_INLINE static NearValue<Real> value(const NearSource<Real>& source, Real x, Real y, Real z) {
        if constexpr (are_points) {
            return point_potential<has_gradient>(source, x, y, z);
        } else {
            return line_potential<has_gradient>(source, x, y, z);
        }
    }

    RANVIER_ALWAYS_INLINE static void run(const NearSource<Real>* sources, std::size_t source_count,
                                          const Real* strengths, const Real* targets, Real shift_x, Real shift_y,
                                          Real shift_z, std::size_t target_count, std::size_t samples, double scale,
                                          double gradient_scale, double* potentials, double* gradients) {
        for (std::size_t first = 0; first < target_count; first += point_lanes) {
            const std::size_t valid = std::min(point_lanes, target_count - first);
            const Real* const block = targets + first * 3;
            double* const out = potentials + first * samples;
            double* const gradient = has_gradient ? gradients + first * samples * 3 : nullptr;
            if (samples > 1) {
                const Place<point_lanes> place(block, shift_x, shift_y, shift_z);
                add_samples(sources, source_count, strengths, place, valid, samples, scale, gradient_scale, out,
                            gradient);
            } else if (valid > 8) {
                const Place<point_lanes> place(block, shift_x, shift_y, shift_z);
                add_one(sources, source_count, strengths, place, valid, scale, gradient_scale, out, gradient);
            } else if (valid > 4) {
                const Place<8> place(block, shift_x, shift_y, shift_z);
                add_one(sources, source_count, strengths, place, valid, scale, gradient_scale, out, gradient);
            } else {
                const Place<4> place(block, shift_x, shift_y, shift_z);
                add_one(sources, source_count, strengths, place, valid, scale, gradient_scale, out, gradient);
            }
        }
    }

    /// The first `lanes` targets of a block, in the coordinates of the sources.
    template <std::size_t lanes>
    struct Place {
        RANVIER_ALWAYS_INLINE Place(const Real* block, Real shift_x, Real shift_y, Real shift_z) {
            for (std::size_t i = 0; i < lanes; ++i) {
                x[i] = block[i] + shift_x;
                y[i] = block[point_lanes + i] + shift_y;
                z[i] = block[2 * point_lanes + i] + shift_z;
            }
        }

        Real x[lanes];
        Real y[lanes];
        Real z[lanes];
    };

    /// Sources whose sums are added to potentials: the same for one sample and for several, so that a sample has the same
    /// bits with others as alone.
    static constexpr std::size_t summed_at_once = 16;

    /// One sample.
    template <std::size_t lanes>
    RANVIER_ALWAYS_INLINE static void add_one(const NearSource<Real>* sources, std::size_t source_count,
                                              const Real* strengths, const Place<lanes>& place, std::size_t valid,
                                              double scale, double gradient_scale, double* out, double* gradient) {
        for (std::size_t first = 0; first < source_count; first += summed_at_once) {
            Real sums[lanes] = {};
            Real sums_x[lanes] = {};
            Real sums_y[lanes] = {};
            Real sums_z[lanes] = {};
            const std::size_t end = std::min(first + summed_at_once, source_count);
            for (std::size_t j = first; j < end; ++j) {
                const NearSource<Real> source = sources[j];
                const Real strength = strengths[j];
                for (std::size_t i = 0; i < lanes; ++i) {
                    const NearValue<Real> unit = value(source, place.x[i], place.y[i], place.z[i]);
                    sums[i] += strength * unit.potential;
                    if constexpr (has_gradient) {
                        sums_x[i] += strength * unit.x;
                        sums_y[i] += strength * unit.y;
                        sums_z[i] += strength * unit.z;
                    }
                }
            }
            for (std::size_t i = 0; i < valid; ++i) {
                out[i] += scale * static_cast<double>(sums[i]);
                if constexpr (has_gradient) {
                    gradient[3 * i] += gradient_scale * static_cast<double>(sums_x[i]);
                    gradient[3 * i + 1] += gradient_scale * static_cast<double>(sums_y[i]);
                    gradient[3 * i + 2] += gradient_scale * static_cast<double>(sums_z[i]);
                }
            }
        }
    }

    RANVIER_ALWAYS_INLINE static void add_samples(const NearSource<Real>* sources, std::size_t source_count,
                                                  const Real* strengths, const Place<point_lanes>& place,
                                                  std::size_t valid, std::size_t samples, double scale,
                                                  double gradient_scale, double* out, double* gradient) {
        constexpr std::size_t parts = has_gradient ? 4 : 1;
        Real units[summed_at_once][parts][point_lanes];
        for (std::size_t j = 0; j < source_count; j += summed_at_once) {
            const std::size_t sources_left = std::min(summed_at_once, source_count - j);
            for (std::size_t k = 0; k < sources_left; ++k) {
                const NearSource<Real> source = sources[j + k];
                for (std::size_t i = 0; i < point_lanes; ++i) {
                    const NearValue<Real> unit = value(source, place.x[i], place.y[i], place.z[i]);
                    units[k][0][i] = unit.potential;
                    if constexpr (has_gradient) {
                        units[k][1][i] = unit.x;
                        units[k][2][i] = unit.y;
                        units[k][3][i] = unit.z;
                    }
                }
            }
            for (std::size_t i = 0; i < valid; ++i) {
                for (std::size_t part = 0; part < parts; ++part) {
                    double* const to = part == 0 ? out + i * samples : gradient + i * samples * 3 + part - 1;
                    const std::size_t step = part == 0 ? 1 : 3;
                    const double factor = part == 0 ? scale : gradient_scale;
                    for (std::size_t sample = 0; sample < samples; sample += sample_lanes) {
                        Real sums[sample_lanes] = {};
                        for (std::size_t k = 0; k < sources_left; ++k) {
                            const Real unit = units[k][part][i];
                            const Real* const row = strengths + (j + k) * samples + sample;
                            for (std::size_t t = 0; t < sample_lanes; ++t) sums[t] += row[t] * unit;
                        }
                        for (std::size_t t = 0; t < sample_lanes; ++t) {
                            to[(sample + t) * step] += factor * static_cast<double>(sums[t]);
                        }
                    }
                }
            }
        }
    }
};

template <class Real>
AlignedVector<Real> converted(const std::vector<double>& values) {
    AlignedVector<Real> result(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) result[i] = static_cast<Real>(values[i]);
    return result;
}

/// The scale of a shift to a box of twice the size: column l of the child becomes row l of the parent, whose unit is twice
/// as long.
std::vector<double> to_parent(std::uint32_t order, std::uint32_t child, std::size_t stride) {
    const auto side = [&](std::uint32_t bit) { return (child >> bit & 1U) != 0 ? 0.25 : -0.25; };
    // In units of the parent: S((y / 2) + t), with y in units of the child.
    std::vector<double> matrix = shift_matrix(order, {side(0), side(1), side(2)}, stride);
    for (std::uint32_t l = 0; l <= order; ++l) {
        for (std::size_t column = std::size_t{l} * l; column < harmonic_count(l); ++column) {
            for (std::size_t row = 0; row < stride; ++row) {
                matrix[column * stride + row] = std::ldexp(matrix[column * stride + row], -static_cast<int>(l));
            }
        }
    }
    return matrix;
}

std::vector<double> rotated_parts(std::uint32_t order, double x, double y, double z) {
    const double distance = std::sqrt(x * x + y * y + z * z);
    const double across = std::sqrt(x * x + y * y);
    const double cos_azimuth = across > 0.0 ? x / across : 1.0;
    const double sin_azimuth = across > 0.0 ? y / across : 0.0;
    const double cos_polar = z / distance;
    const double sin_polar = across / distance;
    // Rows are the new axes: z along the offset.
    const std::array<std::array<double, 3>, 3> rotation{
        {{cos_polar * cos_azimuth, cos_polar * sin_azimuth, -sin_polar},
         {-sin_azimuth, cos_azimuth, 0.0},
         {sin_polar * cos_azimuth, sin_polar * sin_azimuth, cos_polar}}};
    const std::vector<double> blocks = harmonic_rotation(order, rotation);
    const RotatedParts parts(order);
    std::vector<double> all(parts.size);
    for (std::uint32_t l = 0; l <= order; ++l) {
        const std::size_t size = 2 * std::size_t{l} + 1;
        for (std::size_t row = 0; row < size; ++row) {
            for (std::size_t column = 0; column < size; ++column) {
                const double entry = blocks[rotation_block(l) + row * size + column];
                all[rotation_block(l) + column * size + row] = entry;
                all[parts.transposed + rotation_block(l) + row * size + column] = entry;
            }
        }
    }
    const std::size_t count = harmonic_count(order);
    const std::vector<double> along = multipole_to_local_matrix(order, {0.0, 0.0, distance}, count);
    std::size_t next = parts.along;
    for (std::uint32_t m = 0; m <= order; ++m) {
        for (std::uint32_t j = m; j <= order; ++j) {
            for (std::uint32_t l = m; l <= order; ++l) {
                all[next++] = along[harmonic_index(j, static_cast<std::int32_t>(m)) * count +
                                    harmonic_index(l, static_cast<std::int32_t>(m))];
            }
        }
    }
    return all;
}

}  // namespace

std::size_t local_steps(const SourceGeometry& source) {
    std::size_t steps = 0;
    for_each_step(source, source.end - source.begin, [&](const Point&, double) { ++steps; });
    return steps;
}

GridNumber grid_for(double size, std::uint64_t count) {
    if (!(size > 0.0) || count == 0) return {0x1.8p52};
    int exponent = 0;
    std::frexp(size * static_cast<double>(count), &exponent);
    return {std::ldexp(0x1.8p52, std::max(exponent - 51, -1020))};
}

template <class Real>
Operators<Real>::Operators(std::uint32_t order, Translation translation, InstructionSet instruction_set)
    : order_(order),
      translation_(translation),
      instruction_set_(instruction_set),
      stride_(padded_count<Real>(order)),
      quadrature_(gauss_legendre((order + 2) / 2)),
      local_gradient_(local_gradient(order)),
      multipole_gradient_(multipole_gradient(order)) {
    const std::size_t count = harmonic_count(order);
    for (std::uint32_t child = 0; child < 8; ++child) {
        const std::vector<double> up = to_parent(order, child, stride_);
        to_parent_[child] = converted<Real>(up);
        // S((x / 2) + t) = W S(x) with the expansion of the parent per its own unit of length, half of that of the child.
        std::vector<double> down(count * stride_, 0.0);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j < count; ++j) down[j * stride_ + i] = 0.5 * up[i * stride_ + j];
        }
        to_child_[child] = converted<Real>(down);
        signs_[child] = converted<Real>(mirror_signs(order, (child & 1U) != 0, (child & 2U) != 0, (child & 4U) != 0));
    }
    for (std::size_t x = 0; x < 4; ++x) {
        for (std::size_t y = 0; y < 4; ++y) {
            for (std::size_t z = 0; z < 4; ++z) {
                if (x < 2 && y < 2 && z < 2) continue;
                const Point offset{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
                factors_[place_of(x, y, z)] = static_cast<Real>(1.0 / std::sqrt(dot(offset, offset)));
                to_local_[place_of(x, y, z)] =
                    converted<Real>(translation == Translation::dense || order == 0
                                        ? multipole_to_local_matrix(order, offset, stride_)
                                        : rotated_parts(order, offset.x, offset.y, offset.z));
            }
        }
    }
}

template <class Real>
std::size_t Operators<Real>::bytes() const {
    std::size_t numbers = 0;
    for (const auto& matrix : to_parent_) numbers += matrix.size();
    for (const auto& matrix : to_child_) numbers += matrix.size();
    for (const auto& matrix : to_local_) numbers += matrix.size();
    return numbers * sizeof(Real);
}

template <class Real>
void Operators<Real>::sources_to_multipole(std::span<const SourceGeometry> sources, bool are_points,
                                           const double* strengths, std::size_t samples, const GridNumber* grids,
                                           double* multipole) const {
    constexpr double one = 1.0;
    constexpr double none = 0.0;
    Dispatched<SourceMoments>::call(
        instruction_set_, sources.data(), sources.size(), order_, are_points ? &none : quadrature_.nodes.data(),
        are_points ? &one : quadrature_.weights.data(), are_points ? std::size_t{1} : quadrature_.nodes.size(),
        strengths, samples, grids, multipole);
}

template <class Real>
void Operators<Real>::multipole_to_multipole(std::uint32_t child, const Real* from, std::size_t samples,
                                             Real* to) const {
    Dispatched<Multiply<Real>>::call(instruction_set_, to_parent_[child].data(), stride_, count(), samples, from, to);
}

template <class Real>
void Operators<Real>::local_to_local(std::uint32_t child, const Real* from, std::size_t samples, Real* to) const {
    Dispatched<Multiply<Real>>::call(instruction_set_, to_child_[child].data(), stride_, count(), samples, from, to);
}

template <class Real>
void Operators<Real>::multipole_to_local(std::span<const Neighbor> neighbors, std::size_t samples, Real* local) const {
    thread_local AlignedVector<Real> scratch;
    scratch.resize(scratch_expansions * stride_ * samples);
    Dispatched<ToLocal<Real>>::call(instruction_set_, to_local_.data(), signs_.data(), translation_, order_, stride_,
                                    neighbors.data(), neighbors.size(), samples, scratch.data(), local);
}

template <class Real>
void Operators<Real>::sources_to_local(std::span<const SourceGeometry> sources, bool are_points,
                                       const double* strengths, std::size_t samples, Real* local) const {
    constexpr double one = 1.0;
    constexpr double none = 0.0;
    Dispatched<SourceLocals<Real>>::call(
        instruction_set_, sources.data(), sources.size(), order_, are_points ? &none : quadrature_.nodes.data(),
        are_points ? &one : quadrature_.weights.data(), are_points ? std::size_t{1} : quadrature_.nodes.size(),
        strengths, samples, local);
}

namespace {

/// The coefficients of the three components of a gradient.
template <class Real>
void differentiate(const std::array<std::vector<GradientTerm>, 3>& terms, std::size_t count, std::size_t samples,
                   const Real* coefficients, AlignedVector<Real>& gradient) {
    gradient.assign(3 * count * samples, Real{0});
    for (std::size_t axis = 0; axis < 3; ++axis) {
        Real* const part = gradient.data() + axis * count * samples;
        for (const GradientTerm& term : terms[axis]) {
            for (std::size_t t = 0; t < samples; ++t) {
                part[term.to * samples + t] += static_cast<Real>(term.factor) * coefficients[term.from * samples + t];
            }
        }
    }
}

}  // namespace

template <class Real>
void Operators<Real>::local_to_targets(const Real* local, const Real* targets, std::size_t count, std::size_t samples,
                                       double scale, double* potentials, double* gradients) const {
    thread_local AlignedVector<Real> gradient;
    const bool has_gradient = gradients != nullptr && order_ > 0;
    if (has_gradient) differentiate(local_gradient_, harmonic_count(order_ - 1), samples, local, gradient);
    Dispatched<ExpansionValues<true, Real>>::call(instruction_set_, local, order_,
                                                  has_gradient ? static_cast<const Real*>(gradient.data()) : nullptr,
                                                  has_gradient ? order_ - 1 : 0, Real{0}, Real{0}, Real{0}, Real{1},
                                                  targets, count, samples, scale, scale * scale, potentials, gradients);
}

template <class Real>
void Operators<Real>::multipole_to_targets(const Real* multipole, const Point& centre, double side, const Real* targets,
                                           std::size_t count, std::size_t samples, double scale, double* potentials,
                                           double* gradients) const {
    thread_local AlignedVector<Real> gradient;
    const bool has_gradient = gradients != nullptr;
    if (has_gradient) differentiate(multipole_gradient_, harmonic_count(order_ + 1), samples, multipole, gradient);
    const double own_scale = scale / side;
    Dispatched<ExpansionValues<false, Real>>::call(
        instruction_set_, multipole, order_, has_gradient ? static_cast<const Real*>(gradient.data()) : nullptr,
        has_gradient ? order_ + 1 : 0, static_cast<Real>(centre.x), static_cast<Real>(centre.y),
        static_cast<Real>(centre.z), static_cast<Real>(1.0 / side), targets, count, samples, own_scale,
        own_scale * own_scale, potentials, gradients);
}

template <class Real>
void Operators<Real>::sources_to_targets(std::span<const NearSource<Real>> sources, const Real* strengths,
                                         bool are_points, const Real* targets, const Point& shift, std::size_t count,
                                         std::size_t samples, double scale, double* potentials,
                                         double* gradients) const {
    const auto call = [&]<bool points, bool gradient>() {
        Dispatched<NearValues<points, gradient, Real>>::call(
            instruction_set_, sources.data(), sources.size(), strengths, targets, static_cast<Real>(shift.x),
            static_cast<Real>(shift.y), static_cast<Real>(shift.z), count, samples, scale, scale * scale, potentials,
            gradients);
    };
    if (are_points) {
        gradients != nullptr ? call.template operator()<true, true>() : call.template operator()<true, false>();
    } else {
        gradients != nullptr ? call.template operator()<false, true>() : call.template operator()<false, false>();
    }
}

template <class Real>
void Operators<Real>::kept_to_targets(const Real* kept, std::span<const Real> strengths, std::size_t count,
                                      std::size_t stride, double* potentials) const {
    Dispatched<KeptValues<Real>>::call(instruction_set_, kept, strengths.data(), strengths.size(), count, stride,
                                       potentials);
}

template <class Real>
void Operators<Real>::keep_moments(std::span<const SourceGeometry> sources, bool are_points, Real* kept) const {
    // Without rounding.
    constexpr GridNumber finest{0.0};
    constexpr double unit = 1.0;
    std::vector<double> moments(count());
    for (const SourceGeometry& source : sources) {
        std::ranges::fill(moments, 0.0);
        sources_to_multipole({&source, 1}, are_points, &unit, 1, &finest, moments.data());
        for (std::size_t k = 0; k < count(); ++k) kept[k] = static_cast<Real>(moments[k]);
        kept += stride_;
    }
}

template <class Real>
void Operators<Real>::kept_to_multipole(const Real* kept, std::span<const double> strengths, const GridNumber& grid,
                                        double* multipole) const {
    Dispatched<KeptMoments<Real>>::call(instruction_set_, kept, strengths.data(), strengths.size(), stride_, grid.shift,
                                        multipole);
}

template class Operators<float>;
template class Operators<double>;

}  // namespace ranvier::fmm
