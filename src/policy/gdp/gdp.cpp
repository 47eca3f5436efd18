// GDP: a graph network and a Transformer place all units of a graph at once. No parameter depends on the graph, so one
// policy can learn on many graphs (Zhou et al. 2019; GO: Zhou et al., NeurIPS 2020; docs/papers/gdp.md, section 2). One
// forward pass serves all samples of a problem. With several `rounds` the network reads its own last decisions and
// decides again; these rounds are one rollout, because only the last placement is evaluated.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/drawn_sample.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/common/rollout_parts.hpp"
#include "policy/common/unit_levels.hpp"
#include "policy/gdp/features.hpp"
#include "policy/gdp/network.hpp"
#include "policy/gdp/options.hpp"
#include "policy/methods.hpp"

namespace emplace::policy {

namespace {

// Blocks of units that are drawn together. If units were drawn independently, the first placements would have many
// unnecessary transfers, and moving one unit would hardly change the step time. In a training each unit is drawn from
// its own probabilities with the block's random number, so log-probabilities are those of the single units. A policy
// that only places draws one device for a block, from the mean of its units' probabilities.
struct GdpBlocks {
  std::vector<std::uint32_t> block_of_unit;
  std::size_t count;
  std::vector<std::uint8_t> allowed;  // blocks x D: 1 if all units of the block can run
};

// The coarsest level first; in the last each unit is a block.
std::vector<GdpBlocks> make_levels(const PolicyProblem& problem, std::size_t coarsest) {
  std::vector<GdpBlocks> levels;
  for (const Grouping& grouping : halved_levels(problem, coarsest)) {
    GdpBlocks& blocks = levels.emplace_back();
    blocks.count = grouping.count();
    blocks.allowed = allowed_devices(grouping);
    for (std::size_t unit = 0; unit < problem.grouping.count(); ++unit)
      blocks.block_of_unit.push_back(grouping.unit_of_op[problem.grouping.members[unit].front()]);
  }
  return levels;
}

class GdpPolicy final : public NetworkPolicy {
 public:
  GdpPolicy(GdpOptions options, const PolicySetup& setup)
      : rounds_(static_cast<std::size_t>(options.rounds)),
        coarse_share_(options.coarse_share),
        places_(setup.use == PolicyUse::place) {
    settle_kinds(options, setup);
    network_ = std::make_unique<GdpNetwork>(gdp_sizes(options, setup));
    // A policy that only places also has a level with one block of all units, if the devices allow it.
    const auto coarsest =
        static_cast<std::size_t>(places_ ? std::min<std::int64_t>(options.coarse_units, 1) : options.coarse_units);
    for (const PolicyProblem& problem : setup.problems)
      problems_.push_back({&problem.grouping, problem.problem->device_count(),
                           gdp_features(problem, setup.op_types, gdp_feature_options(options)),
                           make_levels(problem, coarsest)});
    use(network_->layout);
    network_->layout.initialize<float>(parameters_, setup.seed);
    pass_ = std::make_unique<Pass>();
    pass_->gradient = gradient_;
  }

  void sample(std::span<const SampleSlot> slots) const override {
    std::vector<std::uint32_t> problem_of;
    for (const SampleSlot& each : slots) problem_of.push_back(each.rounds.back().problem);
    for (const RolloutPart<std::uint32_t>& part : parts_of(problem_of)) {
      const Prepared& problem = problems_.at(part.key);
      const std::size_t units = problem.units->count();
      for (const std::size_t i : part.members) slots[i].rounds.back().actions.resize(rounds_ * units);
      pass(part.key);
      for (const std::size_t i : part.members) decide(slots[i], 0, problem);
      for (std::size_t round = 1; round < rounds_; ++round)
        for (const std::size_t i : part.members) {
          pass(part.key, actions_of(slots[i].rounds.back(), round - 1, units));
          decide(slots[i], round, problem);
        }
      for (const std::size_t i : part.members) {
        Rollout& rollout = slots[i].rounds.back();
        const auto last = actions_of(rollout, rounds_ - 1, units);
        problem.units->expand({last.begin(), last.end()}, rollout.placement);
      }
    }
  }

  // One pass serves all samples, and every round.
  [[nodiscard]] MemoryNeed memory_need(std::uint32_t problem, std::size_t, std::size_t) const override {
    const auto units = static_cast<double>(problems_.at(problem).units->count());
    return {.decisions = static_cast<double>(rounds_) * units, .bytes = units * bytes_per_node(network_->sizes)};
  }

