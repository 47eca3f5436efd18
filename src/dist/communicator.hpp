// MPI in C++: types follow from spans, tags have names, every error code becomes an exception. No other file includes
// mpi.h.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

inline constexpr int master = 0;  // rank

// The kind of a message; it says what the receiver has to do.
enum class Tag : int {
  // Master to worker.
  problems = 1,  // u64: size in bytes of a broadcast that follows, in which all take part: the problems
  placements,    // a piece of a batch
  job,           // a placer to run
  polish,        // a placement to polish
  stop,          // empty: end the job, or the oldest piece of work, soon
  release,       // end with this exit code
  policy,        // u64: the same for the training's policy
  parameters,    // u64: the same for the policy's parameters
  request,       // u64: the same for a request for samples
  samples,       // which samples of the request to draw and evaluate
  chunks,        // chunks whose log-probabilities or gradients to compute
  coefficients,  // the weights of a chunk's log-probabilities in the loss
  skip,          // empty: stop working on the chunks
  groups,        // u64: form groups of so many ranks
  task,          // a task, sent to the master of a group
  report,        // u64: send a report (ping.hpp), then send back so many pings at once
  ping,          // to be sent back as it is
  controllers,   // u64: the same for the plan of asynchronous controllers, which the workers become
  batch,         // what a controller draws next, with its state and the parameters
  reunite,       // empty, to a controller: it and its workers are workers of the master again
  // Worker to master.
  outcomes,      // of a piece
  answer,        // what a placer found
  polished,      // what polishing found
  rollouts,      // samples
  log,           // log-probabilities of a chunk
  gradient,      // of some chunks
  not_finite,    // text: which numbers are not finite
  interrupted,   // empty: the piece was not finished, because the master said stop
  contribution,  // what a controller made of its batch
  task_answer,
  failed,  // in parts of a job: the error after which the worker ignores work until the next problems arrive
};

namespace mpi {

// EnvironmentError with MPI's own text unless `code` is MPI_SUCCESS.
void check(int code, const char* call);

template <class T>
MPI_Datatype type_of() = delete;
template <>
inline MPI_Datatype type_of<std::byte>() {
  return MPI_BYTE;
}
template <>
inline MPI_Datatype type_of<std::int32_t>() {
  return MPI_INT32_T;
}
template <>
inline MPI_Datatype type_of<std::uint64_t>() {
  return MPI_UINT64_T;
}
template <>
inline MPI_Datatype type_of<float>() {
  return MPI_FLOAT;
}
template <>
inline MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}

// The count as an int, as MPI needs it; BugError if it is too large.
int count_of(std::size_t elements);

// The clock of this folder, in seconds; simulated time if the job is simulated (smpirun).
inline double now() { return MPI_Wtime(); }

}  // namespace mpi

// MPI's counts are below 2^31. Messages of any size are therefore sent in parts: parts of `part` elements, and a
// shorter last one, which may be empty. Calls `send(begin, count)` for each part.
template <class Send>
void in_parts(std::size_t elements, std::size_t part, const Send& send) {
  std::size_t begin = 0;
  for (; elements - begin >= part; begin += part) send(begin, part);
  send(begin, elements - begin);
}

// A message (or the first part of one) that has arrived and can be received.
struct Arrival {
  int source;
  Tag tag;
  int bytes;
};

// A message that is being sent, and its buffer. The destructor waits until it is sent.
class Sending {
 public:
  Sending(std::vector<std::byte> message, int to, Tag tag, MPI_Comm comm, std::size_t part);
  ~Sending();
  Sending(Sending&& other) noexcept;
  Sending& operator=(Sending&&) = delete;

 private:
  std::vector<std::byte> message_;
  std::vector<MPI_Request> requests_;  // one per part
};

class Communicator {
 public:
  explicit Communicator(MPI_Comm comm);
  // A communicator of the ranks that pass the same number. Collective.
  [[nodiscard]] std::unique_ptr<Communicator> split(int part) const;
  void free();

  // What this rank sent, received and waited for so far.
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  // Returns when `values` may be changed again; for a long message, that is when the receiver receives it.
  template <class T>
  void send(std::span<const T> values, int to, Tag tag) const {
    in_parts(values.size(), part_bytes_ / sizeof(T), [&](std::size_t begin, std::size_t count) {
      mpi::check(
          MPI_Send(values.data() + begin, mpi::count_of(count), mpi::type_of<T>(), to, static_cast<int>(tag), comm_),
          "MPI_Send");
    });
    traffic_.count(values.size_bytes());
  }
  // Never waits: for messages to a rank that may be busy.
  [[nodiscard]] Sending start_sending(std::vector<std::byte> message, int to, Tag tag) const {
    traffic_.count(message.size());
    return {std::move(message), to, tag, comm_, part_bytes_};
  }

  // The next message from `source` (any_source: from any rank) if one has arrived. Never waits.
  static constexpr int any_source = MPI_ANY_SOURCE;
  [[nodiscard]] std::optional<Arrival> poll(int source, int tag = MPI_ANY_TAG) const;
  // Sleeps until there is one.
  [[nodiscard]] Arrival wait(int source, int tag = MPI_ANY_TAG) const;
  // The same, but none as soon as `give_up` returns true, which is called every few milliseconds.
  [[nodiscard]] std::optional<Arrival> wait_unless(int source, const std::function<bool()>& give_up) const;

  template <class T>
  [[nodiscard]] std::vector<T> receive(const Arrival& arrival) const {
    const int tag = static_cast<int>(arrival.tag);
    std::vector<T> values;
    for (Arrival part = arrival;; part = wait(arrival.source, tag)) {
      const auto bytes = static_cast<std::size_t>(part.bytes);
      EMPLACE_CHECK(bytes <= part_bytes_ && bytes % sizeof(T) == 0);
      const std::size_t begin = values.size(), count = bytes / sizeof(T);
      values.resize(begin + count);
      mpi::check(MPI_Recv(values.data() + begin, mpi::count_of(count), mpi::type_of<T>(), arrival.source, tag, comm_,
                          MPI_STATUS_IGNORE),
                 "MPI_Recv");
      if (bytes < part_bytes_) break;
    }
    traffic_.count(values.size() * sizeof(T));
    return values;
  }

  // For the master: broadcasts the bytes to all workers, after a message with `tag` and the size. A worker that gets
  // that message calls receive_broadcast().
  void announce(std::span<const std::byte> bytes, Tag tag) const;
  [[nodiscard]] std::vector<std::byte> receive_broadcast(const Arrival& arrival) const;

  // Collective: every rank calls it; the values of `root` are copied to the other ranks. Any size.
  template <class T>
  void broadcast(std::span<T> values, int root) const {
    const std::size_t part = part_bytes_ / sizeof(T);
    for (std::size_t begin = 0; begin < values.size(); begin += part) {
      const auto piece = values.subspan(begin, std::min(part, values.size() - begin));
      mpi::check(MPI_Bcast(piece.data(), mpi::count_of(piece.size()), mpi::type_of<T>(), root, comm_), "MPI_Bcast");
      traffic_.count(piece.size_bytes());
    }
  }

  // For tests: sets the size of the parts of long messages, in bytes; a multiple of 8, the same on all ranks.
  void cut_into(std::size_t part_bytes) { part_bytes_ = part_bytes; }

  [[noreturn]] void abort(int code) const;

 private:
  MPI_Comm comm_;
  std::size_t part_bytes_ = std::size_t{1} << 30;
  int rank_ = 0;
  int size_ = 1;
  mutable Traffic traffic_;
};

// The machine's name, for messages about a rank.
std::string host_name();

}  // namespace emplace::dist
