// The two models of Tarnawski et al. 2020 (docs/papers/tarnawski.md): the latency of one sample (section 2.7) and the
// load of a pipeline (section 2.1), the latter being the objective `pipeline` under the name of its simulator.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "problem/cuts.hpp"
#include "simulate/pipeline/host_model.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "simulate/published/entries.hpp"

namespace emplace::simulate {

namespace {

// Ops that start and end together: a contiguous subgraph of an accelerator, or one op of a CPU, whose ops never wait
// for each other's device.
struct Block {
  std::uint32_t device = 0;
  Ticks lasts = 0;  // in-transfers + compute + out-transfers
  Ticks start = 0;  // the latest end of the blocks before it
  std::uint32_t missing = 0;
};

class LatencyEngine final : public Engine {
 public:
  explicit LatencyEngine(const Problem& problem) : p_(problem), model_(problem), block_of_(problem.op_count()) {
    // Every piece of a device transfers a tensor again, so the sum of times can exceed the builder's limit.
    double longest = 0;
    const std::size_t devices = p_.device_count(), classes = p_.route_classes.size();
    for (std::size_t op = 0; op < p_.op_count(); ++op)
      longest +=
          static_cast<double>(*std::max_element(p_.op_time.begin() + static_cast<std::ptrdiff_t>(op * devices),
                                                p_.op_time.begin() + static_cast<std::ptrdiff_t>((op + 1) * devices)));
    for (std::size_t t = 0; t < p_.tensor_count(); ++t) {
      Ticks slowest = 0;
      for (std::size_t cls = 0; cls < classes; ++cls) slowest = std::max(slowest, p_.transfer_time[t * classes + cls]);
      longest += static_cast<double>(slowest) * static_cast<double>(p_.consumers[t].size() + 1);
    }
    if (longest > static_cast<double>(total_limit))
      throw InputError(p_.name, "all times together ({:.4g} s) exceed 2^62 ps", longest / ticks_per_second);
  }

  Outcome evaluate(const Placement& placement, const Want& want) override {
    if (want.usage) *want.usage = {};
    if (want.timeline) *want.timeline = {};
    if (want.starts) want.starts->clear();
    const std::vector<std::uint8_t>& device = placement.device;
    if (const Outcome outcome = model_.unsupported_op(device); !outcome.feasible()) return outcome;
    make_blocks(device);
    Usage usage{std::vector<Ticks>(p_.device_count()),
                {},
                std::vector<Ticks>(p_.channels.size()),
                std::vector<Bytes>(p_.channels.size())};
    for (std::size_t op = 0; op < device.size(); ++op) {
      const Ticks time = p_.time(OpId{op}, DeviceId{device[op]});
      blocks_[block_of_[op]].lasts += time;
      usage.device_busy[device[op]] += time;
    }
    for (std::uint32_t tensor = 0; tensor < p_.tensor_count(); ++tensor)
      if (const Outcome missing = pay(TensorId{tensor}, usage); !missing.feasible()) return missing;
    Outcome outcome = run();
    if (!outcome.feasible()) return outcome;
    const Ticks latency = outcome.makespan;
    outcome = model_.split_group(device);
    judge_cuts(p_, device.data(), outcome);
    outcome.makespan = latency;
    model_.judge_memory(device, outcome);
    usage.device_peak = model_.resident();
    if (want.usage) *want.usage = std::move(usage);
    return outcome;
  }

 private:
  // A set S that is not contiguous is cut into pieces: piece(v) = max(1, max_u piece(u) + [u not in S]) for v in S, and
  // max(0, max_u piece(u)) for other v, where u are the predecessors of v; ops with equal numbers form one subgraph.
  void make_blocks(const std::vector<std::uint8_t>& device) {
    blocks_.clear();
    std::vector<std::uint32_t> piece(device.size());
    for (std::uint32_t d = 0; d < p_.device_count(); ++d) {
      if (std::ranges::find(device, d) == device.end()) continue;
      const auto first = static_cast<std::uint32_t>(blocks_.size());
      for (const std::uint32_t op : p_.topological) {
        const bool here = device[op] == d;
        if (here && !model_.pays(d)) {
          block_of_[op] = static_cast<std::uint32_t>(blocks_.size());
          blocks_.push_back({.device = d});
        }
        if (!model_.pays(d)) continue;
        piece[op] = here ? 1 : 0;
        for (const std::uint32_t tensor : p_.inputs[op]) {
          const std::size_t before = p_.producer[tensor].index();
          piece[op] = std::max(piece[op], piece[before] + (here && device[before] != d ? 1 : 0));
        }
        if (!here) continue;
        block_of_[op] = first + piece[op] - 1;
        while (blocks_.size() <= block_of_[op]) blocks_.push_back({.device = d});
      }
    }
  }

