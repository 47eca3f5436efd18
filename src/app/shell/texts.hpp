// What shells load to complete command lines; `emplace completion` prints it.
#pragma once

#include <span>

namespace emplace {

struct ShellText {
  const char* name;  // "emplace.bash"
  const char* text;
};

std::span<const ShellText> shell_texts();

}  // namespace emplace
