// The rules of this program (R1-R6), with an option for every switch, to see what a single one changes.
#include <algorithm>
#include <iterator>

#include "emplace/base/error.hpp"
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct PlainOptions {
  std::string fan_out = "dest";
  std::string channels = "problem";
  std::string latency = "path";
  double gap_us = 0;
  std::string control = "zero";
  std::string memory = "plain";
  std::string reported = "op";
  std::string repeated = "all";
};

// Names in the order of the enumerators.
const std::vector<std::string> fan_outs{"broadcast", "dest", "edge"};
const std::vector<std::string> scopes{"problem", "none", "egress", "pair", "shared"};
const std::vector<std::string> latencies{"path", "channel", "off"};
const std::vector<std::string> controls{"none", "zero", "4-bytes", "full"};
const std::vector<std::string> memories{"none", "static", "plain", "without-copies", "placeto"};
const std::vector<std::string> times{"op", "event"};
const std::vector<std::string> repeats{"all", "last"};

void describe(PlainOptions& o, OptionVisitor& visit) {
  visit("fan_out", o.fan_out,
        {.choices = fan_outs, .help = "One transfer per tensor, per tensor and device, or per edge."});
  visit("channels", o.channels, {.choices = scopes, .help = "Which transfers cannot run at the same time."});
  visit("latency", o.latency,
        {.choices = latencies, .help = "Whether receivers wait for the latency, or only channels do."});
  visit(
      "gap_us", o.gap_us,
      {.min = 0, .max = 1e9, .unit = "us", .help = "How long a device stays idle after each op whose cost is not 0."});
  visit("control", o.control, {.choices = controls, .help = "How a tensor of 0 bytes is sent."});
  visit("memory", o.memory, {.choices = memories, .help = "Which bytes are counted, and for how long."});
  visit("reported", o.reported,
        {.choices = times,
         .help = "Which time is reported as the step time: the end of the last op, or the last event."});
  visit("repeated", o.repeated,
        {.choices = repeats, .help = "If there are several tensors between two ops, which of them are sent."});
}

template <class Enum>
Enum enumerator(const std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  EMPLACE_CHECK(at != names.end());
  return static_cast<Enum>(std::distance(names.begin(), at));
}

Switches plain(const PlainOptions& o, Schedule schedule) {
  return {.fan_out = enumerator<FanOut>(fan_outs, o.fan_out),
          .channels = enumerator<ChannelScope>(scopes, o.channels),
          .latency = enumerator<LatencyIn>(latencies, o.latency),
          .gap_s = o.gap_us * 1e-6,
          .ready = ready_order_of(schedule),
          .control = enumerator<ControlEdge>(controls, o.control),
          .memory = enumerator<MemoryModel>(memories, o.memory),
          .reported = enumerator<ReportedTime>(times, o.reported),
          .repeated = enumerator<RepeatedProducer>(repeats, o.repeated)};
}

}  // namespace

SimulatorEntry plain_simulator() {
  SimulatorEntry entry = switched_entry(plain);
  entry.name = "plain";
  entry.summary = "The rules of this program; each option turns one of its choices into that of another simulator.";
  entry.reference = "";
  entry.schedules = {Schedule::fifo, Schedule::priority, Schedule::in_order};
  return entry;
}

}  // namespace emplace::simulate
