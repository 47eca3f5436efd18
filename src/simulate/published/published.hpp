// The simulators that the papers were written on, as settings of one engine's switches, so that their figures can be
// compared. Which choices differ, and which published simulator made which: docs/simulators.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::simulate {

// S1: one transfer a tensor for all remote consumers; one a tensor and device; one a consumer.
enum class FanOut : std::uint8_t { broadcast, dest, edge };
// S2: which transfers exclude each other. The contended channels of the problem's routes (R3); nothing; one channel for
// all that leaves a device; one an ordered pair; one a device for both directions.
enum class ChannelScope : std::uint8_t { problem, none, egress, pair, shared };
// S3: the receiver waits for the latency and the channel is busy; only the channel is busy; there is none.
enum class LatencyIn : std::uint8_t { path, channel, off };
// S5. lifo: of the ready ops the one that became ready last, of several at one instant the largest id.
enum class ReadyOrder : std::uint8_t { fifo, priority, lifo, in_order };
// S6: a tensor of 0 bytes is released where it is consumed when its producer ends; is a message of its own of 0 bytes;
// of 4 bytes; or belongs to its producer's output 0 (the first tensor with bytes; the first of all where none has) and
// shares its transfer.
enum class ControlEdge : std::uint8_t { none, zero, four, full };
// S7: no bytes counted; resident bytes only; R5; R5 without copies at receivers; Placeto's.
enum class MemoryModel : std::uint8_t { none, sums, plain, without_copies, placeto };
// S8: end of the last op; the last event, gaps and transfers included.
enum class ReportedTime : std::uint8_t { op, event };
// S9: a consumer of several tensors of one producer waits for all of them (each once); for the last listed only.
enum class RepeatedProducer : std::uint8_t { all, last };
// S10: factor on the time of each op, uniform in 1 +- level, or normal with that deviation and cut at 0.
enum class Noise : std::uint8_t { none, uniform, normal };

// Where the time of a transfer comes from.
struct RouteRates {
  // Latencies and bandwidths of the problem's routes. A pair without a route has this bandwidth and no latency; 0: such
  // a pair makes a placement infeasible.
  double missing_bytes_per_s = 0;
};
struct FixedRates {  // the same for all pairs; the problem's channels are ignored
  double latency_s = 0;
  double bytes_per_s = 1;
};
struct ProducerRates {  // the producer's time on its device times `factor`, whatever the bytes and the pair
  double factor = 1;
};

struct Switches {
  FanOut fan_out = FanOut::dest;
  ChannelScope channels = ChannelScope::problem;
  LatencyIn latency = LatencyIn::path;
  double gap_s = 0;  // S4: how long a device stays idle after each op that does not cost exactly 0 s
  bool gap_after_zero_cost = false;
  ReadyOrder ready = ReadyOrder::fifo;
  ControlEdge control = ControlEdge::zero;
  MemoryModel memory = MemoryModel::plain;
  ReportedTime reported = ReportedTime::op;
  RepeatedProducer repeated = RepeatedProducer::all;
  Noise noise = Noise::none;
  double noise_level = 0;
  std::uint64_t noise_seed = 0;
  std::variant<RouteRates, FixedRates, ProducerRates> rates = RouteRates{};
  bool instant_zeros = false;  // ops of exactly 0 s and transfers of 0 s last 0 ticks, not 1
};

// All switches are resolved before an evaluation, most of them here. The defaults are rules R1-R6: the engine then
// equals make_reference_engine under the same order to the tick. In the outcome (R6) the makespan is the reported time,
// a missing route counts only where the rates need one, and memory only where the model counts it. Usage: a transfer
// counts on the problem's channels between the devices that it joins, for as long as it keeps a channel busy; device
// times are without gaps. Timeline: a broadcast stands once for each destination, with the same times.
//
// InputError if the times or bytes of all ops and transfers under these switches exceed 2^62. The Problem must outlive
// the engine. May allocate where a placement needs longer queues than any before.
std::unique_ptr<Engine> make_switched_engine(const Problem& problem, const Switches& switches);

struct SimulatorEntry : EntryInfo {
  // What `--schedule` may ask for, the default first; empty: the simulator has a ready order of its own.
  std::vector<Schedule> schedules;
  // `schedule` is one of `schedules`, fifo where that is empty. InputError for unknown options.
  std::function<std::unique_ptr<Engine>(const Problem& problem, Schedule schedule, const ConfigTable& options)> make;

  [[nodiscard]] bool takes(Schedule schedule) const;
};

// Every simulator, in the order in which `emplace list simulators` shows them.
std::span<const SimulatorEntry> simulators();

// A simulator and its options, as "placeto" or "baechi?latency_us=100&us_per_byte=0.0002" name them.
struct ChosenSimulator {
  const SimulatorEntry* entry = nullptr;
  ConfigTable options;

  // InputError for a schedule that the simulator does not take; without one it is the simulator's own.
  std::unique_ptr<Engine> make(const Problem& problem, std::optional<Schedule> schedule = {}) const;
};

// InputError for an unknown name (with the nearest right one) and for text that is not key=value.
ChosenSimulator choose_simulator(std::string_view specification, const std::string& place = "--simulator");

}  // namespace emplace::simulate
