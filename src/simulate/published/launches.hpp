// How ops get from ready to the queue of their device (S11, S12): the host's dispatch and streams that run in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "emplace/base/error.hpp"
#include "simulate/published/network.hpp"

namespace emplace::simulate::published {

// Ops that became ready at one instant are taken by id, so their order does not depend on the order of the events.
class Launches {
 public:
  explicit Launches(const SwitchedProblem& problem) : p_(problem) {}

  void begin(const std::uint8_t* device) {
    device_ = device;
    ready_.clear();
    waiting_.clear();
    first_waiting_ = 0;
    host_busy_ = false;
  }

  void put(std::uint32_t op) {
    ready_.push_back(op);
    std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
  }
  void host_is_free() { host_busy_ = false; }

  // Calls enqueue(op) for each ready op that needs no time of the host, in the order of ids; enqueue may call put().
  // Then, if the host is free and an op waits for it, calls dispatch(op) for the one that became ready first.
  template <class Enqueue, class Dispatch>
  void advance(Enqueue&& enqueue, Dispatch&& dispatch) {
    while (!ready_.empty()) {
      std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
      const std::uint32_t op = ready_.back();
      ready_.pop_back();
      if (needs_host(op))
        waiting_.push_back(op);
      else
        enqueue(op);
    }
    if (host_busy_ || first_waiting_ == waiting_.size()) return;
    host_busy_ = true;
    dispatch(waiting_[first_waiting_++]);
  }

 private:
  [[nodiscard]] bool needs_host(std::uint32_t op) const {
    return p_.dispatch > 0 && p_.accelerator[device_[op]] != 0 &&
           p_.problem.zero_cost[op * p_.devices + device_[op]] == 0;
  }

  const SwitchedProblem& p_;
  const std::uint8_t* device_ = nullptr;
  std::vector<std::uint32_t> ready_;    // a heap
  std::vector<std::uint32_t> waiting_;  // for the host, in the order in which they became ready
  std::size_t first_waiting_ = 0;
  bool host_busy_ = false;
};

}  // namespace emplace::simulate::published
