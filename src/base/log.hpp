// Log messages on standard error. spdlog is used in log.cpp only. Library code may log, but never prints results.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace emplace {

namespace log {
enum class Level { debug, info, warning, error, off };

// Sets the lowest level that is printed; a quiet rank (all but rank 0) prints errors only. Colours are used only when
// standard error is a terminal.
void configure(Level level, bool quiet_rank);
// Prints a message, with control characters and bytes that are not UTF-8 escaped (printable()).
void write(Level level, const std::string& message);
// Like write(), but standard error gets each message once; the file of to_file() gets it in any case. For what one
// process may have to say of many trainings.
void write_once(Level level, const std::string& message);
// From now on also writes every message to a file (the run folder's log.txt); an empty path ends this.
// If the file cannot be written any more, that is said once.
void to_file(const std::string& path);
[[nodiscard]] bool on_terminal();
}  // namespace log

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log::write(log::Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log::write(log::Level::warning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace emplace
