// The scripts that shells load to complete command lines; `emplace completion` prints them.
#pragma once

#include <span>

namespace emplace::app {

struct ShellText {
  const char* name;  // "emplace.bash"
  const char* text;
};

std::span<const ShellText> shell_texts();

}  // namespace emplace::app
