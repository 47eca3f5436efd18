// Baechi's simulator: one channel per device for sending and receiving; a transfer takes a x bytes + b.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct BaechiOptions {
  double us_per_byte = 0.0001754;
  double latency_us = 134;
};

void describe(BaechiOptions& o, OptionVisitor& visit) {
  visit("us_per_byte", o.us_per_byte,
        {.min = 0, .above_min = true, .unit = "us/byte", .help = "The factor a of a transfer's time a x bytes + b."});
  visit("latency_us", o.latency_us,
        {.min = 0, .max = 1e9, .unit = "us", .help = "The constant b of a transfer's time a x bytes + b."});
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
  entry.summary = "One channel per device for both directions, transfers of a x bytes + b, no copies at receivers.";
  entry.reference = "Jeon et al. 2020 (Baechi)";
  entry.schedules = {Schedule::fifo};
  return entry;
}

}  // namespace emplace::simulate
