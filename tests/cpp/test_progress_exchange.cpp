#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "comm/progress/common_progress.hpp"
#include "comm/progress/progress_exchange.hpp"
#include "comm/progress/run_agreement.hpp"
#include "ranvier/base/errors.hpp"
#include "thread_communicator.hpp"

/// Groups that advance on their own on several processes, without neurons: what they read, and how far they get.
namespace ranvier::comm {
namespace {

// ---- the agreement ---------------------------------------------------------------------------------------------------

struct Posted {
    std::int32_t from = 0;
    std::int32_t to = 0;
    ProgressEntry entry;
};

/// All processes of an agreement, or of what else goes over the tree, and what is under way between them.
template <class Own>
class OnTree {
   public:
    explicit OnTree(std::int32_t ranks) {
        for (std::int32_t rank = 0; rank < ranks; ++rank) all_.emplace_back(Rank{rank}, ranks);
    }
    Own& of(std::int32_t rank) { return all_[static_cast<std::size_t>(rank)]; }
    Own::Send send_of(std::int32_t rank) {
        return [this, rank](Rank to, const ProgressEntry& entry) { posted_.push_back({rank, to.value, entry}); };
    }
    /// One message, of any sender, but in the order of each. Returns whether there was one.
    bool deliver(std::minstd_rand& random) {
        if (posted_.empty()) return false;
        const std::size_t any = random() % posted_.size();
        const auto of_pair = [&](const Posted& p) { return p.from == posted_[any].from && p.to == posted_[any].to; };
        const auto first = std::ranges::find_if(posted_, of_pair);
        const Posted next = *first;
        posted_.erase(first);
        of(next.to).take(Rank{next.from}, next.entry, send_of(next.to));
        ++delivered_;
        return true;
    }
    std::size_t delivered() const { return delivered_; }

