// The master's side of all work that workers share: which workers have work, which error occurred, and when all are
// done. MpiEvaluator, MpiLearnerWorkers, MpiPlacerPool and MpiPolishPool are its clients; one of them uses it at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "dist/communicator.hpp"

namespace emplace::dist {

class WorkPool {
 public:
  // The functions that a client defines. After an error only take() is called, for the pieces that workers still have.
  class Client {
   public:
    virtual ~Client() = default;
    // Sends the worker its next piece with send(), or nothing if there is none left.
    virtual void deal(std::size_t worker) = 0;
    // Receives a message about the worker's oldest piece. True: that was the last one about it.
    virtual bool take(std::size_t worker, const Arrival& arrival) = 0;
  };

  explicit WorkPool(World& world);

  // The workers are ranks 1, 2, ...
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }
  [[nodiscard]] static int rank_of(std::size_t worker) { return static_cast<int>(worker) + 1; }
  // The number of pieces that are not answered yet: of one worker, of all workers.
  [[nodiscard]] std::size_t pieces(std::size_t worker) const { return pieces_[worker].size(); }
  [[nodiscard]] std::size_t pieces() const { return under_way_; }

  // Sends a piece of work to the worker, which answers its pieces in the order in which it got them. Never waits.
  void send(std::size_t worker, std::vector<std::byte> message, Tag tag);

  // Handles the messages that have arrived and deals more pieces. Never waits.
  void poll(Client& client);
  // The same until all pieces are answered; then throws the first error, of the master or of a worker, if there was
  // one. `meanwhile` is called between messages, for work that can be stopped early. Where a stop is due
  // (base/interrupt.hpp), the workers do not finish their pieces either, and it throws Interrupted.
  void finish(Client& client, const std::function<void()>& meanwhile = {});

  // Records an error: no more pieces are dealt, and finish() throws it.
  void fail(const std::exception_ptr& failure);
  [[nodiscard]] bool failed() const { return failure_ != nullptr || lost_worker_ != nullptr; }
  // Calls `step`; records what it throws with fail().
  template <class Step>
  void attempt(const Step& step) {
    try {
      step();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  // Called when problems were announced again: workers that had failed work again, and earlier errors are forgotten.
  void restart();
  // How often problems were announced: a failure with another number is of earlier work.
  [[nodiscard]] std::uint64_t announcements() const { return announcements_; }

 private:
  void handle(const Arrival& arrival, Client& client);
  void end_piece(std::size_t worker);
  void stop_workers();
  void lose(std::size_t worker, const Arrival& arrival);

  World& world_;
  Communicator& comm_;
  std::vector<std::deque<Sending>> pieces_;  // of each worker, the oldest first
  std::size_t under_way_ = 0;
  std::exception_ptr failure_;       // error of the present work
  std::exception_ptr lost_worker_;   // error of a worker that sends no answers until the next problems are announced
  std::uint64_t announcements_ = 0;  // how often problems were announced
};

}  // namespace emplace::dist
