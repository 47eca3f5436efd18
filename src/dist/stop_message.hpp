// The master's request to end a job or a piece of work early, as a worker sees it.
#pragma once

#include <optional>

#include "dist/communicator.hpp"

namespace emplace::dist {

// Whether the master asked for the end of a job or of a piece of work; checks for the message every 2 ms only.
class StopMessage {
 public:
  explicit StopMessage(const Communicator& comm) : comm_(comm) {}

  bool operator()() {
    const double now = mpi::now();
    if (arrived_ || now - looked_ < 2e-3) return arrived_;
    looked_ = now;
    const std::optional<Arrival> arrival = comm_.poll(master, static_cast<int>(Tag::stop));
    if (!arrival) return false;
    static_cast<void>(comm_.receive<std::byte>(*arrival));
    return arrived_ = true;
  }

 private:
  const Communicator& comm_;
  double looked_ = 0;
  bool arrived_ = false;
};

}  // namespace emplace::dist
