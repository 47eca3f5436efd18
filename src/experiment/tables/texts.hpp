// The texts of configs/tables and configs/recipes, embedded at build time, so an installed program needs no files.
#pragma once

#include <span>

namespace emplace::experiment {

struct NamedText {
  const char* name;  // of the file, without extension
  const char* toml;
};
std::span<const NamedText> table_texts();
std::span<const NamedText> recipe_texts();

}  // namespace emplace::experiment
