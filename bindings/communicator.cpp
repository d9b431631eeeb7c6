#include "ranvier/comm/communicator.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/counted.hpp"
#include "bindings.hpp"
#include "comm/mirror_communicator.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/comm/mpi_plugin.hpp"

namespace ranvier::bindings {

namespace {

std::span<const std::byte> view(const nb::bytes& data) {
    return std::as_bytes(std::span(static_cast<const char*>(data.data()), data.size()));
}

nb::bytes to_bytes(std::span<const std::byte> data) { return nb::bytes(data.data(), data.size()); }

/// Whether all processes pass the same bytes, if these are few. Compares the least and greatest values, without
/// gathering the bytes of each process.
bool are_alike(comm::Communicator& communicator, std::span<const std::byte> mine) {
    constexpr std::size_t most_words = 8;
    constexpr std::size_t most_bytes = most_words * sizeof(std::uint64_t);
    // The size and the bytes, then their complements, whose maximum is at the minimum of these.
    constexpr std::size_t half = 1 + most_words;
    std::array<std::uint64_t, 2 * half> words{mine.size()};
    const bool is_short = mine.size() <= most_bytes;
    if (is_short && !mine.empty()) std::memcpy(words.data() + 1, mine.data(), mine.size());
    for (std::size_t i = 0; i < half; ++i) words[half + i] = ~words[i];
    communicator.reduce(words, comm::Reduction::greatest);
    bool alike = is_short;
    for (std::size_t i = 0; i < half; ++i) alike = alike && words[i] == ~words[half + i];
    return alike;
}

/// The bytes of all processes, by rank; they may differ in length.
nb::list gather_all(comm::Communicator& communicator, const nb::bytes& data) {
    const std::span<const std::byte> mine = view(data);
    const auto processes = static_cast<std::size_t>(communicator.size());
    std::vector<std::size_t> counts(processes);
    std::vector<std::byte> all;
    {
        const Unlocked released;
        const std::size_t count = mine.size();
        communicator.allgather(std::as_bytes(std::span(&count, 1)), std::as_writable_bytes(std::span(counts)));
        std::size_t total = 0;
        for (const std::size_t each : counts) total += each;
        all.resize(total);
        communicator.allgatherv(mine, all, counts);
    }
    nb::list result;
    std::size_t begin = 0;
    for (const std::size_t count : counts) {
        result.append(to_bytes(std::span(all).subspan(begin, count)));
        begin += count;
    }
    return result;
}

bool all_pass(comm::Communicator& communicator, const nb::bytes& data) {
    const std::span<const std::byte> mine = view(data);
    const Unlocked released;
    return are_alike(communicator, mine);
}

nb::list allgather(comm::Communicator& communicator, const nb::bytes& data) {
    if (!all_pass(communicator, data)) return gather_all(communicator, data);
    nb::list one;
    one.append(data);
    return nb::steal<nb::list>(PySequence_Repeat(one.ptr(), communicator.size()));
}

std::optional<nb::list> compare(comm::Communicator& communicator, const nb::bytes& data) {
    if (all_pass(communicator, data)) return std::nullopt;
    return gather_all(communicator, data);
}

/// Sends some bytes to each process, and returns what each has sent here.
nb::list alltoall(comm::Communicator& communicator, const nb::list& data) {
    const auto processes = static_cast<std::size_t>(communicator.size());
    if (data.size() != processes) {
        throw ShapeError({.object = "data for all processes",
                          .value = counted(data.size(), "piece"),
                          .bound = there_are(processes, "process"),
                          .remedy = "pass bytes for each rank"});
    }
    std::vector<std::byte> sent;
    std::vector<std::size_t> counts;
    for (const nb::handle each : data) {
        const auto bytes = view(nb::cast<nb::bytes>(each));
        sent.insert(sent.end(), bytes.begin(), bytes.end());
        counts.push_back(bytes.size());
    }
    std::vector<std::size_t> arriving(processes);
    std::vector<std::byte> received;
    {
        const Unlocked released;
        communicator.alltoall(std::as_bytes(std::span(counts)), std::as_writable_bytes(std::span(arriving)));
        received.resize(std::accumulate(arriving.begin(), arriving.end(), std::size_t{0}));
        communicator.alltoallv(sent, counts, received, arriving);
    }
    nb::list result;
    std::size_t begin = 0;
    for (const std::size_t count : arriving) {
        result.append(to_bytes(std::span(received).subspan(begin, count)));
        begin += count;
    }
    return result;
}

nb::bytes broadcast(comm::Communicator& communicator, const std::optional<nb::bytes>& data, std::int32_t root) {
    if (root < 0 || root >= communicator.size()) {
        throw ValueOutOfBoundsError({.object = "root of a broadcast",
                                     .value = std::to_string(root),
                                     .bound = "ranks are 0 to " + std::to_string(communicator.size() - 1),
                                     .remedy = {}});
    }
    const bool sends = communicator.rank().value == root;
    if (sends != data.has_value()) {
        throw StateError({.object = "data of a broadcast",
                          .value = sends ? "None" : "bytes",
                          .bound = sends ? "this is the rank that sends" : "this is not the rank that sends",
                          .remedy = "pass bytes on the root, and None elsewhere"});
    }
    std::vector<std::byte> bytes;
    if (sends) bytes.assign(view(*data).begin(), view(*data).end());
    {
        const Unlocked released;
        std::uint64_t size = bytes.size();
        communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), Rank{root});
        bytes.resize(static_cast<std::size_t>(size));
        communicator.broadcast(bytes, Rank{root});
    }
    return to_bytes(bytes);
}

}  // namespace

