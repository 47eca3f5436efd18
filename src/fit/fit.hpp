// Whether and how well a language model fits a machine: a plan for one runtime, its simulated speed, what the runtime's
// own rules would do, and a proof of how much faster any plan could be.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emplace/machine/machine.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "fit/chain.hpp"
#include "fit/relaxation.hpp"
#include "fit/runtime.hpp"
#include "fit/time_shares.hpp"
#include "language/language_model.hpp"
#include "language/scenario.hpp"

namespace emplace::fit {

struct FitRequest {
  const language::LanguageModel& model;
  const machine::Machine& machine;
  std::string file;             // of the model, as the user named it
  std::string machine_name;     // of the machine, as the user named it
  language::Scenario scenario;  // of decode: context, sequences, KV type, micro-batch
  std::int64_t prompt = 512;    // tokens of the prompt until the first answer
  Aim aim = Aim::latency;
  const RuntimeEntry* runtime = nullptr;
  bool layers_in_order = false;      // only plans with each layer on one device, once
  Bytes reserve = Bytes{512} << 20;  // left free on each accelerator: the driver's context, the display
};

struct DeviceUse {
  std::string name, kind;
  Bytes memory = 0;  // no_memory_limit
  Bytes weights = 0, cache = 0, buffers = 0, reserved = 0;
  std::size_t units = 0;
  std::optional<std::size_t> chain_device = {};  // the device of the chain that it is, or is a part of; none: left out

  [[nodiscard]] Bytes used() const { return weights + cache + buffers + reserved; }
  // Below zero: so much is missing.
  [[nodiscard]] Bytes free() const { return memory == no_memory_limit ? no_memory_limit : memory - used(); }
};

// A plan and its simulation.
struct FitPlan {
  std::string method;  // "plan", or the name of a greedy rule
  Assignment assignment;
  std::vector<std::uint8_t> order;
  Placement placement;  // of the ops of a decode step
  Ticks ticks = 0;      // of a decode step; for throughput the busiest device's load
  double tokens_per_s = 0;
};

struct GreedyResult {
  std::string name;
  std::optional<FitPlan> plan;  // none: the rule finds no plan that has room
};

// A way in which devices work together (formation.hpp).
struct Alternative {
  std::int64_t tensor = 1;
  std::size_t replicas = 1;
  std::optional<double> tokens_per_s;  // none: no plan
};

struct Fit {
  language::Scenario decode, prefill;  // what was simulated
  Problem problem;                     // a decode step, with its name in other commands: "m.gguf?context=8192@laptop"
  Chain chain;                         // `room` without what is reserved and the buffers
  std::vector<std::string> kinds;
  std::optional<FitPlan> plan;  // none: nothing was found that has room
  std::vector<GreedyResult> greedy;
  double bound_tokens_per_s = 0;   // no plan of this runtime passes more; 0: not known
  bool proved = false;             // this is the best plan, or that there is none
  std::vector<DeviceUse> devices;  // of the machine
  std::vector<TimeShare> shares;   // none without a plan
  double first_token_s = 0;        // until the prompt is computed; 0 without a plan
  Bytes least = 0;                 // bytes that weights, cache and buffers take at least, over all devices
  Bytes available = 0;             // bytes of the devices that the runtime can use; no_memory_limit
  Saying saying;
  Parallel parallel;                      // of the plan; `chain`, `problem` and `kinds` are of one replica's groups
  std::vector<Alternative> alternatives;  // all that were tried, that of the plan included; the first is plain
};

// InputError for scenarios that the model cannot have.
[[nodiscard]] Fit fit(const FitRequest& request);

// The largest context, a multiple of 256 up to that of the request, for which a plan is found; 0: none.
[[nodiscard]] std::int64_t longest_context(const FitRequest& request);

}  // namespace emplace::fit
