// The texts of configs/tables, embedded at build time, so an installed program needs no files.
#pragma once

#include <span>

namespace emplace::experiment {

struct TableText {
  const char* name;  // of the file, without extension
  const char* toml;
};
std::span<const TableText> table_texts();

}  // namespace emplace::experiment
