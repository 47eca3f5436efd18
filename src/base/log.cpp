#include "base/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>

namespace emplace::log {

namespace {

struct Sinks {
  std::shared_ptr<spdlog::logger> screen;
  std::shared_ptr<spdlog::logger> file;
};

Sinks& sinks() {
  static Sinks instance = [] {
    Sinks made;
    made.screen = std::make_shared<spdlog::logger>("emplace", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made.screen->set_pattern("%^%l%$: %v");
    return made;
  }();
  return instance;
}

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warning: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
    case Level::off: return spdlog::level::off;
  }
  return spdlog::level::off;
}

}  // namespace

void configure(Level level, bool quiet_rank) { sinks().screen->set_level(level_of(quiet_rank ? Level::error : level)); }

void to_file(const std::string& path) {
  sinks().file.reset();
  if (path.empty()) return;
  sinks().file = std::make_shared<spdlog::logger>("file", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
  sinks().file->set_pattern("%Y-%m-%d %H:%M:%S %l: %v");
  sinks().file->set_level(spdlog::level::debug);
  sinks().file->flush_on(spdlog::level::debug);
}

void write(Level level, const std::string& message) {
  sinks().screen->log(level_of(level), message);
  if (sinks().file) sinks().file->log(level_of(level), message);
}

bool on_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace emplace::log
