#include "batches.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "base/cores.hpp"

namespace emplace::python {

namespace {

// Simulates the rows that one thread gets, one placement after the other.
class OneByOne {
 public:
  explicit OneByOne(const Batch& batch) : batch_(batch), engine_(batch.engines.take(batch.schedule, batch.objective)) {
    placement_.device.resize(batch.devices.columns);
    if (batch.order) placement_.order.resize(batch.devices.columns);
    if (!batch.common_order.empty()) placement_.order = batch.common_order;
  }
  ~OneByOne() { batch_.engines.give_back(batch_.schedule, batch_.objective, std::move(engine_)); }
  OneByOne(const OneByOne&) = delete;
  OneByOne& operator=(const OneByOne&) = delete;

  void run(std::size_t begin, std::size_t end) {
    const std::size_t devices = batch_.problem.device_count();
    for (std::size_t row = begin; row < end; ++row) {
      batch_.read_devices(row, placement_.device.data());
      if (batch_.order) {
        batch_.order->copy(row, placement_.order.data());
        check_placement(batch_.problem, placement_, batch_.place(row));
      }
      batch_.note(row, engine_->evaluate(placement_, {.usage = batch_.peaks != nullptr ? &usage_ : nullptr}),
                  placement_.device.data());
      if (batch_.peaks == nullptr) continue;
      Bytes* const peaks = batch_.peaks + row * devices;
      if (batch_.outcomes[row].timed())
        std::copy_n(usage_.device_peak.begin(), devices, peaks);
      else
        std::fill_n(peaks, devices, Bytes{-1});
    }
  }

 private:
  const Batch& batch_;
  std::unique_ptr<simulate::Engine> engine_;
  Placement placement_;
  Usage usage_;
};

// Simulates the rows that one thread gets, 16 at a time under the common order.
class InLockStep {
 public:
  InLockStep(const Batch& batch, std::unique_ptr<simulate::BatchEngine> engine)
      : batch_(batch), engine_(std::move(engine)), devices_(simulate::batch_lanes * batch.devices.columns) {}
  ~InLockStep() { batch_.engines.give_back(batch_.common_order, std::move(engine_)); }
  InLockStep(const InLockStep&) = delete;
  InLockStep& operator=(const InLockStep&) = delete;

  void run(std::size_t begin, std::size_t end) {
    constexpr std::size_t lanes = simulate::batch_lanes;
    const std::uint8_t* rows[lanes];
    Outcome outcomes[lanes];
    for (std::size_t first = begin; first < end; first += lanes) {
      const std::size_t count = std::min(lanes, end - first);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint8_t* const row = devices_.data() + i * batch_.devices.columns;
        batch_.read_devices(first + i, row);
        rows[i] = row;
      }
      engine_->evaluate({rows, count}, {outcomes, count});
      for (std::size_t i = 0; i < count; ++i) batch_.note(first + i, outcomes[i], rows[i]);
    }
  }

 private:
  const Batch& batch_;
  std::unique_ptr<simulate::BatchEngine> engine_;
  std::vector<std::uint8_t> devices_;
};

// Hands out the rows of a batch to threads. Of several errors it keeps that of the first row, so that the message does
// not depend on the threads.
class Shares {
 public:
  Shares(std::size_t count, std::size_t at_a_time) : count_(count), at_a_time_(at_a_time) {}

  // Runs pieces until none is left or `check`, called before each piece, returns true.
  template <class Runner, class Check>
  void work(Runner&& runner, Check&& check) {
    while (!failed_ && !check()) {
      const std::size_t begin = next_.fetch_add(at_a_time_);
      if (begin >= count_) return;
      try {
        runner.run(begin, std::min(begin + at_a_time_, count_));
      } catch (...) {
        // Earlier pieces were handed out earlier, and their threads finish them.
        const std::lock_guard lock(mutex_);
        if (!error_ || begin < error_at_) {
          error_ = std::current_exception();
          error_at_ = begin;
        }
        failed_ = true;
      }
    }
  }
  void end() { failed_ = true; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::size_t count_, at_a_time_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t error_at_ = 0;
};

std::size_t threads_of(std::size_t wanted, std::size_t pieces) {
  return std::max<std::size_t>(1, std::min(wanted == 0 ? allowed_cores().size() : wanted, pieces));
}

template <class MakeRunner>
void run_pieces(const Batch& batch, std::size_t wanted_threads, std::size_t at_a_time, MakeRunner&& make_runner,
                Signals& signals) {
  Shares shares(batch.count, at_a_time);
  const std::size_t threads = threads_of(wanted_threads, (batch.count + at_a_time - 1) / at_a_time);
  const auto helper = [&] {
    try {
      auto runner = make_runner();
      shares.work(runner, [] { return false; });
    } catch (...) {  // no memory for an engine: the other threads do its part
    }
  };
  std::vector<std::jthread> helpers;
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(helper);
  } catch (const std::system_error&) {  // the system starts no further thread: those that run do the work
  }
  try {
    auto runner = make_runner();
    shares.work(runner, [&] {
      const bool end = signals();
      if (end) shares.end();
      return end;
    });
  } catch (...) {
    shares.end();
    throw;
  }
  helpers.clear();  // joins
  shares.rethrow();
}

}  // namespace

void run_batch(const Batch& batch, std::size_t threads, Signals& signals) {
  constexpr std::size_t units_a_piece = 30'000;  // ops and edges: a third of a millisecond
  const std::size_t units = batch.problem.op_count() + batch.problem.edge_count();
  const std::size_t at_a_time = std::max<std::size_t>(1, units_a_piece / std::max<std::size_t>(1, units));
  if (batch.objective == Objective::step && batch.schedule == Schedule::in_order && batch.peaks == nullptr &&
      !batch.common_order.empty() && batch.count >= simulate::batch_lanes) {
    if (auto engine = batch.engines.take_batch(batch.common_order)) {
      batch.engines.give_back(batch.common_order, std::move(engine));
      constexpr std::size_t lanes = simulate::batch_lanes;
      return run_pieces(
          batch, threads, (10 * at_a_time + lanes - 1) / lanes * lanes,
          [&] { return InLockStep(batch, batch.engines.take_batch(batch.common_order)); }, signals);
    }
  }
  run_pieces(
      batch, threads, at_a_time, [&] { return OneByOne(batch); }, signals);
}

}  // namespace emplace::python
