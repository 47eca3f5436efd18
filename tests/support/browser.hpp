// A headless Chromium for tests of pages: loads a file, runs JavaScript in it, moves the mouse, takes pictures. It is
// driven over --remote-debugging-pipe: JSON messages that end in a NUL, to its file 3 and from its file 4.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace emplace::test {

// Path of the browser; empty if it is not installed.
inline std::optional<std::string> find_browser() {
  const char* path = std::getenv("PATH");
  std::string folder;
  for (const char* c = path != nullptr ? path : "";; ++c) {
    if (*c != ':' && *c != '\0') {
      folder += *c;
      continue;
    }
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
    folder.clear();
    if (*c == '\0') return std::nullopt;
  }
}

// Ignores SIGPIPE while it exists, so that writing to a process that died returns an error.
class IgnoredPipeSignal {
 public:
  IgnoredPipeSignal() : before_(::signal(SIGPIPE, SIG_IGN)) {}
  IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;
  ~IgnoredPipeSignal() { ::signal(SIGPIPE, before_); }

 private:
  void (*before_)(int);
};

class Browser {
 public:
  using Json = nlohmann::json;

  explicit Browser(const std::string& program, int width = 1280, int height = 900) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    const std::string profile = "--user-data-dir=" + folder_.path();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      ::setpgid(0, 0);
      ::signal(SIGPIPE, SIG_DFL);
      // First copied to higher numbers: the pipes may have the numbers 3 and 4 themselves.
      const int read_end = ::fcntl(to[0], F_DUPFD, 10), write_end = ::fcntl(from[1], F_DUPFD, 10);
      ::dup2(read_end, 3);
      ::dup2(write_end, 4);
      const int null = ::open("/dev/null", O_RDWR);
      for (const int fd : {0, 1, 2}) ::dup2(null, fd);
      ::execl(program.c_str(), program.c_str(), "--headless", "--no-sandbox", "--disable-gpu",
              "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
              profile.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
    const Json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}}).at("sessionId");
    for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"}) call(domain);
    size(width, height);
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser() {
    ::close(to_);
    ::close(from_);
    end();
  }
  void end() {
    if (pid_ < 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  // Exceptions of the page, errors that the browser reported, and requests for anything but the file itself.
  std::vector<std::string> complaints;

  Json call(const std::string& method, const Json& parameters = Json::object()) {
    Json message = {{"id", ++last_id_}, {"method", method}, {"params", parameters}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump() + '\0';
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t wrote = ::write(to_, text.data() + sent, text.size() - sent);
      if (wrote <= 0) throw std::runtime_error("the browser does not read");
      sent += static_cast<std::size_t>(wrote);
    }
    while (true) {
      const Json answer = receive();
      if (answer.value("id", 0) != last_id_) continue;
      if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
      return answer.at("result");
    }
  }

  void load(const std::string& file) {
    loaded_ = false;
    url_ = "file://" + std::filesystem::absolute(file).string();
    call("Page.navigate", {{"url", url_}});
    while (!loaded_) receive();
    settle();
  }
  void size(int width, int height) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
    settle();
  }
  // media: "" or "print"; scheme: "light" or "dark".
  void look(const std::string& media, const std::string& scheme) {
    call("Emulation.setEmulatedMedia",
         {{"media", media}, {"features", Json::array({{{"name", "prefers-color-scheme"}, {"value", scheme}}})}});
    settle();
  }

  // The value of a JavaScript expression; std::runtime_error with its message if it throws.
  Json evaluate(const std::string& expression) {
    const Json done =
        call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
    if (done.contains("exceptionDetails"))
      throw std::runtime_error(expression + ": " + done["exceptionDetails"].dump());
    return done.at("result").value("value", Json());
  }
  // Waits for two frames, after which everything that depends on sizes is drawn again.
  void settle() {
    if (session_.empty() || url_.empty()) return;
    evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))");
  }

  // The mouse at (x, y) of the window, in pixels: type is mouseMoved, mousePressed or mouseReleased.
  void mouse(const char* type, double x, double y, bool held = false) {
    const bool moved = std::string(type) == "mouseMoved";
    call("Input.dispatchMouseEvent", {{"type", type},
                                      {"x", x},
                                      {"y", y},
                                      {"button", moved && !held ? "none" : "left"},
                                      {"buttons", held || std::string(type) == "mousePressed" ? 1 : 0},
                                      {"clickCount", moved ? 0 : 1}});
  }
  void drag(double x, double from_y, double to_y) {
    mouse("mouseMoved", x, from_y);
    mouse("mousePressed", x, from_y);
    for (int i = 1; i <= 4; ++i) mouse("mouseMoved", x, from_y + (to_y - from_y) * i / 4, true);
    mouse("mouseReleased", x, to_y);
    settle();
  }
  void wheel(double x, double y, double down) {
    call("Input.dispatchMouseEvent", {{"type", "mouseWheel"}, {"x", x}, {"y", y}, {"deltaX", 0}, {"deltaY", down}});
    settle();
  }
  // Presses a key, given by its name in KeyboardEvent.key; `text`: the text that it types.
  void key(const std::string& name, const std::string& text = "") {
    call("Input.dispatchKeyEvent", {{"type", "keyDown"}, {"key", name}, {"text", text}});
    call("Input.dispatchKeyEvent", {{"type", "keyUp"}, {"key", name}});
    settle();
  }
  // Clicks in the middle of the first element that a CSS selector finds.
  void click(const std::string& selector) {
    const Json at = evaluate("(() => { const e = document.querySelector(" + Json(selector).dump() +
                             "); e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
                             " return [b.x + b.width / 2, b.y + b.height / 2]; })()");
    for (const char* type : {"mouseMoved", "mousePressed", "mouseReleased"}) mouse(type, at[0], at[1]);
    settle();
  }

  // The whole page as a PNG, or the part that the window shows. For the whole page the window is enlarged and the mouse
  // moved out of it.
  std::string picture(bool whole = true) {
    Json options = {{"format", "png"}};
    if (whole) {
      const Json size = call("Page.getLayoutMetrics").at("cssContentSize");
      options["captureBeyondViewport"] = true;
      options["clip"] = {{"x", 0}, {"y", 0}, {"width", size["width"]}, {"height", size["height"]}, {"scale", 1}};
    }
    return decode(call("Page.captureScreenshot", options).at("data"));
  }

 private:
  Json receive() {
    std::size_t end = 0;
    while ((end = inbox_.find('\0')) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      pollfd ready{from_, POLLIN, 0};
      if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) throw std::runtime_error("the browser hangs");
      char buffer[65536];
      const ssize_t got = ::read(from_, buffer, sizeof buffer);
      if (got <= 0) throw std::runtime_error("the browser ended");
      inbox_.append(buffer, static_cast<std::size_t>(got));
    }
    const Json message = Json::parse(inbox_.substr(0, end));
    inbox_.erase(0, end + 1);
    note(message);
    return message;
  }

  void note(const Json& message) {
    const std::string method = message.value("method", "");
    if (method == "Page.loadEventFired") loaded_ = true;
    if (method == "Runtime.exceptionThrown") complaints.push_back(message["params"]["exceptionDetails"].dump());
    if (method == "Runtime.consoleAPICalled" && message["params"]["type"] != "log")
      complaints.push_back(message["params"].dump());
    if (method == "Log.entryAdded" && message["params"]["entry"]["level"] == "error")
      complaints.push_back(message["params"]["entry"].dump());
    if (method == "Network.requestWillBeSent" && message["params"]["request"]["url"] != url_)
      complaints.push_back("asks for " + message["params"]["request"]["url"].dump());
  }

  static std::string decode(const std::string& base64) {
    std::string bytes;
    unsigned bits = 0, count = 0;
    for (const char c : base64) {
      const std::size_t digit =
          std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
      if (digit == std::string_view::npos) break;  // padding
      bits = bits << 6U | static_cast<unsigned>(digit);
      count += 6;
      if (count < 8) continue;
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFFU);
    }
    return bytes;
  }

  using Clock = std::chrono::steady_clock;
  TemporaryFolder folder_;
  IgnoredPipeSignal no_signal_;
  Clock::time_point deadline_ = Clock::now() + std::chrono::seconds(120);  // for all calls together
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1, last_id_ = 0;
  std::string inbox_, session_, url_;
  bool loaded_ = false;
};

}  // namespace emplace::test
