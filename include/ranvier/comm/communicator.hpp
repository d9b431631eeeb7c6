#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::comm {

/// A non-blocking operation in progress. Its buffers must not be changed until it is complete. The destructor waits for
/// completion.
class Request {
   public:
    virtual ~Request() = default;
    /// Whether it is complete; makes progress if not.
    virtual bool test() = 0;
    /// Waits for completion.
    virtual void wait() = 0;
};

/// How a process finds out that another one has written into its window.
enum class WindowSync : std::uint8_t {
    fence,     ///< all processes meet
    partners,  ///< the two processes meet, as in MPI's calls post, start, complete and wait
    flush,     ///< the writer completes its write, and then sends an empty message
    counter,  ///< the writer completes its write, and then writes the number of its writes, which the other one polls
};

/// Memory of this process to which other processes can write, in slots. All processes have the same slots. A slot of a
/// process has one writer, and a process writes to a slot of one other process only.
class Window {
   public:
    struct Write {
        Rank target;  ///< another process
        std::size_t slot = 0;
        std::span<const std::byte> data;  ///< may be changed when the step is over
    };
    struct Expected {
        Rank origin;
        std::size_t slot = 0;
    };

    virtual ~Window() = default;
    /// The memory of a slot.
    virtual std::span<std::byte> slot(std::size_t index) = 0;
    /// Writes to the beginning of a slot of another process, if there is something to write, and waits for the write of
    /// a process to a slot of this one, if one is expected. The target of each write expects it, and no longer reads
    /// what was written there before.
    /// @note Collective with WindowSync::fence.
    virtual void step(const std::optional<Write>& write, const std::optional<Expected>& expected) = 0;
};

/// A fixed set of processes that this one sends to and receives from.
class Neighborhood {
   public:
    virtual ~Neighborhood() = default;
    virtual std::span<const Rank> sources() const = 0;
    virtual std::span<const Rank> destinations() const = 0;
    /// The same number of bytes to each destination and from each source, in the order of the lists. @note Collective.
    virtual void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) = 0;
    /// send_counts[i] bytes to destination i, receive_counts[i] from source i, packed one after another. @note Collective.
    virtual void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                           std::span<std::byte> receive, std::span<const std::size_t> receive_counts) = 0;
};

/// A message to a fixed set of processes that is set up once and sent repeatedly.
class PersistentSend {
   public:
    virtual ~PersistentSend() = default;
    /// The content of the next message; may be written while done().
    virtual std::span<std::byte> buffer() = 0;
    /// Sends the whole buffer to every destination. @pre done()
    virtual void start() = 0;
    /// Whether the last message has been sent, so that the buffer may be written.
    virtual bool done() = 0;
    virtual void wait() = 0;
};

/// A point-to-point message that has arrived.
struct Message {
    Rank from;
    std::vector<std::byte> data;
};

class Communicator;

/// A division of processes into groups that can share memory.
struct HostGroups {
    std::unique_ptr<Communicator> members;  ///< the group of this process
    /// On the first process of each group, its leader: the leaders, so that a group is a rank of them. Null on others.
    std::unique_ptr<Communicator> leaders;
};

/// Memory that all processes of a group can read and write.
class SharedMemory {
   public:
    virtual ~SharedMemory() = default;
    /// At least aligned to cache lines; the same bytes on all processes, perhaps at different addresses.
    virtual std::span<std::byte> bytes() = 0;
};

enum class Reduction : std::uint8_t { sum, least, greatest };

/// A group of processes. Data are bytes: all processes of a run use the same kind of machine.
///
/// Only one thread at a time may call it. All processes must call the methods marked @note Collective in the same
/// order. Sizes are in bytes and 64 bits wide; an implementation whose transport counts in 32 bits splits larger data.
///
/// @throws CommunicationError (all methods) when the transport fails
class Communicator {
   public:
    virtual ~Communicator() = default;

    virtual Rank rank() const = 0;
    virtual std::int32_t size() const = 0;
    /// The transport, for reports: "local", "Open MPI 5.0.11", ...
    virtual std::string transport() const = 0;
    /// Whether the other processes are simulated by a dry run; see mirror_communicator.hpp.
    virtual bool is_dry_run() const { return false; }
    /// The index of this process among the processes of the group on its host, and their number.
    virtual std::int32_t host_rank() const = 0;
    virtual std::int32_t host_size() const = 0;

    /// Announces the number of busy threads of this process, initially 1. On hosts with fewer processors than busy
    /// threads, waiting processes yield their processors, which costs time where it is not needed.
    /// @note Collective.
    virtual void expect_threads(std::int32_t /*threads*/) {}
    /// Makes waiting processes yield their processors also for another reason: other programs compete for them.
    /// Effective from the next operation on. Does not communicate. @note Collective: all processes pass the same value.
    virtual void yield_processors(bool /*leave*/) {}
    /// Time in seconds that this process has slept instead of polling, for the two reasons above.
    virtual double seconds_asleep() const { return 0.0; }

