// ONNX Runtime assigns nodes by parts of their names (session.name_based_layer_assignment, 2026). A session has one GPU
// beside the CPU. Nodes have the names that onnxruntime-genai gives them: "/model/layers.3/attn/...".
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>

#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

Saying say_onnxruntime(const Said& said) {
  std::map<std::string, std::vector<std::string>> names;
  const auto put = [&](std::uint8_t device, std::string name) {
    const int number = accelerator_number(said, device);
    names[number < 0 ? "cpu" : fmt::format("gpu:{}", number)].push_back(std::move(name));
  };
  put(device_of(said, UnitKind::input), "/model/embed_tokens");
  for (const Piece& piece : pieces_of(said))
    for (std::int64_t i = 0; i < piece.layers; ++i)
      put(piece.device, fmt::format("/model/layers.{}/", piece.first + i));
  put(device_of(said, UnitKind::output), "/lm_head");
  std::vector<std::string> rules;
  for (const auto& [device, parts] : names) rules.push_back(fmt::format("{}({})", device, fmt::join(parts, ", ")));
  return {fmt::format("session.name_based_layer_assignment={}\n", fmt::join(rules, "; ")),
          {"a session option; ONNX Runtime runs on the CPU what the GPU's provider does not have"}};
}

}  // namespace

RuntimeEntry onnxruntime_runtime() {
  RuntimeEntry entry;
  entry.name = "onnxruntime";
  entry.summary = "The session option that assigns layers to the CPU and one GPU.";
  entry.reference = "ONNX Runtime, session.name_based_layer_assignment";
  entry.rules = {.whole_layers = true, .one_accelerator = true};
  entry.say = say_onnxruntime;
  return entry;
}

}  // namespace emplace::fit
