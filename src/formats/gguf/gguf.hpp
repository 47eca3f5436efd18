// The GGUF reader's entry (listed in builtin.cpp), and the language model that a file describes.
#pragma once

#include <string>

#include "emplace/formats/reader.hpp"
#include "language/language_model.hpp"

namespace emplace::formats {

// Reads the header of a GGUF file, or of all parts of a model that llama.cpp split ("NAME-00001-of-00003.gguf"; any
// part names the model). InputError for damaged files, missing parts, and models that are no transformers with
// attention in every layer.
language::LanguageModel read_gguf(const std::string& path);

}  // namespace emplace::formats
