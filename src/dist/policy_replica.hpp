// A worker's copy of the training's policy: draws and evaluates samples, and computes chunks of gradients.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dist/communicator.hpp"
#include "dist/policy_archive.hpp"
#include "dist/rollout_wire.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::dist {

class PolicyReplica {
 public:
  // `plan` is the policy that the master broadcast. `problems` and `evaluator` must outlive this object.
  PolicyReplica(const Communicator& comm, std::span<const std::byte> plan, std::span<const Problem* const> problems,
                evaluate::Evaluator& evaluator);

  void take_parameters(std::span<const std::byte> message);
  void take_request(std::span<const std::byte> message) { request_ = unpack_request(message); }

  // Answers with Tag::rollouts, or with Tag::not_finite.
  void draw(std::span<const std::byte> message);
  // Answers each chunk with Tag::log, or all with Tag::not_finite. If the gradient is asked for, waits for each chunk's
  // coefficients and answers with Tag::gradient at the end. After Tag::skip or a release, it stops.
  void compute(std::span<const std::byte> message);

 private:
  // Empty: stop working on the chunks.
  [[nodiscard]] std::optional<std::vector<double>> receive_coefficients() const;
  // Calls `work`; if that throws NotFinite, sends its message to the master.
  void report_not_finite(const std::function<void()>& work) const;

  const Communicator& comm_;
  evaluate::Evaluator& evaluator_;
  RestoredPolicy restored_;
  SentRequest request_;
  std::vector<policy::Rollout> rollouts_;
  policy::LogProbabilities log_;
};

}  // namespace emplace::dist
