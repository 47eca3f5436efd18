// Completion of the last word of a command line that is being typed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace emplace::app {

struct Candidate {
  std::string text;  // the whole word
  std::string says;  // one sentence that describes it; may be ""
};

struct Completion {
  std::vector<Candidate> candidates;
  // If a file may be named there too: the part of the word that begins the file's name.
  std::optional<std::string> file = {};
};

// `words` are those after the program's name; the last one is being typed and may be empty. Words that are not a valid
// command line give no candidates, never an exception.
Completion complete(const CLI::App& program, std::span<const std::string> words);

}  // namespace emplace::app
