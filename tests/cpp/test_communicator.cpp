// Every verb of Communicator, on as many processes as there are: alone by default; under mpiexec, when
// RANVIER_TEST_LIBRARY names the MPI library to load and RANVIER_TEST_PLUGIN the plugin, on those of the run. Then all
// processes take part in every test, and RANVIER_TEST_MOST_BYTES may make MPI calls so short that data are cut into pieces.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ranvier/comm/communicator.hpp"
#include "ranvier/comm/mpi_plugin.hpp"

namespace ranvier::comm {
namespace TEST_FILE {

using Bytes = std::vector<std::byte>;

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::shared_ptr<Communicator> open_communicator() {
    const std::string library = environment("RANVIER_TEST_LIBRARY");
    if (library.empty()) return make_local_communicator();
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(2);
    }
    MpiOptions options;
    const std::string most_bytes = environment("RANVIER_TEST_MOST_BYTES");
    if (!most_bytes.empty()) options.most_bytes_per_call = std::stoull(most_bytes);
    auto communicator = open_mpi_communicator(environment("RANVIER_TEST_PLUGIN"), options);
    const std::string threads = environment("RANVIER_TEST_THREADS");
    if (!threads.empty()) communicator->expect_threads(std::stoi(threads));
    return communicator;
}

/// What rank `from` sends to rank `to`, so that a byte in a wrong place shows.
Bytes content(std::int32_t from, std::int32_t to, std::size_t size, unsigned salt = 0) {
    Bytes bytes(size);
    std::uint32_t state = static_cast<std::uint32_t>(from * 7919 + to * 104729) + salt * 15485863U + 1;
    for (std::byte& byte : bytes) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::byte>(state >> 24U);
    }
    return bytes;
}

void append(Bytes& to, const Bytes& from) { to.insert(to.end(), from.begin(), from.end()); }

class CommunicatorTest : public testing::Test {
   protected:
    static void SetUpTestSuite() { shared() = open_communicator(); }
    static void TearDownTestSuite() { shared().reset(); }
    void TearDown() override { c.barrier(); }

    static std::shared_ptr<Communicator>& shared() {
        static std::shared_ptr<Communicator> communicator;
        return communicator;
    }

    Communicator& c = *shared();
    const std::int32_t me = c.rank().value;
    const std::int32_t size = c.size();
    const std::size_t processes = static_cast<std::size_t>(size);
};

TEST_F(CommunicatorTest, KnowsItsPlace) {
    EXPECT_EQ(environment("RANVIER_TEST_SIZE").empty() ? "1" : environment("RANVIER_TEST_SIZE"), std::to_string(size));
    EXPECT_GE(me, 0);
    EXPECT_LT(me, size);
    // All tests run on one host.
    EXPECT_EQ(c.host_rank(), me);
    EXPECT_EQ(c.host_size(), size);
    const std::string expected = environment("RANVIER_TEST_TRANSPORT");
    EXPECT_EQ(c.transport().substr(0, expected.size()), expected);
    EXPECT_EQ(c.sum(static_cast<std::uint64_t>(me)), processes * (processes - 1) / 2);
}

TEST_F(CommunicatorTest, ABarrierWaitsForAll) {
    // All processes of a host read the same clock.
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
    for (std::int32_t late = 0; late < size; ++late) {
        if (late == me) std::this_thread::sleep_for(std::chrono::milliseconds(30));
        const std::int64_t entered = now();
        c.barrier();
        const std::int64_t left = now();
        std::vector<std::int64_t> all(processes);
        c.allgather(std::as_bytes(std::span(&entered, 1)), std::as_writable_bytes(std::span(all)));
        EXPECT_GE(left, *std::max_element(all.begin(), all.end()));
    }
}

TEST_F(CommunicatorTest, Reduces) {
    std::vector<std::uint64_t> values(1001);
    const auto fill = [&] {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 1000 + static_cast<std::uint64_t>(me);
    };
    fill();
    c.reduce(values, Reduction::sum);
    for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i], i * 1000 * processes + processes * (processes - 1) / 2);
    }
    fill();
    c.reduce(values, Reduction::least);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i * 1000);
    fill();
    c.reduce(values, Reduction::greatest);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i * 1000 + processes - 1);
    // All 64 bits, unsigned.
    EXPECT_EQ(c.greatest(me == 0 ? ~std::uint64_t{0} : 1), ~std::uint64_t{0});
    c.reduce({}, Reduction::sum);
}

