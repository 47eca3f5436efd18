// Parses a trace of torch.profiler (export_chrome_trace), which Kineto writes. Events of category "cpu_op" are calls of
// ATen ops, which contain the ops that they call; "user_annotation" are ranges of record_function. Times are of calls
// that no other op made.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "cost/repeated_times.hpp"
#include "cost/trace_events.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

// An interval on one thread.
struct Span {
  double start_us, end_us;
  std::string name;
  bool is_op;  // else a range
};

bool is_step(const Span& span) { return !span.is_op && span.name.starts_with("ProfilerStep#"); }

class Thread {
 public:
  Thread(std::vector<Span>& spans, RepeatedTimes& times, const std::string& file)
      : spans_(spans), times_(times), file_(file) {
    // A range before the op that starts with it: the longer one first.
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.start_us < b.start_us || (a.start_us == b.start_us && a.end_us > b.end_us);
    });
  }

  void take() {
    for (const Span& span : spans_) {
      while (!open_.empty() && open_.back().span->end_us <= span.start_us) close();
      if (is_step(span)) {
        calls_.clear();
        times_.add_run(1e-6 * (span.end_us - span.start_us));
      }
      const bool inside_op = open_ops_ > 0;
      if (span.is_op && !inside_op) add_call(span);
      if (!span.is_op && !inside_op && !open_.empty()) open_.back().is_node = false;
      open_.push_back({&span, -1, !span.is_op && !inside_op && !is_step(span) && !span.name.empty()});
      open_ops_ += span.is_op ? 1 : 0;
    }
    while (!open_.empty()) close();
  }

 private:
  struct Open {
    const Span* span;
    double ops_us;  // of the ops in the range; -1: there is none
    bool is_node;   // a range of the graph's node: there is no other range inside it
  };

  // The call counts for the range around it; without a range it has the name that torch.export gives to the n-th call
  // of an op: linear, linear_1, linear_2.
  void add_call(const Span& op) {
    const double duration_us = op.end_us - op.start_us;
    if (!open_.empty() && !is_step(*open_.back().span)) {
      open_.back().ops_us = std::max(open_.back().ops_us, 0.0) + duration_us;
      return;
    }
    const std::size_t colons = op.name.rfind("::");
    std::string name = colons == std::string::npos ? op.name : op.name.substr(colons + 2);
    if (name.empty()) return;
    if (const std::size_t call = calls_[name]++; call > 0) name += fmt::format("_{}", call);
    times_.add(name, "", 1e-6 * duration_us, file_);
  }

  void close() {
    const Open closed = open_.back();
    open_.pop_back();
    open_ops_ -= closed.span->is_op ? 1 : 0;
    if (closed.is_node && closed.ops_us >= 0) times_.add(closed.span->name, "", 1e-6 * closed.ops_us, file_);
  }

  std::vector<Span>& spans_;
  RepeatedTimes& times_;
  const std::string& file_;
  std::vector<Open> open_;
  std::size_t open_ops_ = 0;
  std::unordered_map<std::string, std::size_t> calls_;  // of each op in this step
};

}  // namespace

void parse_pytorch_trace(std::string_view text, Profile& profile) {
  profile.devices = {""};
  profile.whole_run = true;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Span>> threads;
  std::size_t kernels = 0;
  for_each_event(text, profile.file, [&](TraceEvent&& event, const std::string& place) {
    if (event.category == "kernel") ++kernels;
    const bool is_op = event.category == "cpu_op";
    if (event.phase != "X" || (!is_op && event.category != "user_annotation")) return true;
    if (!(std::abs(event.start_us) <= 1e18) || !(event.duration_us >= 0 && event.duration_us * 1e-6 <= longest_op_s))
      throw InputError(place, "op {} needs \"ts\" and \"dur\", microseconds up to {:g}", quote(event.name),
                       longest_op_s * 1e6);
    threads[{event.process, event.thread}].push_back(
        {event.start_us, event.start_us + event.duration_us, std::move(event.name), is_op});
    return true;
  });
  if (kernels > 0)
    throw InputError(profile.file,
                     "the trace has {} kernels of a GPU, which run apart from the ops that launch them; only traces of "
                     "a CPU are read",
                     kernels);
  RepeatedTimes times(profile);
  for (auto& [thread, spans] : threads) Thread(spans, times, profile.file).take();
  times.finish();
}

}  // namespace emplace::cost
