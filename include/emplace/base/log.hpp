// Messages for people on standard error, through spdlog behind a narrow door. Libraries warn; they never print results.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace emplace {

namespace log {
enum class Level { debug, info, warning, error, off };

// Only rank 0 speaks, except for errors. Colours only when standard error is a terminal.
void configure(Level level, bool quiet_rank);
// Adds a copy of every message to a file (the run folder's log.txt); an empty path closes it.
void to_file(const std::string& path);
void write(Level level, const std::string& message);
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
