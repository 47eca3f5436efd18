// The files of a model that llama.cpp split.
#pragma once

#include <string>
#include <vector>

namespace emplace::formats {

// The paths of all parts of the model of which `path` is one, by the names that llama-gguf-split gives them; only
// `path` if its name is not of that form.
std::vector<std::string> gguf_parts(const std::string& path);

}  // namespace emplace::formats
