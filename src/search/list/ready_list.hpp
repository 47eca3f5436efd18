// The ops whose producers have all been taken, the one with the largest value first, ties in topological order.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

class ReadyList {
 public:
  // Both arguments must outlive the list. `value`: N.
  ReadyList(const Problem& problem, const std::vector<double>& value) : problem_(problem), value_(value) {
    position_.resize(problem.op_count());
    for (std::uint32_t i = 0; i < problem.op_count(); ++i) {
      position_[problem.topological[i]] = i;
      waits_.push_back(static_cast<std::uint32_t>(problem.inputs[i].size()));
      if (waits_[i] == 0) push(i);
    }
  }
  ReadyList(const ReadyList&) = delete;
  ReadyList& operator=(const ReadyList&) = delete;

  [[nodiscard]] bool empty() const { return ready_.empty(); }
  // Takes the first op; its consumers may become ready.
  std::uint32_t take() {
    const std::uint32_t op = problem_.topological[ready_.begin()->second];
    ready_.erase(ready_.begin());
    for (const std::uint32_t tensor : problem_.outputs[op])
      for (const std::uint32_t consumer : problem_.consumers[tensor])
        if (--waits_[consumer] == 0) push(consumer);
    return op;
  }

 private:
  void push(std::uint32_t op) { ready_.emplace(-value_[op], position_[op]); }

  const Problem& problem_;
  const std::vector<double>& value_;
  std::vector<std::uint32_t> position_, waits_;       // N
  std::set<std::pair<double, std::uint32_t>> ready_;  // (-value, position)
};

}  // namespace emplace::search
