// The master's side of all work that workers share: who is at work, what has failed, and when everybody is done.
// MpiEvaluator, MpiLearnerWorkers and MpiPlacerPool are its clients; one of them uses it at a time.
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
  // What a client knows of its work. Nothing of it is called once something has failed, but for take() of what is under
  // way already.
  class Client {
   public:
    virtual ~Client() = default;
    // Sends the worker what it is to do next with send(), or nothing if there is nothing left.
    virtual void deal(std::size_t worker) = 0;
    // Receives a message about the worker's oldest piece. True: that was the last one about it.
    virtual bool take(std::size_t worker, const Arrival& arrival) = 0;
  };

  explicit WorkPool(World& world);

  // The workers are ranks 1, 2, ...
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }
  [[nodiscard]] static int rank_of(std::size_t worker) { return static_cast<int>(worker) + 1; }
  // Pieces under way: of a worker, of all.
  [[nodiscard]] std::size_t pieces(std::size_t worker) const { return pieces_[worker].size(); }
  [[nodiscard]] std::size_t pieces() const { return under_way_; }

  // A piece of work for the worker, which answers pieces in the order in which it got them. Never waits.
  void send(std::size_t worker, std::vector<std::byte> message, Tag tag);

  // Takes what has arrived and deals more. Never waits.
  void poll(Client& client);
  // The same until nobody is at work; then throws the first thing that failed, here or on a worker. `meanwhile` is
  // called between messages, for work that somebody may want to stop.
  void finish(Client& client, const std::function<void()>& meanwhile = {});

  // Something failed: nothing more is dealt, and finish() throws it.
  void fail(const std::exception_ptr& failure);
  [[nodiscard]] bool failed() const { return failure_ != nullptr || lost_worker_ != nullptr; }
  // Runs `step`; what it throws fails the work.
  template <class Step>
  void attempt(const Step& step) {
    try {
      step();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  // The problems were announced once more: workers that had failed work again, and failures of before count no more.
  void restart();

 private:
  void handle(const Arrival& arrival, Client& client);
  void end_piece(std::size_t worker);
  void lose(std::size_t worker, const Arrival& arrival);

  World& world_;
  Communicator& comm_;
  std::vector<std::deque<Sending>> pieces_;  // of each worker, the oldest first
  std::size_t under_way_ = 0;
  std::exception_ptr failure_;       // of the present work
  std::exception_ptr lost_worker_;   // what a worker ended with that answers nothing until the next problems
  std::uint64_t announcements_ = 0;  // of problems
};

}  // namespace emplace::dist
