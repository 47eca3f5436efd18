// What `emplace inspect` says of a language model beside its graph.
#pragma once

#include <optional>
#include <string>

#include "app/result_json.hpp"
#include "emplace/graph/graph.hpp"
#include "language/language_model.hpp"

namespace emplace::app {

// Nothing if the source, which load_graph has read, is no file of a language model.
std::optional<language::LanguageModel> language_model_of(const std::string& source);
// `graph`: of the model, for the size of its KV cache.
Json language_json(const language::LanguageModel& model, const Graph& graph);
void print_language_model(const language::LanguageModel& model, const Graph& graph);

}  // namespace emplace::app
