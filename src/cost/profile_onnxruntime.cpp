// Parses ONNX Runtime's profiling file (session.end_profiling()): a Chrome trace whose events of category "Node" are
// kernels.
#include <fmt/core.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kernel_suffix = "_kernel_time";
constexpr std::size_t deepest = 64;

// Reads the file event by event; only the needed fields of an event are kept.
class Events final : public nlohmann::json_sax<Json> {
 public:
  explicit Events(Profile& profile) : profile_(profile) { profile_.devices = {""}; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t v) override { return number(static_cast<double>(v)); }
  bool number_unsigned(number_unsigned_t v) override { return number(static_cast<double>(v)); }
  bool number_float(number_float_t v, const string_t&) override { return number(v); }
  bool string(string_t& v) override {
    if (depth_ == 2 && key_ == "cat")
      event_.category = std::move(v);
    else if (depth_ == 2 && key_ == "name")
      event_.name = std::move(v);
    else if (in_args() && key_ == "op_name")
      event_.type = std::move(v);
    else if (in_args() && key_ == "provider")
      event_.provider = std::move(v);
    return value();
  }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override {
    if (depth_ == 0)
      throw InputError(profile_.file, "a profile of ONNX Runtime is an array of events, found an object");
    if (depth_ == 1) event_ = {};
    if (depth_ == 2) inside_ = key_;
    return deeper();
  }
  bool end_object() override {
    if (--depth_ == 1) {
      take();
      ++count_;
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 1) throw InputError(place(), "an event is an object, found an array");
    if (depth_ == 2) inside_.clear();
    return deeper();
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // nlohmann's text has line and column after a tag: "[json.exception...] parse error at line 1, ...".
    std::string_view what = error.what();
    if (const std::size_t tag = what.find("] "); tag != std::string_view::npos) what.remove_prefix(tag + 2);
    throw InputError(profile_.file, "not a JSON file: {}", quote(what));
  }

  void finish() {
    if (unnamed_ > 0)
      profile_.warnings.push_back(fmt::format("{}: {} kernel times do not name an op", profile_.file, unnamed_));
    if (providers_.size() > 1) {
      std::vector<std::string> names;
      constexpr std::size_t shown = 5;
      for (const auto& [name, count] : providers_)
        if (names.size() < shown) names.push_back(fmt::format("{} ({})", quote(name), count));
      profile_.warnings.push_back(
          fmt::format("{}: kernels of several execution providers are counted as one device's: {}", profile_.file,
                      join(names, ", ")));
    }
  }

 private:
  struct Event {
    std::string category, name, type, provider;
    double microseconds = -1;
    bool timed = false;
  };

  [[nodiscard]] std::string place() const { return fmt::format("{}: event {}", profile_.file, count_); }
  [[nodiscard]] bool in_args() const { return depth_ == 3 && inside_ == "args"; }
  bool value() {
    if (depth_ == 0) throw InputError(profile_.file, "a profile of ONNX Runtime is an array of events");
    if (depth_ == 1) throw InputError(place(), "an event is an object");
    return true;
  }
  bool number(double v) {
    if (depth_ == 2 && key_ == "dur") {
      event_.microseconds = v;
      event_.timed = true;
    }
    return value();
  }
  bool deeper() {
    if (++depth_ > deepest) throw InputError(place(), "nested more than {} deep", deepest);
    return true;
  }

  void take() {
    if (event_.category == "Session" && event_.name == "model_run" && event_.timed &&
        event_.microseconds * 1e-6 <= longest_op_s && event_.microseconds > 0)
      profile_.run_s = std::fmin(profile_.run_s, event_.microseconds * 1e-6);
    if (event_.category != "Node" || !event_.name.ends_with(kernel_suffix)) return;
    if (!event_.timed || !(event_.microseconds >= 0) || !(event_.microseconds * 1e-6 <= longest_op_s))
      throw InputError(place(), "kernel {} needs \"dur\", microseconds from 0 to {:g}", quote(event_.name),
                       longest_op_s * 1e6);
    std::string op = event_.name.substr(0, event_.name.size() - kernel_suffix.size());
    if (op.empty()) {
      ++unnamed_;
      return;
    }
    ++providers_[event_.provider];
    const double seconds = event_.microseconds * 1e-6;
    const auto [at, fresh] = row_of_.emplace(op, profile_.rows.size());
    if (!fresh) {
      double& shortest = profile_.rows[at->second].seconds.front();
      shortest = std::min(shortest, seconds);
      return;
    }
    if (profile_.rows.size() == most_rows) throw InputError(place(), "more than {} ops", most_rows);
    profile_.rows.push_back({std::move(op), std::move(event_.type), {seconds}, 0});
  }

  Profile& profile_;
  Event event_;
  std::string key_, inside_;
  std::size_t depth_ = 0, count_ = 0, unnamed_ = 0;
  std::unordered_map<std::string, std::size_t> row_of_;
  std::map<std::string, std::size_t> providers_;
};

}  // namespace

void parse_onnxruntime_profile(std::string_view text, Profile& profile) {
  Events events(profile);
  Json::sax_parse(text, &events);
  events.finish();
}

}  // namespace emplace::cost
