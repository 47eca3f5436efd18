// Placeto's simulator: one outgoing channel per device, one transfer per tensor for all devices, constants fitted to
// EC2 p2.8xlarge. Addanki et al., NeurIPS 2019, and its released code.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct PlacetoOptions {
  double gap_us = 5.7;
  double channel_gap_us = 25;
  double bytes_per_us = 7600;
  bool gap_after_zero_cost = false;
};

void describe(PlacetoOptions& o, OptionVisitor& visit) {
  visit(
      "gap_us", o.gap_us,
      {.min = 0, .max = 1e9, .unit = "us", .help = "How long a device stays idle after each op whose cost is not 0."});
  visit("channel_gap_us", o.channel_gap_us,
        {.min = 0, .max = 1e9, .unit = "us", .help = "How long a channel stays idle after each transfer."});
  visit("bytes_per_us", o.bytes_per_us,
        {.min = 0, .above_min = true, .unit = "bytes/us", .help = "Bandwidth of every device's outgoing channel."});
  visit("gap_after_zero_cost", o.gap_after_zero_cost,
        {.help =
             "Whether the device also stays idle after ops of cost 0, as in the original for costs that are floats."});
}

Switches placeto(const PlacetoOptions& o, Schedule) {
  return {.fan_out = FanOut::broadcast,
          .channels = ChannelScope::egress,
          .latency = LatencyIn::channel,
          .gap_s = o.gap_us * 1e-6,
          .gap_after_zero_cost = o.gap_after_zero_cost,
          .control = ControlEdge::full,
          .memory = MemoryModel::placeto,
          .reported = ReportedTime::event,
          .repeated = RepeatedProducer::last,
          .rates = FixedRates{.latency_s = o.channel_gap_us * 1e-6, .bytes_per_s = o.bytes_per_us * 1e6},
          .instant_zeros = true};
}

}  // namespace

SimulatorEntry placeto_simulator() {
  SimulatorEntry entry = switched_entry(placeto);
  entry.name = "placeto";
  entry.summary = "One transfer per tensor over one outgoing channel per device, gaps after ops and transfers.";
  entry.reference = "Addanki et al. 2019 (Placeto)";
  entry.schedules = {Schedule::fifo};
  return entry;
}

}  // namespace emplace::simulate
