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
};

// A plan to be said.
struct Said {
  const language::LanguageModel& model;
  const Chain& chain;  // of single units
  const Assignment& assignment;
  std::vector<std::uint8_t> order;  // of the devices that hold something
  std::vector<std::string> kinds;   // D
  std::string file;                 // of the model, as the user named it
  language::Scenario scenario;
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
                                        const Assignment& assignment);
[[nodiscard]] bool is_host_kind(const std::string& kind);

}  // namespace emplace::fit