   private:
    std::vector<Own> all_;
    std::vector<Posted> posted_;
    std::size_t delivered_ = 0;
};

using Agreements = OnTree<RunAgreement>;

TEST(RunAgreement, IsOnTheLatestStepOfAll) {
    std::minstd_rand random(1);
    for (const std::int32_t ranks : {1, 2, 3, 4, 7, 16, 33}) {
        for (int turn = 0; turn < 20; ++turn) {
            SCOPED_TRACE(std::to_string(ranks) + " ranks, turn " + std::to_string(turn));
            Agreements agreements(ranks);
            Step latest = 0;
            // One requests a stop, and the others enter when the request arrives.
            const auto first = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(ranks));
            agreements.of(first).request_stop(agreements.send_of(first));
            std::int32_t entered = 0;
            do {
                for (std::int32_t rank = 0; rank < ranks; ++rank) {
                    RunAgreement& agreement = agreements.of(rank);
                    if (!agreement.stop_requested() || agreement.has_entered() || random() % 2 == 0) continue;
                    const Step step = 100 + static_cast<Step>(random() % 1000);
                    latest = std::max(latest, step);
                    agreement.enter(step, agreements.send_of(rank));
                    ++entered;
                }
            } while (agreements.deliver(random) || entered < ranks);
            for (std::int32_t rank = 0; rank < ranks; ++rank) {
                ASSERT_TRUE(agreements.of(rank).verdict().has_value());
                EXPECT_EQ(*agreements.of(rank).verdict(), latest);
                EXPECT_TRUE(agreements.of(rank).stops());
            }
            // A stop request, a report and a verdict for each pair of neighbours; two requests may meet.
            EXPECT_LE(agreements.delivered(), 4 * static_cast<std::size_t>(ranks - 1));
        }
    }
}

TEST(RunAgreement, NeedsNoWish) {
    std::minstd_rand random(2);
    Agreements agreements(5);
    for (std::int32_t rank = 4; rank >= 0; --rank) {
        EXPECT_FALSE(agreements.of(0).verdict());
        agreements.of(rank).enter(500, agreements.send_of(rank));
        while (agreements.deliver(random)) {
        }
    }
    for (std::int32_t rank = 0; rank < 5; ++rank) {
        EXPECT_EQ(agreements.of(rank).verdict(), 500);
        EXPECT_FALSE(agreements.of(rank).stops());
    }
    // Too late.
    agreements.of(3).request_stop(agreements.send_of(3));
    EXPECT_FALSE(agreements.deliver(random));
}

// ---- the step that all have come to ----------------------------------------------------------------------------------

/// Whatever order messages come in, nobody is told more than is so; and when all have come, nobody knows less than that but
/// for the grid.
TEST(CommonProgress, IsThatOfTheSlowest) {
    std::minstd_rand random(3);
    constexpr Step grid = CommonProgress::grid;
    for (const std::int32_t ranks : {1, 2, 3, 4, 7, 16, 33}) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks");
        OnTree<CommonProgress> tree(ranks);
        constexpr Step before = 1000;
        std::vector<Step> clocks(static_cast<std::size_t>(ranks), before);
        for (std::int32_t rank = 0; rank < ranks; ++rank) tree.of(rank).begin(before);
        const auto least = [&] { return *std::ranges::min_element(clocks); };
        for (int turn = 0; turn < 2000; ++turn) {
            const auto rank = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(ranks));
            Step& clock = clocks[static_cast<std::size_t>(rank)];
            clock += static_cast<Step>(random() % 40);
            tree.of(rank).note(clock, tree.send_of(rank));
            if (random() % 3 == 0) tree.deliver(random);
            for (std::int32_t other = 0; other < ranks; ++other) ASSERT_LE(tree.of(other).of_all(), least());
        }
        while (tree.deliver(random)) {
        }
        EXPECT_GT(least(), before + 10 * grid);
        for (std::int32_t rank = 0; rank < ranks; ++rank) EXPECT_EQ(tree.of(rank).of_all(), least() / grid * grid);
        // At most two for each edge and multiple of the grid.
        const auto multiples = static_cast<std::size_t>(*std::ranges::max_element(clocks) - before) / grid + 1;
        EXPECT_LE(tree.delivered(), 2 * multiples * static_cast<std::size_t>(ranks - 1));
    }
}

TEST(CommonProgress, IsToldByNeighborsOnly) {
    CommonProgress own(Rank{1}, 8);
    own.begin(0);
    const auto send = [](Rank, const ProgressEntry&) {};
    EXPECT_THROW(own.take(Rank{5}, {.kind = ProgressKind::branch_progress, .step = 64}, send), InternalError);
    EXPECT_THROW(own.take(Rank{3}, {.kind = ProgressKind::all_progress, .step = 64}, send), InternalError);
    EXPECT_THROW(own.take(Rank{0}, {.kind = ProgressKind::branch_progress, .step = 64}, send), InternalError);
}

// ---- the exchange ----------------------------------------------------------------------------------------------------

/// That a group reads another one.
struct Edge {
    std::int32_t from_rank = 0;
    std::uint32_t from = 0;
    std::int32_t to_rank = 0;
    std::uint32_t to = 0;
    Step delay = 1;

    auto way() const { return std::tuple(from_rank, to_rank, from); }
};

struct Scene {
    std::int32_t ranks = 1;
    std::vector<std::uint32_t> groups = {};  ///< by rank
    std::vector<Edge> edges = {};            ///< between ranks, in order
};

/// A source of a group fires in some steps.
bool fires(std::int32_t rank, std::uint32_t group, Step step) { return (step * 7 + rank * 5 + group * 3) % 11 == 0; }
NeuronId source_of(std::int32_t rank, std::uint32_t group) {
    return NeuronId{static_cast<std::uint64_t>(rank) * 1000 + group};
}

