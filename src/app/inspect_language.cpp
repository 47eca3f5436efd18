#include "app/inspect_language.hpp"

#include <fmt/core.h>

#include <map>

#include "base/text.hpp"
#include "emplace/source/load_problem.hpp"
#include "formats/language_reader.hpp"

namespace emplace::app {

namespace {

Bytes cache_of(const Graph& graph) {
  Bytes sum = 0;
  for (const GraphOp& op : graph.ops) sum += op.state_bytes;
  return sum;
}

std::map<std::string, Bytes> bytes_by_type(const language::LanguageModel& model) {
  std::map<std::string, Bytes> bytes;
  const auto add = [&](const std::vector<language::Weight>& weights) {
    for (const language::Weight& weight : weights) bytes[weight.type] += weight.bytes;
  };
  add(model.input);
  for (const language::Layer& layer : model.layers) add(layer.weights);
  add(model.output);
  return bytes;
}

}  // namespace

std::optional<language::LanguageModel> language_model_of(const std::string& source) {
  const std::string file = source::file_of_model(source);
  if (file.starts_with("zoo:") || !formats::is_language_model(file)) return std::nullopt;
  return formats::read_language_model(file);
}

Json language_json(const language::LanguageModel& model, const Graph& graph) {
  return {{"architecture", model.architecture},
          {"layers", model.layers.size()},
          {"hidden", model.hidden},
          {"vocabulary", model.vocabulary},
          {"trained_context", model.trained_context > 0 ? Json(model.trained_context) : Json()},
          {"experts", model.experts},
          {"experts_used", model.experts_used},
          {"parameters", model.parameters()},
          {"weight_bytes", model.weight_bytes()},
          {"weight_bytes_by_type", bytes_by_type(model)},
          {"cache_bytes", cache_of(graph)},
          {"notes", model.notes}};
}

void print_language_model(const language::LanguageModel& model, const Graph& graph) {
  fmt::print("language model of the architecture {}: {} layers of width {}, a vocabulary of {}\n",
             quote(model.architecture), model.layers.size(), model.hidden, model.vocabulary);
  if (model.experts > 0) fmt::print("{} experts, of which a token uses {}\n", model.experts, model.experts_used);
  if (model.trained_context > 0) fmt::print("trained on a context of {} tokens\n", model.trained_context);
  std::string types;
  for (const auto& [type, bytes] : bytes_by_type(model))
    types += fmt::format("{}{} of {}", types.empty() ? "" : ", ", human_bytes(bytes), type);
  fmt::print("weights: {} ({})\nKV cache: {}\n", human_bytes(model.weight_bytes()), types,
             human_bytes(cache_of(graph)));
  for (const std::string& note : model.notes) fmt::print("note: {}\n", printable(note));
  fmt::print("\n");
}

}  // namespace emplace::app
