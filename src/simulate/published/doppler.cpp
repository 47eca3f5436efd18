// Doppler's simulator: the time of a transfer depends only on its producer, and is the same for all pairs of devices.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct DopplerOptions {
  double transfer_factor = 4;
};

void describe(DopplerOptions& o, OptionVisitor& visit) {
  visit("transfer_factor", o.transfer_factor,
        {.min = 0, .max = 1e6, .help = "A transfer's time divided by that of its producer; 4 in all published files."});
}

Switches doppler(const DopplerOptions& o, Schedule) {
  return {.fan_out = FanOut::edge,
          .channels = ChannelScope::none,
          .latency = LatencyIn::path,
          .memory = MemoryModel::none,
          .reported = ReportedTime::event,
          .rates = ProducerRates{.factor = o.transfer_factor}};
}

}  // namespace

SimulatorEntry doppler_simulator() {
  SimulatorEntry entry = switched_entry(doppler);
  entry.name = "doppler";
  entry.summary = "One transfer per edge, its time a multiple of the producer's, no contention, no memory.";
  entry.reference = "Doppler, ICLR 2026, arXiv 2505.23131";
  entry.schedules = {Schedule::fifo};
  return entry;
}

}  // namespace emplace::simulate