/// Each group has one source, which all that read the group need.
class SceneDestinations final : public Destinations {
   public:
    SceneDestinations(const Scene& scene, std::int32_t own) : scene_(scene), own_(own) {}
    void find(std::uint32_t shard, std::uint32_t /*local*/, Rank first, Rank last,
              std::vector<Destination>& found) const override {
        for (const Edge& edge : scene_.edges) {
            if (edge.from_rank != own_ || edge.from != shard) continue;
            if (edge.to_rank >= first.value && edge.to_rank < last.value) found.push_back({Rank{edge.to_rank}, 0});
        }
    }
    std::vector<Rank> ranks() const override { return {}; }
    std::uint32_t sources(std::uint32_t /*shard*/) const override { return 1; }
    std::uint64_t address_limit() const override { return 1; }

   private:
    const Scene& scene_;
    std::int32_t own_;
};

/// The groups of one process.
class Driver final : public ProgressReceiver {
   public:
    Driver(const Scene& scene, std::shared_ptr<Communicator> communicator, Notifications notifications)
        : own_(communicator->rank().value), groups_(scene.groups[static_cast<std::size_t>(own_)]), random_(own_ + 1) {
        ProgressRoutes routes{.groups = groups_};
        for (std::size_t i = 0; i < scene.edges.size(); ++i) {
            const Edge& edge = scene.edges[i];
            const bool shares_way =
                notifications == Notifications::packed && i > 0 && scene.edges[i - 1].way() == edge.way();
            if (edge.from_rank == own_) {
                if (!shares_way) routes.outlets.push_back({edge.from, Rank{edge.to_rank}, edge.delay});
                routes.outlets.back().delay = std::min(routes.outlets.back().delay, edge.delay);
            }
            if (edge.to_rank == own_) {
                if (!shares_way) {
                    routes.inlets.push_back(Rank{edge.from_rank});
                    inlet_sources_.emplace_back(edge.from_rank, edge.from);
                }
                readers_.push_back({routes.inlets.size() - 1, edge.to, edge.delay});
            }
        }
        clocks_.assign(groups_, 0);
        furthest_.assign(groups_, 0);
        inlet_clocks_.assign(routes.inlets.size(), 0);
        inlet_silent_.assign(routes.inlets.size(), 0);
        exchange_ = std::make_unique<ProgressExchange>(communicator, std::make_shared<SceneDestinations>(scene, own_),
                                                       routes, notifications);
    }

    ProgressExchange& exchange() { return *exchange_; }
    /// Steps that notifications have announced to be without spikes.
    Step silent_steps() const { return silent_steps_; }

    /// @param stop_at the step at which this process requests a stop, or 0
    Step run(Step before, Step last, Step stop_at = 0) {
        std::ranges::fill(clocks_, before);
        std::ranges::fill(inlet_clocks_, before);
        std::ranges::fill(inlet_silent_, before);
        std::ranges::fill(furthest_, before);
        exchange_->begin(before, *this);
        bool stopped = false;
        Step target = last;
        while (!exchange_->is_over()) {
            bool any = false;
            for (std::uint32_t group = 0; group < groups_; ++group) any = advance(group, target, stopped) || any;
            if (stop_at > 0 && !clocks_.empty() && *std::ranges::max_element(clocks_) >= stop_at) {
                exchange_->request_stop();
            }
            const RunAgreement& agreement = exchange_->agreement();
            stopped = agreement.stop_requested() && !agreement.verdict();
            exchange_->poll(*this, !any);
            if (!clocks_.empty()) exchange_->note_progress(*std::ranges::min_element(clocks_));
            if (clocks_.empty()) exchange_->note_progress(last);
            EXPECT_GE(exchange_->reached_by_all(), before);
            EXPECT_LE(exchange_->reached_by_all(), target);
            if (!agreement.has_entered() && (agreement.stop_requested() || has_all(target))) {
                exchange_->enter(!clocks_.empty()             ? *std::ranges::max_element(clocks_)
                                 : agreement.stop_requested() ? before
                                                              : target);
            }
            if (agreement.verdict()) target = *agreement.verdict();
            if (agreement.verdict() && has_all(target)) exchange_->end();
            if (!any) std::this_thread::yield();
        }
        return target;
    }

