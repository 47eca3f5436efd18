// The readers of language models: GGUF files and models of Hugging Face. Their options say which step is wanted.
#pragma once

#include <string>

#include "emplace/formats/reader.hpp"
#include "language/language_model.hpp"

namespace emplace::formats {

ReaderEntry gguf_reader();
ReaderEntry huggingface_reader();

// Whether the file, or the folder's config.json, describes a language model, and that model. InputError for other
// files.
bool is_language_model(const std::string& path);
language::LanguageModel read_language_model(const std::string& path);

}  // namespace emplace::formats
