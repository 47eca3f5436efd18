// Models of Hugging Face: config.json, and the sizes in the headers of *.safetensors files beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/architecture.hpp"

namespace emplace::formats {

// Whether the beginning of a file is that of a config.json.
bool is_model_config(const std::string& path, std::string_view head);

// The numbers of a config.json of a known family. `notes` gets what was assumed. InputError for unknown families, and
// for keys that are missing or contradict each other.
language::Architecture read_model_config(const std::string& path, std::vector<std::string>& notes);
// The same of the text of a config.json; `path` names it in messages and the model.
language::Architecture model_config(std::string_view text, const std::string& path, std::vector<std::string>& notes);

// The model that a config.json describes. Weights have the sizes that the files beside it store, if there are any.
language::LanguageModel read_huggingface(const std::string& path);

}  // namespace emplace::formats
