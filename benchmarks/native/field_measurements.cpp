#include "field_measurements.hpp"

#include <chrono>
#include <random>

#include "ranvier/base/errors.hpp"

namespace ranvier::benchmarks {

namespace {

/// A number in [0, 1) with 53 random bits: the same on all machines.
double draw_uniform(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1p-53; }

double seconds_after(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

FieldRun measure_fields(std::span<const fmm::LinePiece> pieces, std::span<const fmm::Point> targets,
                        std::span<const double> strengths, std::size_t samples, const fmm::SolverOptions& options,
                        parallel::Team& team, std::uint32_t repetitions, const ParallelMeasurement::Poll& poll) {
    FieldRun run;
    auto begin = std::chrono::steady_clock::now();
    fmm::Solver solver(pieces, targets, options, team);
    run.setup_seconds = seconds_after(begin);
    run.counts = solver.counts();
    run.potentials.resize(targets.size() * samples);
    std::vector<double> gradients(options.has_gradient ? 3 * run.potentials.size() : 0);
    solver.evaluate(strengths, samples, run.potentials, gradients);
    std::vector<double> again(run.potentials.size());
    for (std::uint32_t repetition = 0; repetition < repetitions; ++repetition) {
        if (poll) poll();
        begin = std::chrono::steady_clock::now();
        solver.evaluate(strengths, samples, again, gradients);
        run.seconds.push_back(seconds_after(begin));
        if (again != run.potentials) throw InternalError("evaluations of the same strengths differ");
    }
    return run;
}

UniformPoints::UniformPoints(std::uint32_t count) {
    std::mt19937_64 engine(2020);
    for (std::uint32_t i = 0; i < count; ++i) {
        fmm::Point place;
        place.x = draw_uniform(engine);
        place.y = draw_uniform(engine);
        place.z = draw_uniform(engine);
        pieces.push_back({place, place, 0.0});
        targets.push_back(place);
        strengths.push_back(draw_uniform(engine));
    }
}

}  // namespace ranvier::benchmarks
