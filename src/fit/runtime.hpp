// Runtimes that run a plan: what they can be told, and the text that tells them. One entry and one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/registry.hpp"
#include "fit/chain.hpp"
#include "language/language_model.hpp"
#include "language/scenario.hpp"

namespace emplace::fit {

// What a runtime can be told.
struct Rules {
  bool whole_layers = false;   // parts of a layer are always together, the input is with the first layer, the output
                               // with the last
  bool in_pieces = false;      // layers (of llama.cpp: their attention) follow each other in one order of the devices
  bool uses_hosts = true;      // units may be on devices of kind cpu beside others
  bool input_on_host = false;  // whatever the plan
  bool one_accelerator = false;
  bool tensor_parallel = false;  // several equal devices can have a part of every layer each
  bool repeats_keys = false;     // these may be more than the key-value heads
  bool replicas = false;         // it runs the model several times, and requests are divided among them
};

// How the devices of a plan work together, if they are more than the chain's (formation.hpp).
struct Parallel {
  struct Accelerator {
    std::string host;  // "" where the machine is one host
    int number = 0;    // in the host
  };
  std::int64_t tensor = 1;
  std::size_t replicas = 1;
  // Entry r * D + d: what device d of the chain stands for in replica r. Empty: accelerators are numbered as in the
  // chain.
  std::vector<std::vector<Accelerator>> accelerators = {};

  [[nodiscard]] bool is_plain() const { return tensor == 1 && replicas == 1; }
};

// A plan to be said.
struct Said {
  const language::LanguageModel& model;
  const Chain& chain;  // of single units
  const Assignment& assignment;
  std::vector<std::uint8_t> order;  // of the devices that hold something
  std::vector<std::string> kinds;   // D
  std::string file;                 // of the model, as the user named it
  language::Scenario scenario;      // of one replica
  Parallel parallel = {};
};

struct Saying {
  std::string text;                // lines to paste, each with its end
  std::vector<std::string> notes;  // sentences for people
};

struct RuntimeEntry : EntryInfo {
  Rules rules;
  std::function<Saying(const Said&)> say;
};
// llama.cpp, ollama, vllm, exo, accelerate, megatron, onnxruntime, json.
[[nodiscard]] std::span<const RuntimeEntry> runtimes();

// Where a runtime may put units.
struct RuntimeSpace {
  Merged merged;  // units that the runtime cannot part are one
  Space space;    // of the merged chain
  std::vector<std::vector<std::uint8_t>> orders;
  bool all_orders = false;  // that differ
};
// One space, or one for each accelerator if the runtime uses only one. `kinds` of the devices.
[[nodiscard]] std::vector<RuntimeSpace> spaces_of(const Rules& rules, const Chain& chain,
                                                  const std::vector<std::string>& kinds);
// Why the runtime cannot be told this plan: a sentence without a full stop; "" if it can.
[[nodiscard]] std::string why_unsayable(const Rules& rules, const Chain& chain, const std::vector<std::string>& kinds,
                                        const Assignment& assignment, const Parallel& parallel = {});
[[nodiscard]] bool is_host_kind(const std::string& kind);

}  // namespace emplace::fit
