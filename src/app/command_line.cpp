#include "app/command_line.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/text.hpp"

namespace emplace::app {

namespace {

// Used instead of CLI11's own check, whose message prints the largest double with 309 digits.
CLI::Validator least_number(std::int64_t least) {
  return {[least](const std::string& text) {
            double number = 0;  // text that is not a number is refused later, when it is parsed
            return parse_number(text, number) && number < static_cast<double>(least)
                       ? fmt::format("should be at least {}, found {}", least, text)
                       : std::string();
          },
          least == 0 ? "NONNEGATIVE" : "POSITIVE"};
}

std::string empty_name(const std::string& text) { return text.empty() ? "a file's name must not be empty" : ""; }

}  // namespace

ArgumentOption& ArgumentOption::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

ArgumentOption& ArgumentOption::required() {
  option_->required();
  return *this;
}

ArgumentOption& ArgumentOption::one_value() {
  option_->allow_extra_args(false);
  return *this;
}

ArgumentOption& ArgumentOption::values(int least, int most) {
  option_->expected(least, most);
  return *this;
}

ArgumentOption& ArgumentOption::not_empty() {
  option_->check(empty_name);
  return *this;
}

ArgumentOption& ArgumentOption::at_least(std::int64_t least) {
  option_->check(least_number(least));
  return *this;
}

ArgumentOption& ArgumentOption::within(std::int64_t least, std::int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

ArgumentOption CommandLine::add_option(const std::string& names, std::string& value, const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}
ArgumentOption CommandLine::add_option(const std::string& names, std::vector<std::string>& value,
                                       const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}
ArgumentOption CommandLine::add_option(const std::string& names, double& value, const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}
ArgumentOption CommandLine::add_option(const std::string& names, std::optional<double>& value,
                                       const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}
ArgumentOption CommandLine::add_option(const std::string& names, std::int64_t& value, const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}
ArgumentOption CommandLine::add_option(const std::string& names, std::optional<std::int64_t>& value,
                                       const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}
ArgumentOption CommandLine::add_option(const std::string& names, std::uint64_t& value, const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}
ArgumentOption CommandLine::add_option(const std::string& names, std::optional<std::uint64_t>& value,
                                       const std::string& help) {
  return ArgumentOption(command_->add_option(names, value, help));
}

void CommandLine::add_flag(const std::string& names, bool& value, const std::string& help) {
  command_->add_flag(names, value, help);
}

void CommandLine::footer(const std::string& text) { command_->footer(text + "\n\n" + program().get_footer()); }

const CLI::App& CommandLine::program() const { return *command_->get_parent(); }

std::string value_type(const CLI::Option& option) {
  // CLI11 adds a colon and the names of the option's checks: "step|pipeline:CHECK".
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

}  // namespace emplace::app
