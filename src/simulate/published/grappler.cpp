// TensorFlow's VirtualScheduler (grappler): last-in first-out ops, no latency, no copies at receivers.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct GrapplerOptions {
  std::string ready = "composite";
  double unknown_bytes_per_s = 12e9;
};

void describe(GrapplerOptions& o, OptionVisitor& visit) {
  visit("ready", o.ready,
        {.choices = {"composite", "fifo"},
         .help = "Order of ready ops: last-in first-out (composite), or first-ready (fifo); transfers are always "
                 "first-ready."});
  visit("unknown_bytes_per_s", o.unknown_bytes_per_s,
        {.min = 0, .above_min = true, .unit = "bytes/s", .help = "Bandwidth between devices that have no route."});
}

Switches grappler(const GrapplerOptions& o, Schedule) {
  return {.fan_out = FanOut::dest,
          .channels = ChannelScope::pair,
          .latency = LatencyIn::off,
          .ready = o.ready == "fifo" ? ReadyOrder::fifo : ReadyOrder::lifo,
          .control = ControlEdge::four,
          .memory = MemoryModel::without_copies,
          .rates = RouteRates{.missing_bytes_per_s = o.unknown_bytes_per_s}};
}

}  // namespace

SimulatorEntry grappler_simulator() {
  SimulatorEntry entry = switched_entry(grappler);
  entry.name = "grappler";
  entry.summary = "Last-in first-out ops, one channel per pair without latency, control edges of 4 bytes.";
  entry.reference = "TensorFlow, grappler/costs/virtual_scheduler";
  return entry;
}

}  // namespace emplace::simulate
