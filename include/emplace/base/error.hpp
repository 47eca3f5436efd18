// The types of errors, by their cause: the user's input, the environment, or a bug of the program.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace emplace {

// Exit codes of the program. Other programs rely on them, so they must not change.
enum class ExitCode : int { done = 0, failure = 1, bad_input = 2, infeasible = 3, interrupted = 75 };

// Bad usage or bad input. The message names the place (file, line or field), what was found and what was expected.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : std::runtime_error(message) {}

  template <class... Args>
  InputError(std::string_view place, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(with_place(place, fmt::format(format, std::forward<Args>(args)...))) {}

 private:
  static std::string with_place(std::string_view place, const std::string& what) {
    return place.empty() ? what : fmt::format("{}: {}", place, what);
  }
};

// A failure of the machine, the file system or another process.
class EnvironmentError : public std::runtime_error {
 public:
  template <class... Args>
  explicit EnvironmentError(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

// A broken invariant of the program itself.
class BugError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& detail = {});

}  // namespace emplace

// Checks an invariant of the program in every build type and throws BugError; to check input, use InputError.
#define EMPLACE_CHECK(condition, ...)                                                               \
  do {                                                                                              \
    if (!(condition)) [[unlikely]]                                                                  \
      ::emplace::fail_check(#condition, __FILE__, __LINE__ __VA_OPT__(, fmt::format(__VA_ARGS__))); \
  } while (false)
