// What may stand at the end of a command line that is being typed.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace emplace::app {

struct Candidate {
  std::string text;  // the whole word
  std::string says;  // one sentence; "" where there is none
};

struct Completion {
  std::vector<Candidate> candidates;
  // What of the word is the beginning of a file's name, where files may stand there too.
  std::optional<std::string> file = {};
};

// `words`: those after the program's name; the last one is being typed and may be empty. Never throws for words that
// make no sense: it then knows nothing.
Completion complete(const CLI::App& program, std::span<const std::string> words);

}  // namespace emplace::app