void bind_communicator(nb::module_& module) {
    using comm::Communicator;
    nb::class_<Communicator>(module, "Communicator", "A group of processes that run one simulation together.")
        .def_static("local", comm::make_local_communicator, "This process alone.")
        .def_static("mirror", comm::make_mirror_communicator, nb::arg("size"),
                    "This process as rank 0 of a dry run: all other ranks are assumed to do the same.")
        .def_prop_ro("is_dry_run", &Communicator::is_dry_run, "Whether the other processes are only simulated.")
        .def_prop_ro(
            "rank", [](const Communicator& c) { return c.rank().value; }, "Rank of this process, from 0.")
        .def_prop_ro("size", &Communicator::size, "Number of processes.")
        .def_prop_ro("transport", &Communicator::transport, "Transport of the data: local, or an MPI library.")
        .def_prop_ro("host_rank", &Communicator::host_rank, "Rank among the processes on the same host.")
        .def_prop_ro("host_size", &Communicator::host_size, "Number of processes on the same host.")
        .def("barrier", &Communicator::barrier, nb::call_guard<Unlocked>(), "Return when all processes have called it.")
        .def("allgather", allgather, nb::arg("data"), nb::sig("def allgather(self, data: bytes) -> list[bytes]"),
             "Return the bytes of all processes, by rank. All must call it, or compare; lengths may differ.")
        .def("alltoall", alltoall, nb::arg("data"), nb::sig("def alltoall(self, data: list[bytes]) -> list[bytes]"),
             "Send bytes to each process, by rank, and return those that each has sent here. All must call it; lengths "
             "may differ.")
        .def("compare", compare, nb::arg("data"), nb::sig("def compare(self, data: bytes) -> list[bytes] | None"),
             "Return None where all processes pass the same, up to 64 bytes, and else what allgather does. All must "
             "call it, or allgather. Nothing that it does for None takes longer with more processes.")
        .def("least", &Communicator::least, nb::arg("value"), nb::call_guard<Unlocked>(),
             "Return the least of the values >= 0 of all processes, which must all call it.")
        .def("greatest", &Communicator::greatest, nb::arg("value"), nb::call_guard<Unlocked>(),
             "Return the greatest of the values >= 0 of all processes, which must all call it.")
        .def("broadcast", broadcast, nb::arg("data").none(), nb::arg("root") = 0,
             "Return the root's bytes on all processes, which must all call it: with the bytes on the root, with None "
             "elsewhere.")
        .def("abort", &Communicator::abort, nb::arg("status") = 1,
             "End all processes of the run at once. Does not return.");
    module.def(
        "open_mpi_communicator",
        [](const std::string& plugin, int fortran_communicator) {
            return comm::open_mpi_communicator(plugin, {.fortran_communicator = fortran_communicator});
        },
        nb::arg("plugin"), nb::arg("fortran_communicator") = -1, nb::call_guard<Unlocked>(),
        "Load an MPI plugin and open a communicator: the world, or that of a Fortran handle. Its MPI library must have "
        "been loaded, for all to see.");
}

}  // namespace ranvier::bindings