    /// All have agreed where to stop. A process that reads no other one comes there without talking, and then ends.
    void stop_and_end_in_silence(Step last) {
        exchange_->begin(0, *this);
        exchange_->request_stop();
        exchange_->enter(last);
        const auto poll = [this] {
            exchange_->poll(*this, true);
            std::this_thread::yield();
        };
        while (!exchange_->agreement().verdict()) poll();
        while (!has_all(last)) {
            for (std::uint32_t group = 0; group < groups_; ++group) advance(group, last, false);
            if (!inlet_clocks_.empty()) poll();
        }
        exchange_->end();
        while (!exchange_->is_over()) poll();
    }

    void arrive(std::uint32_t inlet, Step clock, Step silent, std::span<const StampedSpike> spikes) override {
        const auto [rank, group] = inlet_sources_[inlet];
        auto next = spikes.begin();
        for (Step step = inlet_clocks_[inlet] + 1; step <= clock; ++step) {
            if (!fires(rank, group, step)) continue;
            ASSERT_NE(next, spikes.end());
            EXPECT_EQ(next->stamp, step);
            EXPECT_EQ(next->source, source_of(rank, group));
            ++next;
        }
        EXPECT_EQ(next, spikes.end());
        EXPECT_GT(clock, inlet_clocks_[inlet]);
        EXPECT_GE(silent, clock);
        for (Step step = clock + 1; step <= silent; ++step) EXPECT_FALSE(fires(rank, group, step));
        silent_steps_ += silent - clock;
        // Nobody is too far ahead of who reads it.
        EXPECT_LE(clock - read_until(inlet), ProgressExchange::most_ahead);
        inlet_clocks_[inlet] = clock;
        inlet_silent_[inlet] = silent;
    }
    void allow(std::uint32_t group, Step furthest) override {
        EXPECT_GE(furthest, furthest_[group]);
        furthest_[group] = furthest;
    }
    Step read_until(std::uint32_t inlet) const override {
        Step least = std::numeric_limits<Step>::max();
        for (const Reader& reader : readers_) {
            if (reader.inlet == inlet) least = std::min(least, clocks_[reader.group]);
        }
        return least;
    }

   private:
    struct Reader {
        std::size_t inlet = 0;
        std::uint32_t group = 0;
        Step delay = 1;
    };

    bool has_all(Step target) const {
        const auto is_there = [target](Step clock) { return clock >= target; };
        return std::ranges::all_of(clocks_, is_there) && std::ranges::all_of(inlet_clocks_, is_there);
    }

    bool advance(std::uint32_t group, Step target, bool stopped) {
        Step limit = stopped ? clocks_[group] : std::min(target, furthest_[group]);
        for (const Reader& reader : readers_) {
            if (reader.group == group) limit = std::min(limit, inlet_silent_[reader.inlet] + reader.delay);
        }
        // As visits of a shard: any number of steps at a time, and now and then none.
        limit = std::min(limit, clocks_[group] + static_cast<Step>(random_() % 40));
        if (limit <= clocks_[group] && clocks_[group] < target) return false;
        std::vector<EmittedSpike> spikes;
        for (Step step = clocks_[group] + 1; step <= limit; ++step) {
            if (!fires(own_, group, step)) continue;
            spikes.push_back({source_of(own_, group), 0, static_cast<std::uint32_t>(step - clocks_[group] - 1)});
        }
        exchange_->emit(group, spikes, clocks_[group] + 1);
        const bool any = limit > clocks_[group];
        clocks_[group] = std::max(limit, clocks_[group]);
        // As far as it fires in no step, or less.
        Step silent = clocks_[group];
        for (Step left = static_cast<Step>(random_() % 8); left > 0 && !fires(own_, group, silent + 1); --left)
            ++silent;
        exchange_->advance(group, clocks_[group], silent, clocks_[group] == target);
        return any;
    }

