// Language models as published: the numbers of their config.json.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "language/language_model.hpp"

namespace emplace::zoo {

struct LanguagePreset {
  const char* family;      // the zoo's name
  const char* size;        // the option `size`
  const char* source;      // huggingface.co/SOURCE/config.json
  const char* model_type;  // of transformers
  int layers, hidden, inner, heads, kv_heads, head, vocabulary, context;
  const char* more = "";  // further members of the file
};

std::span<const LanguagePreset> language_presets();
// The members that decide about sizes, as its config.json has them.
std::string config_of(const LanguagePreset& preset);

// The model of "llama?size=70b&type=Q4_K". InputError, which begins with `place`, for unknown names and for options of
// a step.
language::LanguageModel zoo_language_model(std::string_view specification, const std::string& place);

}  // namespace emplace::zoo
