// The parameter store of an asynchronous training: gives batches to controllers and applies each gradient when it
// arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "learn/controllers.hpp"

namespace emplace::learn {

// Batches are numbered 1, 2, ... in the order in which they are given; the number keys a batch's streams, as the number
// of the update does in a synchronous training. With one controller both numbers are the same.
class ParameterStore {
 public:
  ParameterStore(policy::Policy& policy, AsynchronousLearner& learner, Controllers& controllers);

  // Gives a batch to each controller that has none, as long as `may_begin(batches under way)` is true; at least one is
  // under way afterwards. `request` makes the request of the batch with this number.
  void give(const std::function<SamplingRequest(std::uint64_t number)>& request,
            const std::function<bool(std::size_t open)>& may_begin);

  struct Update {
    std::vector<policy::Rollout> rollouts;
    std::map<std::string, double> columns;  // as of Learner::update()
    std::size_t controller = 0;
    std::uint64_t staleness = 0;  // updates since the controller's parameters were read
  };
  // Waits for the next gradient and applies it. Throws what Controllers::next() throws.
  Update next();

  // Array "open_batches": the numbers of the batches that were given and are not applied. After load() they are given
  // again, before new ones, with the parameters of that time. `updates`: the number of updates so far.
  void save(State& state) const;
  void load(const State& state, std::uint64_t updates);

 private:
  struct Batch {
    std::uint64_t number;
    std::uint64_t version;  // number of updates in its parameters
  };
  [[nodiscard]] std::size_t open() const;
  [[nodiscard]] std::uint64_t next_number();

  policy::Policy& policy_;
  AsynchronousLearner& learner_;
  Controllers& controllers_;
  std::vector<std::optional<Batch>> batch_;  // of each controller
  std::vector<std::uint64_t> lost_;          // batches of an earlier session, the last one to be given first
  std::uint64_t given_ = 0, updates_ = 0;
};

}  // namespace emplace::learn
