// QuickP's simulator: one transfer per edge at the pair's cost per byte, no latency, no waiting for channels.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct QuickpOptions {};
void describe(QuickpOptions&, OptionVisitor&) {}

Switches quickp(const QuickpOptions&, Schedule schedule) {
  return {.fan_out = FanOut::edge,
          .channels = ChannelScope::none,
          .latency = LatencyIn::off,
          .ready = ready_order_of(schedule),
          .memory = MemoryModel::none};
}

}  // namespace

SimulatorEntry quickp_simulator() {
  SimulatorEntry entry = switched_entry(quickp);
  entry.name = "quickp";
  entry.summary = "One transfer per edge at the pair's bandwidth without latency, no contention, no memory.";
  entry.reference = "QuickP, ICC 2025";
  entry.schedules = {Schedule::fifo, Schedule::priority};
  return entry;
}

}  // namespace emplace::simulate