  void check(std::span<const Rollout> rounds) const override {
    check_count(rounds.size(), 1, "rounds");
    const Rollout& sample = rounds.front();
    const Prepared& problem = problems_.at(sample.problem);
    check_count(sample.actions.size(), rounds_ * problem.units->count(), "devices");
    check_below(sample.actions, problem.devices, "device");
    for (std::size_t i = 0; i < sample.actions.size(); ++i) {
      const std::size_t unit = i % problem.units->count();
      if (problem.allowed()[unit * problem.devices + sample.actions[i]] == 0)
        throw InputError("checkpoint", "a sample puts unit {} on device {}, which cannot run it", unit,
                         sample.actions[i]);
    }
    check_count(sample.observation.size(), 0, "observations");
  }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    log.begin.assign(1, 0);
    for (const Rollout& rollout : rollouts) {
      EMPLACE_CHECK(rollout.actions.size() == rounds_ * problems_.at(rollout.problem).units->count());
      log.begin.push_back(log.begin.back() + rollout.actions.size());
    }
    log.value.resize(log.begin.back());
    log.entropy.assign(rollouts.size(), 0.0);
    for_each_pass(rollouts, false, [&](std::span<const std::size_t> members, std::size_t round) {
      const nn::Categorical<float>& rows = pass_->rows;
      double entropy = 0;
      for (const double each : rows.entropy) entropy += each;
      const std::size_t heads = rows.scores.rows;
      for (const std::size_t s : members) {
        log.entropy[s] += entropy;
        for (std::size_t h = 0; h < heads; ++h)
          log.value[log.begin[s] + round * heads + h] = rows.log_probability(h, rollouts[s].actions[round * heads + h]);
      }
    });
  }

  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    std::vector<std::size_t> begin{0};
    for (const Rollout& rollout : rollouts) begin.push_back(begin.back() + rollout.actions.size());
    EMPLACE_CHECK(coefficients.size() == begin.back());
    for_each_pass(rollouts, true, [&](std::span<const std::size_t> members, std::size_t round) {
      nn::Tape<float>& tape = pass_->tape;
      const nn::Categorical<float>& rows = pass_->rows;
      const nn::Matrix<float> weight = tape.matrix(rows.scores.rows, rows.scores.columns);
      std::ranges::fill(weight.all(), 0.0F);
      for (const std::size_t s : members)
        for (std::size_t h = 0; h < weight.rows; ++h) {
          const std::size_t head = round * weight.rows + h;
          weight(h, rollouts[s].actions[head]) += static_cast<float>(coefficients[begin[s] + head]);
        }
      nn::seed_folded<float>(tape, rows, weight, entropy_weight * static_cast<double>(members.size()));
      tape.backward();
      pass_->has_gradient = true;
    });
  }

  [[nodiscard]] bool independent_heads() const override { return rounds_ == 1; }

 private:
  struct Prepared {
    const Grouping* units;
    std::size_t devices;
    GdpFeatures features;
    std::vector<GdpBlocks> levels;

    [[nodiscard]] std::span<const std::uint8_t> allowed() const { return levels.back().allowed; }  // N x D
  };

  // The forward pass that is on the tape; it is valid until the parameters change.
  struct Pass {
    nn::Tape<float> tape;
    nn::Categorical<float> rows;  // N x D
    std::span<float> gradient;
    std::vector<float> parameters, decisions;
    std::uint32_t problem = 0;
    bool any = false, is_first = false, has_gradient = false;
    [[nodiscard]] bool is_first_of(std::uint32_t of, std::span<const float> now) const {
      return any && is_first && problem == of && std::memcmp(parameters.data(), now.data(), now.size_bytes()) == 0;
    }
  };

  static std::span<const std::uint8_t> actions_of(const Rollout& rollout, std::size_t round, std::size_t units) {
    return std::span(rollout.actions).subspan(round * units, units);
  }

  // Computes the forward pass, unless it is on the tape already. `decided`: the decisions of the previous round, empty
  // in the first. `fresh`: the tape must not have been used by a backward pass.
  void pass(std::uint32_t number, std::span<const std::uint8_t> decided = {}, bool fresh = false) const {
    if (decided.empty() && pass_->is_first_of(number, parameters_) && !(fresh && pass_->has_gradient)) return;
    const Prepared& problem = problems_.at(number);
    const std::size_t units = problem.units->count();
    const GdpSizes& sizes = network_->sizes;
    pass_->any = false;  // in case of an exception below
    pass_->decisions.assign(units * sizes.decision, 0.0F);
    for (std::size_t v = 0; v < decided.size(); ++v)
      write_decision(problem, decided[v], std::span(pass_->decisions).subspan(v * sizes.decision, sizes.decision));
    const GdpFeatures& features = problem.features;
    nn::Tape<float>& tape = pass_->tape;
    tape.begin(parameters_, pass_->gradient);
    const GdpInput<float> input{&features.types,
                                {features.rows.data(), units, sizes.features},
                                {pass_->decisions.data(), units, sizes.decision},
                                &features.neighbours,
                                &features.all,
                                {features.devices.data(), problem.devices, sizes.device_features}};
    const nn::Var logits = gdp_network<float>(tape, *network_, input).logits;
    require_finite(tape.value(logits).all());
    pass_->rows = nn::categorical<float>(tape, logits, problem.allowed());
    pass_->parameters.assign(parameters_.begin(), parameters_.end());
    pass_->problem = number;
    pass_->is_first = decided.empty();
    pass_->any = true;
    pass_->has_gradient = false;
  }

