#include "base/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::log {

namespace {

class Sinks {
 public:
  explicit Sinks(std::shared_ptr<spdlog::logger> screen_logger) : screen(std::move(screen_logger)) {}

  const std::shared_ptr<spdlog::logger> screen;

  [[nodiscard]] std::shared_ptr<spdlog::logger> file() {
    const std::lock_guard lock(mutex_);
    return file_;
  }
  void set_file(std::shared_ptr<spdlog::logger> file) {
    const std::lock_guard lock(mutex_);
    file_.swap(file);
  }
  [[nodiscard]] bool is_new(const std::string& message) {
    const std::lock_guard lock(mutex_);
    return written_once_.insert(message).second;
  }

 private:
  std::mutex mutex_;  // other threads may log while to_file() is called
  std::shared_ptr<spdlog::logger> file_;
  std::set<std::string> written_once_;
};

Sinks& sinks() {
  static Sinks instance{[] {
    auto screen = std::make_shared<spdlog::logger>("emplace", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    screen->set_pattern("%^%l%$: %v");
    screen->set_error_handler([](const std::string&) {});  // standard error is closed: there is nowhere to say it
    return screen;
  }()};
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
  sinks().set_file(nullptr);
  if (path.empty()) return;
  std::shared_ptr<spdlog::logger> file;
  try {
    file = std::make_shared<spdlog::logger>("file", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
  } catch (const spdlog::spdlog_ex& error) {
    throw EnvironmentError("{}: cannot be written: {}", path, error.what());
  }
  // A full disk: said once. Without a handler spdlog prints a line of its own for it.
  file->set_error_handler([path, said = false](const std::string& why) mutable {
    if (!std::exchange(said, true))
      sinks().screen->warn("{}", printable(fmt::format("{}: cannot be written: {}", path, why)));
  });
  file->set_pattern("%Y-%m-%d %H:%M:%S %l: %v");
  file->set_level(spdlog::level::debug);
  file->flush_on(spdlog::level::debug);
  sinks().set_file(std::move(file));
}

void write(Level level, const std::string& raw) {
  const std::string message = printable(raw);  // it may quote names from files and command lines
  sinks().screen->log(level_of(level), message);
  if (const auto file = sinks().file()) file->log(level_of(level), message);
}

void write_once(Level level, const std::string& raw) {
  if (sinks().is_new(raw)) {
    write(level, raw);
  } else if (const auto file = sinks().file()) {
    file->log(level_of(level), printable(raw));
  }
}

bool on_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace emplace::log
