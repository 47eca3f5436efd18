// MPI in C++: types follow from spans, tags have names, every error code becomes an exception. The only mpi.h here.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

// What a message is about; with it a worker knows what to do.
enum class Tag : int {
  // Master to worker.
  problems = 1,  // u64: take part in the broadcast of so many bytes: the problems
  placements,    // a piece of a batch
  job,           // a placer to run
  stop,          // empty: end the job soon
  release,       // end with this exit code
  policy,        // u64: take part in the broadcast of so many bytes: the training's policy
  parameters,    // u64: the same of its parameters
  request,       // u64: the same of a request for samples
  samples,       // which of them to draw and evaluate
  chunks,        // chunks of a gradient
  coefficients,  // of a chunk's heads
  skip,          // empty: leave the chunks alone
  groups,        // u64: form groups of so many ranks
  task,          // to the master of a group
  report,        // u64: say who you are, then send so many pings back at once
  ping,          // to be sent back as it is
  // Worker to master.
  outcomes,    // of a piece
  answer,      // what a placer found
  rollouts,    // samples
  log,         // log-probabilities of a chunk
  gradient,    // of some chunks
  not_finite,  // what left the range of numbers
  task_answer,
  failed,  // why it does nothing until the next problems come; of parts of a job
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

// MPI counts in int.
int count_of(std::size_t elements);

// The clock of this folder: simulated time where the job is simulated (smpirun).
inline double now() { return MPI_Wtime(); }

}  // namespace mpi

// MPI's counts end at 2^31. A message of any size goes in parts of one size and a last, shorter one, which may be
// empty: `send(begin, count)` of its elements, part by part.
template <class Send>
void in_parts(std::size_t elements, std::size_t part, const Send& send) {
  std::size_t begin = 0;
  for (; elements - begin >= part; begin += part) send(begin, part);
  send(begin, elements - begin);
}

// A message that has arrived and waits to be received, or the first part of it.
struct Arrival {
  int source;
  Tag tag;
  int bytes;
};

// A message on its way with the buffer that it needs until then. Waits for its end when destroyed.
class Sending {
 public:
  Sending(std::vector<std::byte> message, int to, Tag tag, MPI_Comm comm, std::size_t part);
  ~Sending();
  Sending(Sending&& other) noexcept;
  Sending& operator=(Sending&&) = delete;

 private:
  std::vector<std::byte> message_;
  std::vector<MPI_Request> requests_;  // one a part
};

class Communicator {
 public:
  explicit Communicator(MPI_Comm comm);
  // The ranks that give the same number. Collective.
  [[nodiscard]] std::unique_ptr<Communicator> split(int part) const;
  void free();

  // What this rank sent, received and waited for so far.
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  // Returns when the message may be forgotten here; a long one waits until the receiver asks for it.
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

  // The next message from `source` (any_source: whoever) if one is there. Never waits.
  static constexpr int any_source = MPI_ANY_SOURCE;
  [[nodiscard]] std::optional<Arrival> poll(int source, int tag = MPI_ANY_TAG) const;
  // Naps until there is one.
  [[nodiscard]] Arrival wait(int source, int tag = MPI_ANY_TAG) const;

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

  // Master: the workers are told by `tag` to take part in the broadcast of these bytes, which receive_broadcast() does.
  void announce(std::span<const std::byte> bytes, Tag tag) const;
  [[nodiscard]] std::vector<std::byte> receive_broadcast(const Arrival& arrival) const;

  // Collective: every rank calls it, `root` gives the values, the others get them. Any size.
  template <class T>
  void broadcast(std::span<T> values, int root) const {
    const std::size_t part = part_bytes_ / sizeof(T);
    for (std::size_t begin = 0; begin < values.size(); begin += part) {
      const auto piece = values.subspan(begin, std::min(part, values.size() - begin));
      mpi::check(MPI_Bcast(piece.data(), mpi::count_of(piece.size()), mpi::type_of<T>(), root, comm_), "MPI_Bcast");
      traffic_.count(piece.size_bytes());
    }
  }

  // For tests: parts of so many bytes, a multiple of 8, the same on all ranks.
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