  void write_decision(const Prepared& problem, std::uint8_t device, std::span<float> into) const {
    if (network_->sizes.device_features == 0) {
      into[device] = 1;
      return;
    }
    const std::span<const float> rows = problem.features.devices;
    std::ranges::copy(rows.subspan(device * into.size(), into.size()), into.begin());
  }

  // In a training the levels get finer; a policy that only places uses each level in turn.
  [[nodiscard]] std::size_t level_of(const Rollout& rollout, std::size_t levels) const {
    if (places_) return (rollout.update + rollout.sample) % levels;
    return level_at(rollout.progress, coarse_share_, levels);
  }

  void decide(const SampleSlot& slot, std::size_t round, const Prepared& problem) const {
    Rollout& rollout = slot.rounds.back();
    const nn::Categorical<float>& rows = pass_->rows;
    const std::size_t units = rows.scores.rows, devices = rows.scores.columns;
    const std::span<std::uint8_t> actions = std::span(rollout.actions).subspan(round * units, units);
    if (slot.greedy) {
      for (std::size_t v = 0; v < units; ++v)
        actions[v] = likeliest<float>(rows.scores.row(v), problem.allowed().subspan(v * devices, devices));
      return;
    }
    const GdpBlocks& blocks = problem.levels[level_of(rollout, problem.levels.size())];
    std::vector<double> uniform(blocks.count);
    for (double& each : uniform) each = slot.stream->uniform();
    if (places_) {
      place_blocks(blocks, uniform, actions);
      return;
    }
    for (std::size_t v = 0; v < units; ++v)
      actions[v] = at_quantile<float>(rows.probability.row(v), uniform[blocks.block_of_unit[v]]);
  }

  void place_blocks(const GdpBlocks& blocks, std::span<const double> uniform, std::span<std::uint8_t> actions) const {
    const nn::Matrix<float>& of_unit = pass_->rows.probability;
    const std::size_t devices = of_unit.columns;
    // Starts above 0: one unit's probability may be 1 on a device where another unit cannot run.
    std::vector<double> of_block(blocks.count * devices, std::numeric_limits<double>::min());
    for (std::size_t v = 0; v < of_unit.rows; ++v)
      for (std::size_t d = 0; d < devices; ++d)
        of_block[blocks.block_of_unit[v] * devices + d] += static_cast<double>(of_unit(v, d));
    std::vector<std::uint8_t> device(blocks.count);
    for (std::size_t block = 0; block < blocks.count; ++block) {
      const auto row = std::span(of_block).subspan(block * devices, devices);
      for (std::size_t d = 0; d < devices; ++d) row[d] *= blocks.allowed[block * devices + d];
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& each : row) each /= sum;
      device[block] = at_quantile<double>(row, uniform[block]);
    }
    for (std::size_t v = 0; v < actions.size(); ++v) actions[v] = device[blocks.block_of_unit[v]];
  }

  // Calls visit(members, round): in the first round once for all samples of a problem, in later ones for each sample.
  template <class Visit>
  void for_each_pass(std::span<const Rollout> rollouts, bool fresh, Visit&& visit) {
    std::vector<std::uint32_t> problem_of;
    for (const Rollout& rollout : rollouts) problem_of.push_back(rollout.problem);
    for (const RolloutPart<std::uint32_t>& part : parts_of(problem_of)) {
      pass(part.key, {}, fresh);
      visit(part.members, 0);
      const std::size_t units = problems_.at(part.key).units->count();
      for (const std::size_t& s : part.members)
        for (std::size_t round = 1; round < rounds_; ++round) {
          pass(part.key, actions_of(rollouts[s], round - 1, units), fresh);
          visit({&s, 1}, round);
        }
    }
  }

  std::size_t rounds_;
  double coarse_share_;
  bool places_;
  std::unique_ptr<GdpNetwork> network_;
  std::vector<Prepared> problems_;
  std::unique_ptr<Pass> pass_;  // of sample(), reused by forward(), and by backward()
};

}  // namespace

PolicyEntry gdp_policy() {
  PolicyEntry entry;
  entry.name = "gdp";
  entry.summary = "GraphSAGE and a segment-wise Transformer place all units at once, on any graph.";
  entry.reference = "Zhou et al.: GDP (arXiv 1910.01578, 2019); GO (NeurIPS 2020)";
  entry.reads_op_types = true;
  make_from_options<GdpPolicy, GdpOptions>(entry, read_gdp_options);
  entry.freeze_defaults = [](const ConfigTable& table, const PolicySetup& setup) {
    GdpOptions options = read_gdp_options(table);
    settle_kinds(options, setup);
    return echo_options(options);
  };
  entry.frozen = {"device_kinds"};
  return entry;
}

}  // namespace emplace::policy
