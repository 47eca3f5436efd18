#include "cost/trace_events.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

using Json = nlohmann::json;

// Reads the file event by event; only the needed parts of an event are kept.
class Events final : public nlohmann::json_sax<Json> {
 public:
  using Take = std::function<bool(TraceEvent&&, const std::string&)>;
  Events(const std::string& file, const Take& take) : file_(file), take_(take) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t v) override { return number(static_cast<double>(v)); }
  bool number_unsigned(number_unsigned_t v) override { return number(static_cast<double>(v)); }
  bool number_float(number_float_t v, const string_t&) override { return number(v); }
  bool string(string_t& v) override {
    if (std::string* part = text_of_event()) *part = std::move(v);
    return value();
  }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override {
    if (depth_ == 0) in_object_ = true;
    if (at_event()) event_ = {};
    if (in_event()) inside_ = key_;
    return deeper();
  }
  bool end_object() override {
    --depth_;
    return !at_event() || take_(std::move(event_), place(count_++));
  }
  bool start_array(std::size_t) override {
    if (at_event()) throw InputError(place(count_), "an event is an object, found an array");
    if (in_object_ && depth_ == 1 && key_ == "traceEvents") in_list_ = found_ = true;
    if (depth_ == 0) found_ = true;
    if (in_event()) inside_.clear();
    return deeper();
  }
  bool end_array() override {
    if (--depth_ == 1) in_list_ = false;
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
    throw InputError(file_, "not a JSON file: {}", quote(what));
  }

  void finish() const {
    if (!found_)
      throw InputError(file_, "a trace is an array of events, or an object that has one under \"traceEvents\"");
  }

 private:
  [[nodiscard]] std::string place(std::size_t event) const { return fmt::format("{}: event {}", file_, event); }
  // In the list of events, between two of them.
  [[nodiscard]] bool at_event() const { return in_object_ ? in_list_ && depth_ == 2 : depth_ == 1; }
  [[nodiscard]] bool in_event() const { return in_object_ ? in_list_ && depth_ == 3 : depth_ == 2; }
  [[nodiscard]] bool in_args() const {
    return inside_ == "args" && (in_object_ ? in_list_ && depth_ == 4 : depth_ == 3);
  }

  std::string* text_of_event() {
    if (in_event())
      return key_ == "cat" ? &event_.category : key_ == "name" ? &event_.name : key_ == "ph" ? &event_.phase : nullptr;
    if (!in_args()) return nullptr;
    if (key_ == "op_name") return &event_.args_op_name;
    if (key_ == "provider") return &event_.args_provider;
    if (key_ == "name") return &event_.args_name;
    return key_ == "op" ? &event_.args_op : nullptr;
  }
  bool value() {
    if (depth_ == 0)
      throw InputError(file_, "a trace is an array of events, or an object that has one under \"traceEvents\"");
    if (at_event()) throw InputError(place(count_), "an event is an object");
    return true;
  }
  bool number(double v) {
    if (!in_event()) return value();
    if (key_ == "dur") event_.duration_us = v;
    if (key_ == "ts") event_.start_us = v;
    if (std::abs(v) < 9e15) {
      if (key_ == "pid") event_.process = static_cast<std::int64_t>(v);
      if (key_ == "tid") event_.thread = static_cast<std::int64_t>(v);
    }
    return true;
  }
  bool deeper() {
    constexpr std::size_t deepest = 64;
    if (++depth_ > deepest) throw InputError(place(count_), "nested more than {} deep", deepest);
    return true;
  }

  const std::string& file_;
  const Take& take_;
  TraceEvent event_;
  std::string key_, inside_;  // the last key; the key of the event's part that is being read
  std::size_t depth_ = 0, count_ = 0;
  bool in_object_ = false, in_list_ = false, found_ = false;
};

}  // namespace

void for_each_event(std::string_view text, const std::string& file,
                    const std::function<bool(TraceEvent&& event, const std::string& place)>& take) {
  Events events(file, take);
  if (Json::sax_parse(text, &events)) events.finish();
}

}  // namespace emplace::cost
