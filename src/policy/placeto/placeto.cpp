// Placeto: an episode visits the units one by one and places each with a graph network, which reads the whole placement
// so far and the start times in its last simulation (Addanki et al., NeurIPS 2019; docs/papers/placeto.md, section 2).
// A sample is an episode: round 0 is the initial placement, which has no decision and is stored as the observation;
// round r places the r-th unit. The entropy is that of the softmax; the released code adds 1e-3 inside its logarithm.
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/drawn_sample.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/methods.hpp"
#include "policy/placeto/graph.hpp"
#include "policy/placeto/network.hpp"

namespace emplace::policy {

namespace {

struct PlacetoOptions {
  int message_rounds = 8;
  std::string size = "full";
  bool normalize_aggs = false;
  std::string traversal = "topo";
  std::string initial = "random";
  bool memory_feature = false;
  int position_waves = 0;
};

void describe(PlacetoOptions& o, OptionVisitor& visit) {
  visit("message_rounds", o.message_rounds,
        {.min = 0, .max = 1000, .help = "Number of edges that messages between units travel."});
  visit("size", o.size,
        {.choices = {"full", "small"}, .help = "Layers in each part of the network: the paper's number, or one less."});
  visit("normalize_aggs", o.normalize_aggs, {.help = "Poolings divide sums by the number of pooled units."});
  visit("traversal", o.traversal,
        {.choices = {"topo", "random"}, .help = "Units are visited in topological order, or in one random order."});
  visit("initial", o.initial,
        {.choices = {"random", "random-each", "first", "none", "best"},
         .help = "Initial placement of episodes: one random placement for all, a random one for each, every unit on "
                 "its first device, the same with no device shown to the network, or the best so far."});
  visit("memory_feature", o.memory_feature, {.help = "The network also reads each unit's resident bytes."});
  visit("position_waves", o.position_waves,
        {.min = 0,
         .max = 256,
         .help = "The classifier also reads the sine and cosine of this many waves at the unit's position in "
                 "topological order; without them it cannot distinguish units with equal neighbourhoods."});
}

// States that the network processes in one pass. The last block of a batch may be smaller; the blocks depend only on
// the order of the batch.
constexpr std::size_t block_states = 16;

struct PlacetoPart {
  const Grouping* units;
  PlacetoGraph graph;
  std::vector<std::uint8_t> initial;  // U: initial devices of every sample; empty: drawn for each
  mutable PlacetoBlock block;         // scratch
};

std::vector<std::uint8_t> first_devices(const Grouping& units) {
  std::vector<std::uint8_t> devices;
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    for (std::size_t d = 0; d < units.device_count(); ++d)
      if (units.allows(unit, d)) {
        devices.push_back(static_cast<std::uint8_t>(d));
        break;
      }
  return devices;
}

std::vector<std::uint8_t> random_devices(const Grouping& units, Stream& stream) {
  std::vector<std::uint8_t> devices, able;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    able.clear();
    for (std::size_t d = 0; d < units.device_count(); ++d)
      if (units.allows(unit, d)) able.push_back(static_cast<std::uint8_t>(d));
    devices.push_back(able[stream.below(static_cast<std::uint32_t>(able.size()))]);
  }
  return devices;
}

PlacetoShape shape_of(const PlacetoOptions& o, std::size_t devices) {
  return {placeto_features(devices, o.memory_feature), devices, o.message_rounds, o.size == "small", o.normalize_aggs,
          static_cast<std::size_t>(o.position_waves)};
}

class PlacetoPolicy final : public NetworkPolicy {
 public:
  PlacetoPolicy(const PlacetoOptions& options, const PolicySetup& setup)
      : with_memory_(options.memory_feature),
        from_best_(options.initial == "best"),
        network_(shape_of(options, common_device_count(setup.problems, "placeto"))) {
    for (std::uint32_t p = 0; p < setup.problems.size(); ++p) {
      const PolicyProblem& problem = setup.problems[p];
      Stream order({.seed = setup.seed, .purpose = Purpose::shuffle, .update = 0, .index = p});
      Stream initial({.seed = setup.seed, .purpose = Purpose::initialise, .update = 1, .index = p});
      PlacetoPart& part = parts_.emplace_back();
      part.units = &problem.grouping;
      part.graph = placeto_graph(problem, options.traversal == "random", order);
      if (options.initial == "random") part.initial = random_devices(problem.grouping, initial);
      if (options.initial == "first") part.initial = first_devices(problem.grouping);
      if (options.initial == "none") part.initial.assign(problem.grouping.count(), no_device);
    }
    use(network_.layout());
    network_.layout().initialize<float>(parameters_, setup.seed);
  }