    std::int32_t own_;
    std::uint32_t groups_;
    std::minstd_rand random_;
    std::unique_ptr<ProgressExchange> exchange_;
    std::vector<std::pair<std::int32_t, std::uint32_t>> inlet_sources_;
    std::vector<Reader> readers_;
    std::vector<Step> clocks_;
    std::vector<Step> furthest_;
    std::vector<Step> inlet_clocks_;
    std::vector<Step> inlet_silent_;
    Step silent_steps_ = 0;  ///< of all notifications
};

Scene random_scene(std::uint32_t seed) {
    std::minstd_rand random(seed);
    Scene scene{.ranks = 1 + static_cast<std::int32_t>(random() % 5)};
    for (std::int32_t rank = 0; rank < scene.ranks; ++rank) {
        scene.groups.push_back(static_cast<std::uint32_t>(random() % 5));
    }
    const std::uint32_t density = 1 + random() % 4;
    constexpr std::array<Step, 6> delays{1, 1, 2, 15, 300, 3000};
    for (std::int32_t from = 0; from < scene.ranks; ++from) {
        for (std::int32_t to = 0; to < scene.ranks; ++to) {
            for (std::uint32_t i = 0; from != to && i < scene.groups[static_cast<std::size_t>(from)]; ++i) {
                for (std::uint32_t j = 0; j < scene.groups[static_cast<std::size_t>(to)]; ++j) {
                    if (random() % density == 0) scene.edges.push_back({from, i, to, j, delays[random() % 6]});
                }
            }
        }
    }
    return scene;
}

void run_scene(const Scene& scene, Notifications notifications, std::uint64_t looks) {
    run_processes(
        scene.ranks,
        [&](const std::shared_ptr<Communicator>& communicator) {
            Driver driver(scene, communicator, notifications);
            EXPECT_EQ(driver.run(0, 300), 300);
            EXPECT_EQ(driver.run(300, 301), 301);
            // One requests a stop: all end at the same step, which the next run goes on from.
            const bool wishes = communicator->rank().value == scene.ranks / 2;
            const Step stop = driver.run(301, 800, wishes ? 400 : 0);
            EXPECT_EQ(communicator->greatest(static_cast<std::uint64_t>(stop)), static_cast<std::uint64_t>(stop));
            EXPECT_EQ(driver.run(stop, 800), 800);
            EXPECT_FALSE(driver.exchange().agreement().stops());
        },
        looks);
}

TEST(ProgressExchange, ComesToTheEndWhateverReadsWhat) {
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
        for (const Notifications notifications : {Notifications::packed, Notifications::single}) {
            SCOPED_TRACE(seed);
            run_scene(random_scene(seed), notifications, 1 + seed % 4 * 3);
        }
    }
}

/// A cycle without slack: each may take one step, then the other one.
TEST(ProgressExchange, TakesTurnsWhereDelaysAreOneStep) {
    const Scene scene{.ranks = 2, .groups = {1, 1}, .edges = {{0, 0, 1, 0, 1}, {1, 0, 0, 0, 1}}};
    for (const Notifications notifications : {Notifications::packed, Notifications::single}) {
        run_processes(2, [&](const std::shared_ptr<Communicator>& communicator) {
            Driver driver(scene, communicator, notifications);
            driver.run(0, 300);
            // Two steps at the most, one beside the other group and one after it, and up to seven that the other one
            // has announced to be without spikes.
            EXPECT_GE(driver.exchange().counts().notifications, 300u / 10);
            EXPECT_LE(driver.exchange().counts().notifications, 300u);
            EXPECT_GT(driver.silent_steps(), 0);
        });
    }
}

/// A group that nobody holds up does not fill the memory of a slow reader.
TEST(ProgressExchange, WaitsForReadersThatAreFarBehind) {
    const Scene scene{.ranks = 2, .groups = {1, 1}, .edges = {{0, 0, 1, 0, 10}}};
    run_processes(2, [&](const std::shared_ptr<Communicator>& communicator) {
        Driver driver(scene, communicator, Notifications::packed);
        EXPECT_EQ(driver.run(0, 20000), 20000);
    });
}

