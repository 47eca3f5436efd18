// The simulators that the papers used, as settings of one engine's switches, so that their figures can be compared. The
// choices S1 to S12, and those of each published simulator, are in docs/simulators.md.
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

// S1: one transfer per tensor for all remote consumers; one per tensor and device; one per consumer.
enum class FanOut : std::uint8_t { broadcast, dest, edge };
// S2: which transfers cannot run at the same time: those that share a channel with contention of the problem (R3);
// none; those from the same device; those of the same ordered pair of devices; those from or to the same device.
enum class ChannelScope : std::uint8_t { problem, none, egress, pair, shared };
// S3: the receiver waits for the latency and the channel is busy meanwhile; only the channel is busy; there is no
// latency.
enum class LatencyIn : std::uint8_t { path, channel, off };
// S5. lifo: the op that became ready last runs first, of several at one instant the one with the largest id. enqueued:
// in the order in which ops entered the queue of their device, which differs from fifo under S11 and S12.
enum class ReadyOrder : std::uint8_t { fifo, priority, lifo, in_order, enqueued };
// S6: a tensor of 0 bytes arrives when its producer ends; is a message of its own of 0 bytes; of 4 bytes; or shares the
// transfer of its producer's output 0 (the first tensor with bytes; the first of all if none has bytes).
enum class ControlEdge : std::uint8_t { none, zero, four, full };
// S7: no bytes are counted; resident bytes only; as in R5; as in R5 without copies at receivers; as in Placeto.
enum class MemoryModel : std::uint8_t { none, sums, plain, without_copies, placeto };
// S8: the end of the last op; the last event, gaps and transfers included.
enum class ReportedTime : std::uint8_t { op, event };
// S9: a consumer of several tensors of one producer waits for all of them (each once); only for the last one listed.
enum class RepeatedProducer : std::uint8_t { all, last };
// S10: a factor on the time of each op: uniform in 1 +- level, or normal with that standard deviation and cut at 0.
enum class Noise : std::uint8_t { none, uniform, normal };

// What determines the time of a transfer.
struct RouteRates {
  // Latencies and bandwidths are those of the problem's routes. A pair without a route has this bandwidth and no
  // latency; if it is 0, a placement that needs such a pair is infeasible.
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
  double notice_s = 0;    // S3: from a tensor's arrival until its consumers there learn of it
  double dispatch_s = 0;  // S11: the host's time for each op on an accelerator, one op after the other; 0: none.
                          // Needs ReadyOrder::enqueued.
  // S12: accelerators run ops in the order in which they were enqueued, and an op is enqueued when its inputs from the
  // same device are enqueued and all others have arrived. Needs ReadyOrder::enqueued.
  bool streams = false;
  bool instant_zeros = false;  // ops of exactly 0 s and transfers of 0 s last 0 ticks, not 1
};

// All switches are resolved before an evaluation, most of them here. The defaults are rules R1-R6: the engine then
// equals make_reference_engine under the same order to the tick. In the outcome (R6) the makespan is the reported time;
// a missing route matters only if the rates need one, and memory only if the model counts it. Usage: a transfer is
// counted on the problem's channels between its devices, for as long as it keeps a channel busy; device times do not
// include gaps. Timeline: a broadcast is listed once for each destination, with the same times.
//
// InputError if the times or bytes of all ops and transfers under these switches exceed 2^62. The Problem must outlive
// the engine. Evaluations may allocate if a placement needs longer queues than any before.
std::unique_ptr<Engine> make_switched_engine(const Problem& problem, const Switches& switches);

struct SimulatorEntry : EntryInfo {
  // The values that `--schedule` may have, the default first; empty: the simulator has a fixed ready order of its own.
  std::vector<Schedule> schedules;
  // Makes an engine. `schedule` is one of `schedules`, or fifo if that is empty. InputError for unknown options.
  std::function<std::unique_ptr<Engine>(const Problem& problem, Schedule schedule, const ConfigTable& options)> make;

  [[nodiscard]] bool takes(Schedule schedule) const;
};

// Every simulator, in the order in which `emplace list simulators` shows them.
std::span<const SimulatorEntry> simulators();

// A simulator and its options, given by a text such as "placeto" or "baechi?latency_us=100&us_per_byte=0.0002".
struct ChosenSimulator {
  const SimulatorEntry* entry = nullptr;
  ConfigTable options;

  // InputError for a schedule that the simulator does not have; without a schedule its default is used.
  std::unique_ptr<Engine> make(const Problem& problem, std::optional<Schedule> schedule = {}) const;
};

// InputError for an unknown name (it names the nearest valid one) and for options that are not key=value.
ChosenSimulator choose_simulator(std::string_view specification, const std::string& place = "--simulator");

}  // namespace emplace::simulate
