// What the weights of a model take in its *.safetensors files.
#pragma once

#include <string>

#include "language/language_model.hpp"

namespace emplace::formats {

// Replaces the bytes of the model's weights by those that the files beside `config` store: model.safetensors, or the
// files that model.safetensors.index.json names, of which none or all must be there. Adds notes on what was found.
void take_stored_sizes(const std::string& config, language::LanguageModel& model);

}  // namespace emplace::formats
