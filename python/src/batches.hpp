// Simulates many placements on several threads.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "bind.hpp"
#include "emplace/problem/outcome.hpp"
#include "engines.hpp"

namespace emplace::python {

// The rows of an array with any strides.
template <class T>
struct Rows {
  const char* data;
  std::size_t columns;
  std::ptrdiff_t row_stride, column_stride;  // bytes

  explicit Rows(const py::array_t<T>& array)
      : data(static_cast<const char*>(static_cast<const void*>(array.data()))),
        columns(static_cast<std::size_t>(array.shape(1))),
        row_stride(array.strides(0)),
        column_stride(array.strides(1)) {}

  // Copies a row. Engines get only checked copies, because other threads of the caller may write to the array
  // meanwhile.
  void copy(std::size_t row, T* to) const {
    const char* at = data + static_cast<std::ptrdiff_t>(row) * row_stride;
    if (column_stride == static_cast<std::ptrdiff_t>(sizeof(T))) {
      std::memcpy(to, at, columns * sizeof(T));
      return;
    }
    for (std::size_t c = 0; c < columns; ++c, at += column_stride) std::memcpy(to + c, at, sizeof(T));
  }
};

// The arguments and results of a call of simulate(); its arrays have a row for each of `count` placements.
struct Batch {
  const Problem& problem;
  EnginePool& engines;
  Schedule schedule;
  Objective objective;
  Rows<std::uint8_t> devices;
  std::size_t count;
  bool one;                                  // the caller gave a single placement (for messages)
  std::vector<std::uint32_t> common_order;   // one order for all placements; or
  std::optional<Rows<std::uint32_t>> order;  // an order for each; or neither
  Outcome* outcomes;
  std::uint8_t* sender;  // the device that sends the tensor without a route
  Bytes* peaks;          // count x D, or null

  [[nodiscard]] std::string place(std::size_t row) const {
    return one ? "placement" : fmt::format("placements[{}]", row);
  }
  void read_devices(std::size_t row, std::uint8_t* to) const {
    devices.copy(row, to);
    std::uint8_t largest = 0;
    for (std::size_t op = 0; op < devices.columns; ++op) largest = std::max(largest, to[op]);
    if (largest >= problem.device_count()) check_placement(problem, {{to, to + devices.columns}, {}}, place(row));
  }
  void note(std::size_t row, const Outcome& outcome, const std::uint8_t* placed) const {
    outcomes[row] = outcome;
    if (outcome.why == Infeasible::missing_route) sender[row] = placed[problem.producer[outcome.subject].index()];
  }
};

// Runs Python's signal handlers every 20 ms and returns whether one raised. For the calling thread, without the GIL.
class Signals {
 public:
  bool operator()() {
    if (raised_) return true;
    if (std::chrono::steady_clock::now() < next_) return false;
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) raised_.emplace();
    next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    return raised_.has_value();
  }
  // With the GIL.
  void rethrow() {
    if (raised_) throw py::error_already_set(*raised_);
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  std::optional<py::error_already_set> raised_;
};

// Fills in the outcomes, senders and peaks of the batch. `threads`: 0 for one per core. The caller does not hold the
// GIL; if a signal handler raises, the rows that are left keep no result. Throws the error of the first row that has
// one.
void run_batch(const Batch& batch, std::size_t threads, Signals& signals);

}  // namespace emplace::python
