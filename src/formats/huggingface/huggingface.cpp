#include "formats/huggingface/huggingface.hpp"

#include "formats/huggingface/stored_sizes.hpp"

namespace emplace::formats {

language::LanguageModel read_huggingface(const std::string& path) {
  std::vector<std::string> notes;
  const language::Architecture architecture = read_model_config(path, notes);
  language::LanguageModel model = language::make_language_model(architecture, path);
  model.notes = std::move(notes);
  take_stored_sizes(path, model);
  return model;
}

}  // namespace emplace::formats