TEST_F(CommunicatorTest, ReducesANumberForEachProcess) {
    for (const std::uint64_t most : {std::uint64_t{1}, std::uint64_t{1} << 60}) {
        std::vector<std::uint64_t> values(processes);
        for (std::size_t r = 0; r < processes; ++r) values[r] = most + 1000 * r + static_cast<std::uint64_t>(me);
        const std::vector<std::uint64_t> before = values;
        EXPECT_EQ(c.reduce_scatter(values),
                  processes * (most + 1000 * static_cast<std::uint64_t>(me)) + processes * (processes - 1) / 2);
        EXPECT_EQ(values, before);
    }
}

TEST_F(CommunicatorTest, SumsInTheBackground) {
    std::vector<std::uint64_t> first(333, 1);
    std::vector<std::uint64_t> second(1, static_cast<std::uint64_t>(me));
    const auto a = c.start_sum(first);
    {
        const auto b = c.start_sum(second);
        while (!a->test()) std::this_thread::yield();
        // Destroying a request completes it.
    }
    EXPECT_EQ(first, std::vector<std::uint64_t>(333, processes));
    EXPECT_EQ(second[0], processes * (processes - 1) / 2);
}

class Sizes : public CommunicatorTest, public testing::WithParamInterface<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(, Sizes, testing::Values(0, 1, 64, 999, 1000, 1001, 2000, 100'003));

TEST_P(Sizes, Broadcasts) {
    for (std::int32_t root = 0; root < size; ++root) {
        const Bytes expected = content(root, 0, GetParam());
        Bytes data = me == root ? expected : Bytes(GetParam());
        c.broadcast(data, Rank{root});
        EXPECT_EQ(data, expected);
    }
}

TEST_P(Sizes, Allgathers) {
    Bytes received(GetParam() * processes);
    c.allgather(content(me, 0, GetParam()), received);
    Bytes expected;
    for (std::int32_t r = 0; r < size; ++r) append(expected, content(r, 0, GetParam()));
    EXPECT_EQ(received, expected);
    std::ranges::fill(received, std::byte{0});
    const Bytes mine = content(me, 0, GetParam());
    const auto request = c.start_allgather(mine, received);
    while (!request->test()) std::this_thread::yield();
    EXPECT_EQ(received, expected);
}

/// Unequal sections, some of them empty.
std::size_t uneven(std::int32_t from, std::int32_t to, std::size_t bytes) {
    return (from + 2 * to) % 3 == 1 ? 0 : bytes / static_cast<std::size_t>(1 + (from + to) % 4);
}

TEST_P(Sizes, GathersUnequalSections) {
    std::vector<std::size_t> counts;
    Bytes expected;
    for (std::int32_t r = 0; r < size; ++r) {
        counts.push_back(uneven(r, 0, GetParam()));
        append(expected, content(r, 0, counts.back()));
    }
    const Bytes mine = content(me, 0, counts[static_cast<std::size_t>(me)]);
    Bytes received(expected.size());
    c.allgatherv(mine, received, counts);
    EXPECT_EQ(received, expected);
    // Two at once, whose counts may change.
    std::vector<std::size_t> changing = counts;
    std::array<Bytes, 2> in_background{Bytes(expected.size()), Bytes(expected.size())};
    {
        const auto first = c.start_allgatherv(mine, in_background[0], changing);
        const auto second = c.start_allgatherv(mine, in_background[1], changing);
        std::ranges::fill(changing, std::size_t{1} << 40);
        while (!first->test()) std::this_thread::yield();
    }
    for (const Bytes& in_one : in_background) EXPECT_EQ(in_one, expected);
    for (std::int32_t root = 0; root < size; ++root) {
        received.assign(me == root ? expected.size() : 0, std::byte{0});
        c.gatherv(mine, received, me == root ? std::span<const std::size_t>(counts) : std::span<const std::size_t>(),
                  Rank{root});
        EXPECT_EQ(received, me == root ? expected : Bytes());
    }
}

TEST_P(Sizes, ExchangesEqualSections) {
    Bytes sent;
    Bytes expected;
    for (std::int32_t r = 0; r < size; ++r) {
        append(sent, content(me, r, GetParam()));
        append(expected, content(r, me, GetParam()));
    }
    Bytes received(sent.size());
    c.alltoall(sent, received);
    EXPECT_EQ(received, expected);
    received.assign(sent.size(), std::byte{0});
    c.start_alltoall(sent, received)->wait();
    EXPECT_EQ(received, expected);
    received.assign(sent.size(), std::byte{0});
    const auto request = c.start_alltoall(sent, received);
    while (!request->test()) std::this_thread::yield();
    EXPECT_EQ(received, expected);
}

TEST_P(Sizes, ExchangesUnequalSections) {
    std::vector<std::size_t> send_counts;
    std::vector<std::size_t> receive_counts;
    Bytes sent;
    Bytes expected;
    for (std::int32_t r = 0; r < size; ++r) {
        send_counts.push_back(uneven(me, r, GetParam()));
        receive_counts.push_back(uneven(r, me, GetParam()));
        append(sent, content(me, r, send_counts.back()));
        append(expected, content(r, me, receive_counts.back()));
    }
    Bytes received(expected.size());
    c.alltoallv(sent, send_counts, received, receive_counts);
    EXPECT_EQ(received, expected);
}

TEST_P(Sizes, SendsInOrderToAnybody) {
    constexpr int messages = 5;
    for (int i = 0; i < messages; ++i) {
        for (std::int32_t r = 0; r < size; ++r) {
            Bytes data = content(me, r, GetParam(), static_cast<unsigned>(i));
            c.send(data, Rank{r}, 7);
            // It was copied.
            std::ranges::fill(data, std::byte{255});
        }
    }
    std::vector<unsigned> next(processes, 0);
    Message message{};
    for (int left = messages * size; left > 0;) {
        if (!c.try_receive(7, message)) continue;
        --left;
        const auto from = static_cast<std::size_t>(message.from.value);
        EXPECT_EQ(message.data, content(message.from.value, me, GetParam(), next.at(from)));
        ++next[from];
    }
    c.complete_sends();
    EXPECT_EQ(next, std::vector<unsigned>(processes, messages));
    EXPECT_FALSE(c.try_receive(7, message));
}

TEST_P(Sizes, SendsAgainWhatWasSetUpOnce) {
    std::vector<Rank> destinations;
    for (std::int32_t r = 0; r < size; r += 1 + me % 2) destinations.push_back(Rank{r});
    const auto persistent = c.make_persistent_send(GetParam(), destinations, 1023);
    std::size_t expected = 0;
    for (std::int32_t r = 0; r < size; ++r) expected += me % (1 + r % 2) == 0 ? 1 : 0;
    Message message{};
    for (unsigned turn = 0; turn < 3; ++turn) {
        EXPECT_TRUE(persistent->done());
        ASSERT_EQ(persistent->buffer().size(), GetParam());
        std::ranges::copy(content(me, 0, GetParam(), turn), persistent->buffer().begin());
        persistent->start();
        for (std::size_t left = expected; left > 0;) {
            if (!c.try_receive(1023, message)) continue;
            --left;
            EXPECT_EQ(message.data, content(message.from.value, 0, GetParam(), turn));
        }
        persistent->wait();
        c.barrier();
    }
    EXPECT_FALSE(c.try_receive(1023, message));
}

TEST_P(Sizes, WritesIntoWindows) {
    // One for each distance of ranks.
    std::vector<std::size_t> slots;
    for (std::int32_t distance = 0; distance < size; ++distance) {
        slots.push_back(GetParam() + static_cast<std::size_t>(distance));
    }
    for (const WindowSync sync : {WindowSync::fence, WindowSync::partners, WindowSync::flush, WindowSync::counter}) {
        const auto window = c.make_window(slots, sync);
        for (std::size_t i = 0; i < slots.size(); ++i) ASSERT_EQ(window->slot(i).size(), slots[i]);
        for (unsigned turn = 0; turn < 3; ++turn) {
            // To the process so many ranks before this one, in turn, and less each time. Not to the last one, and not
            // from the first: some processes only write, some only wait.
            for (std::int32_t distance = 1; distance < size; ++distance) {
                const auto slot = static_cast<std::size_t>(distance);
                const std::size_t bytes = slots[slot] / (turn + 1);
                Bytes data = content(me, distance, bytes, turn);
                std::optional<Window::Write> write;
                if (me >= distance) write = {Rank{me - distance}, slot, data};
                std::optional<Window::Expected> expected;
                if (me + distance < size) expected = {Rank{me + distance}, slot};
                window->step(write, expected);
                std::ranges::fill(data, std::byte{0xEE});
                if (!expected) continue;
                EXPECT_TRUE(
                    std::ranges::equal(window->slot(slot).first(bytes), content(me + distance, distance, bytes, turn)));
            }
            c.barrier();
        }
    }
}

TEST_P(Sizes, ExchangesWithNeighbors) {
    // A ring without its last process, and rank 0 also with itself.
    const auto is_edge = [&](std::int32_t from, std::int32_t to) {
        return (to == from + 1 && to + 1 < size) || (from == 0 && to == 0);
    };
    std::vector<Rank> sources;
    std::vector<Rank> destinations;
    for (std::int32_t r = size - 1; r >= 0; --r) {
        if (is_edge(r, me)) sources.push_back(Rank{r});
        if (is_edge(me, r)) destinations.push_back(Rank{r});
    }
    const auto neighborhood = c.make_neighborhood(sources, destinations);
    EXPECT_TRUE(std::ranges::equal(neighborhood->sources(), sources));
    EXPECT_TRUE(std::ranges::equal(neighborhood->destinations(), destinations));
    Bytes sent;
    Bytes expected;
    std::vector<std::size_t> send_counts;
    std::vector<std::size_t> receive_counts;
    for (const Rank r : destinations) append(sent, content(me, r.value, GetParam()));
    for (const Rank r : sources) append(expected, content(r.value, me, GetParam()));
    Bytes received(expected.size());
    neighborhood->alltoall(sent, received);
    EXPECT_EQ(received, expected);

    sent.clear();
    expected.clear();
    for (const Rank r : destinations) {
        send_counts.push_back(uneven(me, r.value, GetParam()));
        append(sent, content(me, r.value, send_counts.back(), 1));
    }
    for (const Rank r : sources) {
        receive_counts.push_back(uneven(r.value, me, GetParam()));
        append(expected, content(r.value, me, receive_counts.back(), 1));
    }
    received.assign(expected.size(), std::byte{0});
    neighborhood->alltoallv(sent, send_counts, received, receive_counts);
    EXPECT_EQ(received, expected);
}

TEST_F(CommunicatorTest, ChangesHowProcessesWait) {
    const double before = c.seconds_asleep();
    for (std::int32_t turn = 0; turn < 4 * size; ++turn) {
        const bool leaves = turn % 2 == 0;
        c.yield_processors(leaves);
        if (turn / 2 % size == me) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        Bytes sent;
        Bytes expected;
        for (std::int32_t r = 0; r < size; ++r) {
            append(sent, content(me, r, 1000, static_cast<unsigned>(turn)));
            append(expected, content(r, me, 1000, static_cast<unsigned>(turn)));
        }
        Bytes received(sent.size());
        c.alltoall(sent, received);
        EXPECT_EQ(received, expected);
        EXPECT_EQ(c.sum(1), processes);
        // What is begun in one way may be waited for in the other.
        received.assign(sent.size(), std::byte{0});
        std::vector<std::uint64_t> values(3, 1);
        const auto exchange = c.start_alltoall(sent, received);
        const auto sum = c.start_sum(values);
        c.yield_processors(!leaves);
        exchange->wait();
        sum->wait();
        EXPECT_EQ(received, expected);
        EXPECT_EQ(values, std::vector<std::uint64_t>(3, processes));
        // One runs ahead of the others.
        for (std::uint64_t i = 0; i < 5; ++i) {
            std::uint64_t told = me == 0 ? i : 99;
            c.broadcast(std::as_writable_bytes(std::span(&told, 1)), Rank{0});
            EXPECT_EQ(told, i);
        }
    }
    c.yield_processors(false);
    EXPECT_EQ(c.seconds_asleep() > before, size > 1);
}

TEST_F(CommunicatorTest, KeepsTagsApart) {
    constexpr int tags = 40;
    constexpr int messages = 25;
    for (int i = 0; i < messages; ++i) {
        for (int tag = 0; tag < tags; ++tag) {
            for (std::int32_t r = 0; r < size; ++r) {
                c.send(content(me, r, static_cast<std::size_t>(tag), static_cast<unsigned>(i)), Rank{r}, tag);
            }
        }
    }
    Message message{};
    for (int tag = tags - 1; tag >= 0; --tag) {
        std::vector<unsigned> next(processes, 0);
        for (int left = messages * size; left > 0;) {
            if (!c.try_receive(tag, message)) continue;
            --left;
            const auto from = static_cast<std::size_t>(message.from.value);
            ASSERT_EQ(message.data, content(message.from.value, me, static_cast<std::size_t>(tag), next.at(from)++));
        }
    }
    c.complete_sends();
}

TEST_F(CommunicatorTest, CollectivesAndMessagesDoNotMeet) {
    for (std::int32_t r = 0; r < size; ++r) c.send(content(me, r, 50), Rank{r}, 0);
    Bytes sent;
    for (std::int32_t r = 0; r < size; ++r) append(sent, content(me, r, 5000));
    Bytes received(sent.size());
    c.alltoall(sent, received);
    Message message{};
    std::set<std::int32_t> from;
    while (from.size() < processes) {
        if (!c.try_receive(0, message)) continue;
        EXPECT_EQ(message.data, content(message.from.value, me, 50));
        from.insert(message.from.value);
    }
    c.complete_sends();
}

}  // namespace TEST_FILE
}  // namespace ranvier::comm
