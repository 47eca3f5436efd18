// Baechi's simulator: one channel a device, sending and receiving; a transfer takes a x bytes + b.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct BaechiOptions {
  double us_per_byte = 0.0001754;
  double latency_us = 134;
};

void describe(BaechiOptions& o, OptionVisitor& visit) {
  visit("us_per_byte", o.us_per_byte,
        {.min = 0, .above_min = true, .unit = "us/byte", .help = "a of a transfer's time a x bytes + b."});
  visit("latency_us", o.latency_us,
        {.min = 0, .max = 1e9, .unit = "us", .help = "b of a transfer's time a x bytes + b."});
}

Switches baechi(const BaechiOptions& o, Schedule) {
  return {.fan_out = FanOut::dest,
          .channels = ChannelScope::shared,
          .latency = LatencyIn::path,
          .memory = MemoryModel::without_copies,
          .rates = FixedRates{.latency_s = o.latency_us * 1e-6, .bytes_per_s = 1e6 / o.us_per_byte}};
}

}  // namespace

SimulatorEntry baechi_simulator() {
  SimulatorEntry entry = switched_entry(baechi);
  entry.name = "baechi";
  entry.summary = "One channel a device for both directions, a x bytes + b a transfer, no copies at receivers.";
  entry.reference = "Jeon et al. 2020 (Baechi)";
  entry.schedules = {Schedule::fifo};
  return entry;
}

}  // namespace emplace::simulate