  [[nodiscard]] std::size_t rounds(std::uint32_t problem) const override {
    return parts_.at(problem).units->count() + 1;
  }
  [[nodiscard]] MemoryNeed memory_need(std::uint32_t problem, std::size_t, std::size_t) const override {
    const PlacetoGraph& graph = parts_.at(problem).graph;
    const PlacetoShape& shape = network_.shape();
    const auto units = static_cast<double>(graph.count()), rows = static_cast<double>(block_states) * units;
    // In matrices of rows x features: of the node's layers, of the messages in both directions, and of the pools.
    const double layers = shape.small ? 1 : 2;
    const double values =
        2 + layers + 2 * static_cast<double>(shape.message_rounds) * (3 + 2 * layers) + 4 + 2 * layers;
    constexpr double states = 2, gradients = 12;
    const double edges = static_cast<double>(graph.parents.items.size() + graph.children.items.size());
    const double lists = sizeof(std::uint32_t) * (8 * rows + static_cast<double>(block_states) * edges);
    const double tapes = 2 * values + gradients;  // one for drawing
    return {.decisions = units,
            .observations = (units + 1) * units,
            .bytes = sizeof(float) * rows * static_cast<double>(shape.features) * (tapes + states) + lists};
  }
  [[nodiscard]] bool reads_start_times() const override { return true; }

  void check(std::span<const Rollout> rounds) const override {
    const PlacetoPart& part = parts_.at(rounds.front().problem);
    const std::size_t units = part.units->count(), devices = network_.shape().devices;
    check_count(rounds.size(), units + 1, "rounds");
    for (const Rollout& round : rounds) {
      check_count(round.actions.size(), round.round > 0 ? 1 : 0, "actions in a round");
      check_below(round.actions, devices, "device");
      check_count(round.observation.size(), units, "observations in a round");
      check_finite(round.observation);
    }
    for (const float device : rounds.front().observation)
      if (device != no_device && !(device >= 0 && device < static_cast<float>(devices) && std::floor(device) == device))
        throw InputError("checkpoint", "a sample begins with a unit on device {}, wanted a whole number below {}",
                         device, devices);
  }