/// A worker ends the last visit while another one talks, and sees only then that all is done.
TEST(ProgressExchange, SendsWhatIsLeftBeforeItEnds) {
    const Scene scene{.ranks = 2, .groups = {1, 1}, .edges = {{0, 0, 1, 0, 10}}};
    for (const Notifications notifications : {Notifications::packed, Notifications::single}) {
        run_processes(2, [&](const std::shared_ptr<Communicator>& communicator) {
            Driver driver(scene, communicator, notifications);
            driver.stop_and_end_in_silence(20);
        });
    }
}

TEST(ProgressExchange, PacksWhatGoesToOneProcess) {
    Scene scene{.ranks = 2, .groups = {8, 8}};
    for (std::int32_t from = 0; from < 2; ++from) {
        for (std::uint32_t i = 0; i < 8; ++i) {
            for (std::uint32_t j = 0; j < 8; ++j) scene.edges.push_back({from, i, 1 - from, j, 20});
        }
    }
    std::map<Notifications, ExchangeCounts> counts;
    for (const Notifications notifications : {Notifications::packed, Notifications::single}) {
        run_processes(2, [&](const std::shared_ptr<Communicator>& communicator) {
            Driver driver(scene, communicator, notifications);
            driver.run(0, 1000);
            if (communicator->rank().value == 0) counts[notifications] = driver.exchange().counts();
            driver.exchange().reset_counts();
            EXPECT_EQ(driver.exchange().counts().messages, 0u);
        });
    }
    const ExchangeCounts& packed = counts[Notifications::packed];
    const ExchangeCounts& single = counts[Notifications::single];
    EXPECT_LT(8 * packed.messages, single.messages);
    EXPECT_LT(packed.bytes_sent, single.bytes_sent);
    EXPECT_LT(packed.messages, packed.notifications);
    EXPECT_GE(single.messages, single.notifications);
    // A spike goes to each pair.
    EXPECT_EQ(8 * packed.spikes_sent, single.spikes_sent);
}

TEST(ProgressExchange, RefusesWhatItCannotRead) {
    std::vector<std::byte> message;
    append_entry(message, {.kind = ProgressKind::clock, .spikes = 1, .step = 10},
                 std::vector<StampedSpike>{{8, NeuronId{3}}});
    std::vector<StampedSpike> room;
    int entries = 0;
    for_each_entry(message, room, [&](const ProgressEntry& entry, std::span<const StampedSpike> spikes) {
        ++entries;
        EXPECT_EQ(entry.step, 10);
        ASSERT_EQ(spikes.size(), 1u);
        EXPECT_EQ(spikes[0].stamp, 8);
        EXPECT_EQ(spikes[0].source, NeuronId{3});
    });
    EXPECT_EQ(entries, 1);
    const auto nothing = [](const ProgressEntry&, std::span<const StampedSpike>) {};
    message.pop_back();
    EXPECT_THROW(for_each_entry(message, room, nothing), InternalError);
    message.resize(5);
    EXPECT_THROW(for_each_entry(message, room, nothing), InternalError);
    // Somebody who has nothing to do with this process.
    EXPECT_THROW(run_processes(4,
                               [](const std::shared_ptr<Communicator>& communicator) {
                                   const Scene scene{.ranks = 4, .groups = {0, 0, 0, 0}};
                                   Driver driver(scene, communicator, Notifications::packed);
                                   if (communicator->rank().value == 2) communicator->send({}, Rank{3}, 64);
                                   for (Step step = 0; step < 100; ++step) {
                                       driver.run(step, step + 1);
                                       communicator->barrier();
                                   }
                               }),
                 InternalError);
}

}  // namespace
}  // namespace ranvier::comm