    /// @note Collective.
    virtual void barrier() = 0;
    /// Replaces each element by its sum (least, greatest) over all processes. @note Collective.
    virtual void reduce(std::span<std::uint64_t> values, Reduction reduction) = 0;
    /// The sum of element rank() over all processes.
    /// @param values an element for each process @note Collective.
    virtual std::uint64_t reduce_scatter(std::span<const std::uint64_t> values) = 0;
    /// Rank `root`'s bytes replace those of the others. @note Collective.
    virtual void broadcast(std::span<std::byte> data, Rank root) = 0;
    /// Gathers equally many bytes from each process; `receive` holds size() times as many, by rank. @note Collective.
    virtual void allgather(std::span<const std::byte> send, std::span<std::byte> receive) = 0;
    /// counts[r] bytes from process r, packed by rank. @note Collective.
    virtual void allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                            std::span<const std::size_t> counts) = 0;
    /// The same two in the background; `counts` may be changed at once. @note Collective.
    virtual std::unique_ptr<Request> start_allgather(std::span<const std::byte> send, std::span<std::byte> receive) = 0;
    virtual std::unique_ptr<Request> start_allgatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                                                      std::span<const std::size_t> counts) = 0;
    /// To `root` only; the others may leave `receive` and `counts` empty. @note Collective.
    virtual void gatherv(std::span<const std::byte> send, std::span<std::byte> receive,
                         std::span<const std::size_t> counts, Rank root) = 0;
    /// Section r of `send` goes to process r; sections have equal lengths. @note Collective.
    virtual void alltoall(std::span<const std::byte> send, std::span<std::byte> receive) = 0;
    /// The same in the background. @note Collective.
    virtual std::unique_ptr<Request> start_alltoall(std::span<const std::byte> send, std::span<std::byte> receive) = 0;
    /// send_counts[r] bytes to process r, receive_counts[r] from it, packed by rank. @note Collective.
    virtual void alltoallv(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                           std::span<std::byte> receive, std::span<const std::size_t> receive_counts) = 0;
    /// The sums (as by reduce) are valid when the request is complete. @note Collective.
    virtual std::unique_ptr<Request> start_sum(std::span<std::uint64_t> values) = 0;

    /// Sends in the background; the bytes are copied. Messages between two processes with the same tag arrive in order.
    /// @param tag from 0 to 1023
    virtual void send(std::span<const std::byte> data, Rank to, int tag) = 0;
    /// Receives a message with this tag from any process, if one has arrived. Lets sends make progress.
    /// A process that calls it again and again, without work between the calls, gives up its processor if others need it.
    virtual bool try_receive(int tag, Message& message) = 0;
    /// The same for a process that has other work: it never gives up its processor.
    virtual bool poll(int tag, Message& message) { return try_receive(tag, message); }
    /// Returns when all messages of send() have been sent.
    virtual void complete_sends() = 0;
    virtual std::unique_ptr<PersistentSend> make_persistent_send(std::size_t bytes, std::span<const Rank> destinations,
                                                                 int tag) = 0;

    /// Memory that is zero at first; nothing if the processes are on several hosts, or if the system does not let them
    /// share memory. Pages that nobody touches take no memory. @note Collective.
    virtual std::unique_ptr<SharedMemory> share_memory(std::size_t bytes) = 0;

    /// @note Collective, and so is destroying it.
    /// @param slots bytes of each slot, the same on all processes
    virtual std::unique_ptr<Window> make_window(std::span<const std::size_t> slots, WindowSync sync) = 0;
    /// @note Collective, and so is destroying it.
    virtual std::unique_ptr<Neighborhood> make_neighborhood(std::span<const Rank> sources,
                                                            std::span<const Rank> destinations) = 0;

    /// Divides the processes into one group for each color, in which they keep their order. The groups are collectives of
    /// their own: they must be used in the same order on all of their processes, and may outlive this communicator.
    /// In a dry run, all processes have the color of this one. @note Collective.
    virtual std::unique_ptr<Communicator> split(std::int32_t color) = 0;
    /// Divides the processes of each host into groups of `most` consecutive ones and a rest; 0: all of a host are one group.
    /// In a dry run, so many consecutive ranks are a group, and 0 is the same as 1. @note Collective.
    virtual HostGroups group_by_host(std::int32_t most) = 0;

    /// Terminates all processes of the run at once, after a failure that cannot be communicated to the others.
    [[noreturn]] virtual void abort(int status) = 0;

    // Convenience functions.

    std::uint64_t sum(std::uint64_t value) { return reduce_one(value, Reduction::sum); }
    std::uint64_t least(std::uint64_t value) { return reduce_one(value, Reduction::least); }
    std::uint64_t greatest(std::uint64_t value) { return reduce_one(value, Reduction::greatest); }

   private:
    std::uint64_t reduce_one(std::uint64_t value, Reduction reduction) {
        reduce(std::span(&value, 1), reduction);
        return value;
    }
};

/// A single process: collectives complete at once, and it receives what it sends.
std::shared_ptr<Communicator> make_local_communicator();

}  // namespace ranvier::comm
