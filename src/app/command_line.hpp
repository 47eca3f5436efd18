// How a command declares its arguments. CLI11 parses them; only command_line.cpp and the files that iterate over all
// commands include CLI11, because each file that includes it takes many seconds to compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace emplace::app {

// An argument that was declared; its methods set its further properties.
class ArgumentOption {
 public:
  explicit ArgumentOption(CLI::Option* option) : option_(option) {}

  // The name of the value in the help, from which completion also finds the values to offer (complete.cpp): "FILE",
  // "fifo|priority".
  ArgumentOption& type_name(const std::string& name);
  ArgumentOption& required();
  // The option takes one value each time it is given, not all words after it.
  ArgumentOption& one_value();
  // The least and the largest number of values.
  ArgumentOption& values(int least, int most);

  // Checks of the value; a wrong one is refused with a one-sentence message.
  ArgumentOption& not_empty();  // of a file's name
  ArgumentOption& at_least(std::int64_t least);
  ArgumentOption& within(std::int64_t least, std::int64_t most);

 private:
  CLI::Option* option_;
};

// One command's arguments. `names`: "--seconds", "-o,--output", or "problem" for a positional one. The variables are
// set when the command line is parsed.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& command) : command_(&command) {}

  ArgumentOption add_option(const std::string& names, std::string& value, const std::string& help);
  ArgumentOption add_option(const std::string& names, std::vector<std::string>& value, const std::string& help);
  ArgumentOption add_option(const std::string& names, double& value, const std::string& help);
  ArgumentOption add_option(const std::string& names, std::optional<double>& value, const std::string& help);
  ArgumentOption add_option(const std::string& names, std::int64_t& value, const std::string& help);
  ArgumentOption add_option(const std::string& names, std::optional<std::int64_t>& value, const std::string& help);
  ArgumentOption add_option(const std::string& names, std::uint64_t& value, const std::string& help);
  ArgumentOption add_option(const std::string& names, std::optional<std::uint64_t>& value, const std::string& help);
  void add_flag(const std::string& names, bool& value, const std::string& help);
  // Text below the list of arguments in the help, above that of the whole program.
  void footer(const std::string& text);

  // The whole program, of which this is a command.
  [[nodiscard]] const CLI::App& program() const;

 private:
  CLI::App* command_;
};

// The type name of a declared option as it was given: "step|pipeline".
std::string value_type(const CLI::Option& option);

}  // namespace emplace::app
