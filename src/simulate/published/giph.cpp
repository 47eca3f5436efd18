// GiPH's simulator: one transfer per edge with the pair's delay and rate, no waiting for channels, noisy op times.
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

struct GiphOptions {
  std::string noise = "none";
  double noise_level = 0.1;
  std::int64_t seed = 0;
};

void describe(GiphOptions& o, OptionVisitor& visit) {
  visit("noise", o.noise, {.choices = {"none", "uniform", "normal"}, .help = "Random factor on the time of each op."});
  visit("noise_level", o.noise_level,
        {.min = 0, .max = 1, .help = "Uniform: largest deviation from 1; normal: standard deviation."});
  visit("seed", o.seed, {.min = 0, .help = "Seed of the noise; each op has a stream of its own."});
}

Switches giph(const GiphOptions& o, Schedule) {
  return {.fan_out = FanOut::edge,
          .channels = ChannelScope::none,
          .latency = LatencyIn::path,
          .memory = MemoryModel::none,
          .reported = ReportedTime::event,
          .noise = o.noise == "uniform"  ? Noise::uniform
                   : o.noise == "normal" ? Noise::normal
                                         : Noise::none,
          .noise_level = o.noise_level,
          .noise_seed = static_cast<std::uint64_t>(o.seed)};
}

}  // namespace

SimulatorEntry giph_simulator() {
  SimulatorEntry entry = switched_entry(giph);
  entry.name = "giph";
  entry.summary = "One transfer per edge with the pair's delay and rate, no contention, no memory, noise on request.";
  entry.reference = "Hu et al. 2023 (GiPH)";
  entry.schedules = {Schedule::fifo};
  return entry;
}

}  // namespace emplace::simulate