  void sample(std::span<const SampleSlot> slots) const override {
    Block block;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const SampleSlot& slot = slots[i];
      Rollout& now = slot.rounds.back();
      const PlacetoPart& part = parts_.at(now.problem);
      if (now.round == 0) {
        begin(part, slot);
        continue;
      }
      if (!block.members.empty() && (block.part != &part || block.members.size() == block_states)) decide(block, slots);
      Rollout& before = slot.rounds[now.round - 1];
      read_unit_starts(*part.units, before.starts, part.graph.order[now.round - 1], now.observation);
      now.starts = std::move(before.starts);  // reuses the memory
      before.starts.clear();
      std::vector<std::uint8_t> devices = shown_in(slot.rounds.front());
      for (std::size_t r = 1; r < now.round; ++r) devices[part.graph.order[r - 1]] = slot.rounds[r].actions.front();
      add_state(block, part, i, now, devices);
    }
    decide(block, slots);
  }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    log.begin.assign(1, 0);
    log.value.clear();
    log.entropy.assign(rollouts.size(), 0.0);
    for (const Rollout& rollout : rollouts) log.begin.push_back(log.begin.back() + (rollout.round > 0 ? 1 : 0));
    for_each_block(rollouts, [&](const Block& block) {
      const nn::Categorical<float> rows = run(tape_, block, {});
      for (std::size_t b = 0; b < block.members.size(); ++b) {
        log.value.push_back(rows.log_probability(b, rollouts[block.members[b]].actions.front()));
        log.entropy[block.members[b]] = rows.entropy[b];
      }
    });
  }

  // Blocks are recomputed rather than stored: an episode of U units has U graphs of U nodes.
  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    std::size_t next = 0;
    for_each_block(rollouts, [&](const Block& block) {
      const std::size_t count = block.members.size();
      EMPLACE_CHECK(next + count <= coefficients.size());
      const nn::Categorical<float> rows = run(tape_, block, gradient_);
      const std::span<std::uint8_t> actions = tape_.array<std::uint8_t>(count);
      for (std::size_t b = 0; b < count; ++b) actions[b] = rollouts[block.members[b]].actions.front();
      nn::seed<float>(tape_, rows, actions, coefficients.subspan(next, count), entropy_weight);
      tape_.backward();
      next += count;
    });
    EMPLACE_CHECK(next == coefficients.size());
  }

 private:
  // Decisions of one problem that the network processes in one pass.
  struct Block {
    const PlacetoPart* part = nullptr;
    std::vector<std::size_t> members;    // positions in the batch
    std::vector<std::uint32_t> current;  // units
    std::vector<float> states;           // (members U) x d
  };

  void begin(const PlacetoPart& part, const SampleSlot& slot) const {
    Rollout& now = slot.rounds.back();
    std::vector<std::uint8_t> devices = part.initial;
    if (from_best_ && slot.best != nullptr) devices = part.units->read(*slot.best);
    if (devices.empty()) devices = random_devices(*part.units, *slot.stream);
    now.actions.clear();
    now.observation.assign(devices.begin(), devices.end());
    part.units->expand(devices.front() != no_device ? devices : first_devices(*part.units), now.placement);
  }

  // The units' devices at the beginning of an episode, from the observation of its first round.
  static std::vector<std::uint8_t> shown_in(const Rollout& first) {
    std::vector<std::uint8_t> devices;
    for (const float device : first.observation) devices.push_back(static_cast<std::uint8_t>(device));
    return devices;
  }

  void add_state(Block& block, const PlacetoPart& part, std::size_t member, const Rollout& rollout,
                 const std::vector<std::uint8_t>& devices) const {
    const std::size_t size = part.graph.count() * network_.shape().features;
    EMPLACE_CHECK(devices.size() == part.graph.count() && rollout.observation.size() == part.graph.count());
    block.part = &part;
    block.members.push_back(member);
    block.current.push_back(part.graph.order[rollout.round - 1]);
    block.states.resize(block.members.size() * size);
    write_placeto_state(part.graph, network_.shape().devices, with_memory_, rollout.round - 1, devices,
                        rollout.observation, std::span(block.states).last(size));
  }

  // Calls visit(block) for all decisions, in order.
  template <class Visit>
  void for_each_block(std::span<const Rollout> rollouts, Visit&& visit) {
    Block& block = block_;
    const auto empty = [&] {
      block.members.clear();
      block.current.clear();
    };
    const auto flush = [&] {
      if (!block.members.empty()) visit(std::as_const(block));
      empty();
    };
    empty();  // an earlier visit() that threw may have left some
    for (std::size_t i = 0; i < rollouts.size(); ++i) {
      const Rollout& rollout = rollouts[i];
      const PlacetoPart& part = parts_.at(rollout.problem);
      if (rollout.round == 0) {
        devices_.assign(rollout.observation.begin(), rollout.observation.end());
        continue;
      }
      if (block.part != &part || block.members.size() == block_states) flush();
      add_state(block, part, i, rollout, devices_);
      devices_[part.graph.order[rollout.round - 1]] = rollout.actions.front();
    }
    flush();
  }

  nn::Categorical<float> run(nn::Tape<float>& tape, const Block& block, std::span<float> gradient) const {
    const PlacetoPart& part = *block.part;
    fill_placeto_block(part.graph, *part.units, block.current, network_.shape().position_waves, part.block);
    tape.begin(parameters_, gradient);
    const nn::Matrix<const float> states{block.states.data(), block.members.size() * part.graph.count(),
                                         network_.shape().features};
    const nn::Var logits = placeto_network<float>(tape, network_, states, part.block).logits;
    require_finite(tape.value(logits).all());
    return nn::categorical<float>(tape, logits, part.block.allowed);
  }

  void decide(Block& block, std::span<const SampleSlot> slots) const {
    if (block.members.empty()) return;
    const nn::Categorical<float> rows = run(sampling_tape_, block, {});
    const std::size_t devices = network_.shape().devices;
    std::vector<float> weights(devices);
    for (std::size_t b = 0; b < block.members.size(); ++b) {
      const SampleSlot& each = slots[block.members[b]];
      Rollout& now = each.rounds.back();
      const std::span<const std::uint8_t> allowed = rows.allowed.subspan(b * devices, devices);
      const std::uint8_t device = each.greedy ? likeliest<float>(rows.scores.row(b), allowed)
                                              : draw<float>(rows.scores.row(b), allowed, *each.stream, weights);
      now.actions.assign(1, device);
      now.placement.device = each.rounds[now.round - 1].placement.device;
      for (const std::uint32_t op : block.part->units->members[block.current[b]]) now.placement.device[op] = device;
    }
    block.members.clear();
    block.current.clear();
  }

  bool with_memory_, from_best_;
  PlacetoParameters network_;
  std::vector<PlacetoPart> parts_;
  nn::Tape<float> tape_;
  Block block_;                        // of forward() and backward(); its memory is reused
  std::vector<std::uint8_t> devices_;  // likewise: the present devices of the episode
  mutable nn::Tape<float> sampling_tape_;
};

}  // namespace

PolicyEntry placeto_policy() {
  PolicyEntry entry;
  entry.name = "placeto";
  entry.summary = "A graph network that moves one unit after the other, seeing the placement and its start times.";
  entry.reference = "Addanki et al.: Placeto (NeurIPS 2019)";
  make_from_options<PlacetoPolicy, PlacetoOptions>(entry);
  return entry;
}

}  // namespace emplace::policy