  // Calls visit(block) once for each block that consumes the tensor, except the producer's.
  template <class Visit>
  void each_consumer_block(TensorId tensor, Visit&& visit) {
    const std::uint32_t own = block_of_[p_.producer[tensor.index()].index()];
    ends_.clear();
    for (const std::uint32_t consumer : p_.consumers[tensor.index()])
      if (block_of_[consumer] != own) ends_.push_back(block_of_[consumer]);
    std::ranges::sort(ends_);
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    for (const std::uint32_t block : ends_) visit(block);
  }

  // Adds the tensor's transfer once to the producer's subgraph and once to each consumer's; blocks of hosts pay
  // nothing.
  Outcome pay(TensorId tensor, Usage& usage) {
    Outcome outcome;
    const auto add = [&](std::uint32_t block, bool out) {
      const std::uint32_t d = blocks_[block].device;
      if (!model_.pays(d) || !outcome.feasible()) return;
      const auto transfer = out ? model_.out(tensor, d) : model_.in(tensor, d);
      if (!transfer) {
        outcome = {.why = Infeasible::missing_route, .device = static_cast<std::uint8_t>(d), .subject = tensor.value};
        return;
      }
      blocks_[block].lasts += transfer->time;
      for (const std::uint32_t channel :
           out ? p_.route(DeviceId{d}, transfer->host) : p_.route(transfer->host, DeviceId{d})) {
        usage.channel_busy[channel] += transfer->time;
        usage.channel_bytes[channel] += p_.tensor_bytes[tensor.index()];
      }
    };
    each_consumer_block(tensor, [&](std::uint32_t block) {
      ++blocks_[block].missing;
      add(block, false);
    });
    if (!ends_.empty()) add(block_of_[p_.producer[tensor.index()].index()], true);
    return outcome;
  }

  // Returns the latest end of any block. Infeasible if subgraphs of several accelerators wait for each other.
  Outcome run() {
    std::vector<std::vector<std::uint32_t>> ops(blocks_.size());
    for (std::uint32_t op = 0; op < block_of_.size(); ++op) ops[block_of_[op]].push_back(op);
    std::vector<std::uint32_t> ready;
    for (std::uint32_t block = 0; block < blocks_.size(); ++block)
      if (blocks_[block].missing == 0) ready.push_back(block);
    std::size_t done = 0;
    Ticks latest = 0;
    for (; done < ready.size(); ++done) {
      const Ticks end = blocks_[ready[done]].start + blocks_[ready[done]].lasts;
      latest = std::max(latest, end);
      for (const std::uint32_t op : ops[ready[done]])
        for (const std::uint32_t tensor : p_.outputs[op])
          each_consumer_block(TensorId{tensor}, [&](std::uint32_t block) {
            blocks_[block].start = std::max(blocks_[block].start, end);
            if (--blocks_[block].missing == 0) ready.push_back(block);
          });
    }
    if (done == blocks_.size()) return {.makespan = latest};
    std::uint32_t device = max_devices;
    for (const Block& block : blocks_)
      if (block.missing > 0 && model_.pays(block.device)) device = std::min(device, block.device);
    return {.why = Infeasible::circular_wait, .device = static_cast<std::uint8_t>(device)};
  }

  const Problem& p_;
  HostModel model_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> block_of_;  // N
  std::vector<std::uint32_t> ends_;
};

struct NoOptions {};
void describe(NoOptions&, OptionVisitor&) {}

struct ThroughputOptions {
  PipelineOptions count;
};
void describe(ThroughputOptions& o, OptionVisitor& visit) {
  visit("overlap", o.count.overlap,
        {.help = "Whether a device computes and transfers at the same time: its load is then the larger of both, not "
                 "the sum."});
  visit("separate_phases", o.count.separate_phases,
        {.help = "Whether all forward passes come before all backward passes (diffmaxima): the load is then the sum of "
                 "the largest of each."});
}

}  // namespace

SimulatorEntry tarnawski_latency_simulator() {
  SimulatorEntry entry;
  entry.name = "tarnawski-latency";
  entry.summary =
      "One sample: contiguous subgraphs of an accelerator receive, compute and send as a whole; ops on CPUs never "
      "wait.";
  entry.reference = "Tarnawski et al. 2020, section 3";
  entry.options = list_options<NoOptions>;
  entry.make = [](const Problem& problem, Schedule, const ConfigTable& options) -> std::unique_ptr<Engine> {
    read_options<NoOptions>(options);
    return std::make_unique<LatencyEngine>(problem);
  };
  return entry;
}

SimulatorEntry tarnawski_throughput_simulator() {
  SimulatorEntry entry;
  entry.name = "tarnawski-throughput";
  entry.summary = "A stream of samples: the load of the busiest device, as in the objective pipeline.";
  entry.reference = "Tarnawski et al. 2020";
  entry.options = list_options<ThroughputOptions>;
  entry.make = [](const Problem& problem, Schedule, const ConfigTable& options) {
    return make_pipeline_engine(problem, read_options<ThroughputOptions>(options).count);
  };
  return entry;
}

}  // namespace emplace::simulate
