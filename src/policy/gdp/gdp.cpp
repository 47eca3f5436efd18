// GDP: a graph network and a Transformer place all units of a graph at once. No parameter depends on the graph, so one
// policy can learn on many graphs (Zhou et al. 2019; GO: Zhou et al., NeurIPS 2020; docs/papers/gdp.md, section 2). One
// forward pass serves all samples of a problem. With several `rounds` the network reads its own last decisions and
// decides again; these rounds are one rollout, because only the last placement is evaluated. With `schedule_levels`
// each unit also draws a priority level (GO's scheduling head), and the placement has the order that the levels give. A
// round's actions are the devices of its N units, then their levels.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/drawn_sample.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/common/rollout_parts.hpp"
#include "policy/common/unit_levels.hpp"
#include "policy/gdp/blocks.hpp"
#include "policy/gdp/features.hpp"
#include "policy/gdp/network.hpp"
#include "policy/gdp/options.hpp"
#include "policy/methods.hpp"
#include "problem/order.hpp"

namespace emplace::policy {

namespace {

class GdpPolicy final : public NetworkPolicy {
 public:
  GdpPolicy(GdpOptions options, const PolicySetup& setup)
      : rounds_(static_cast<std::size_t>(options.rounds)),
        coarse_share_(options.coarse_share),
        places_(setup.use == PolicyUse::place) {
    settle_kinds(options, setup);
    network_ = std::make_unique<GdpNetwork>(gdp_sizes(options, setup));
    // A policy that only places also has one block of all units, if the devices allow it.
    const auto coarsest =
        static_cast<std::size_t>(places_ ? std::min<std::int64_t>(options.coarse_units, 1) : options.coarse_units);
    for (const PolicyProblem& problem : setup.problems) {
      const std::size_t columns = std::max(network_->sizes.devices, problem.problem->device_count());
      problems_.push_back({problem.problem, &problem.grouping, columns,
                           gdp_features(problem, setup.op_types, gdp_feature_options(options)),
                           gdp_blocks(problem, coarsest, columns)});
    }
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
      const std::size_t actions = actions_in_round(problem);
      for (const std::size_t i : part.members) slots[i].rounds.back().actions.resize(rounds_ * actions);
      pass(part.key);
      for (const std::size_t i : part.members) decide(slots[i], 0, problem);
      for (std::size_t round = 1; round < rounds_; ++round)
        for (const std::size_t i : part.members) {
          pass(part.key, actions_of(slots[i].rounds.back(), round - 1, actions));
          decide(slots[i], round, problem);
        }
      for (const std::size_t i : part.members) set_placement(problem, slots[i].rounds.back());
    }
  }

  // One pass serves all samples, and every round.
  [[nodiscard]] MemoryNeed memory_need(std::uint32_t problem, std::size_t, std::size_t) const override {
    const Prepared& of = problems_.at(problem);
    return {.decisions = static_cast<double>(rounds_ * actions_in_round(of)),
            .bytes = static_cast<double>(of.units->count()) * bytes_per_node(network_->sizes)};
  }

  void check(std::span<const Rollout> rounds) const override {
    check_count(rounds.size(), 1, "rounds");
    const Rollout& sample = rounds.front();
    const Prepared& problem = problems_.at(sample.problem);
    const std::size_t actions = actions_in_round(problem);
    check_count(sample.actions.size(), rounds_ * actions, "decisions");
    for (std::size_t round = 0; round < rounds_; ++round) {
      const auto of_round = actions_of(sample, round, actions);
      check_devices(problem, of_round.first(problem.units->count()));
      check_below(of_round.subspan(problem.units->count()), levels(), "level");
    }
    check_count(sample.observation.size(), 0, "observations");
  }

  // Priorities cannot be read from a placement.
  [[nodiscard]] std::vector<std::uint32_t> expressible_units(std::span<const Rollout> rounds) const override {
    if (levels() > 0) return {};
    return problems_.at(rounds.back().problem).units->unit_of_op;
  }
  void express(std::span<Rollout> rounds, const Placement& placement) const override {
    EMPLACE_CHECK(levels() == 0);
    Rollout& rollout = rounds.back();
    const Prepared& problem = problems_.at(rollout.problem);
    const std::size_t units = problem.units->count();
    std::ranges::copy(problem.units->read(placement), std::span(rollout.actions).last(units).begin());
    set_placement(problem, rollout);
  }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    log.begin.assign(1, 0);
    for (const Rollout& rollout : rollouts) {
      EMPLACE_CHECK(rollout.actions.size() == rounds_ * actions_in_round(problems_.at(rollout.problem)));
      log.begin.push_back(log.begin.back() + rollout.actions.size());
    }
    log.value.resize(log.begin.back());
    log.entropy.assign(rollouts.size(), 0.0);
    for_each_pass(rollouts, false, [&](std::span<const std::size_t> members, std::size_t round) {
      double entropy = 0;
      for (const nn::Categorical<float>& rows : pass_->heads)
        for (const double each : rows.entropy) entropy += each;
      for (const std::size_t s : members) {
        log.entropy[s] += entropy;
        std::size_t action = round * pass_->actions();
        for (const nn::Categorical<float>& rows : pass_->heads)
          for (std::size_t v = 0; v < rows.scores.rows; ++v, ++action)
            log.value[log.begin[s] + action] = rows.log_probability(v, rollouts[s].actions[action]);
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
      std::size_t first = round * pass_->actions();
      for (const nn::Categorical<float>& rows : pass_->heads) {
        const nn::Matrix<float> weight = tape.matrix(rows.scores.rows, rows.scores.columns);
        std::ranges::fill(weight.all(), 0.0F);
        for (const std::size_t s : members)
          for (std::size_t v = 0; v < weight.rows; ++v)
            weight(v, rollouts[s].actions[first + v]) += static_cast<float>(coefficients[begin[s] + first + v]);
        nn::seed_folded<float>(tape, rows, weight, entropy_weight * static_cast<double>(members.size()));
        first += weight.rows;
      }
      tape.backward();
      pass_->has_gradient = true;
    });
  }

  [[nodiscard]] bool independent_heads() const override { return rounds_ == 1 && levels() == 0; }

 private:
  struct Prepared {
    const Problem* problem;
    const Grouping* units;
    std::size_t columns;  // D of the head, where it is fixed; else the problem's devices
    GdpFeatures features;
    std::vector<GdpBlocks> blocks;  // from coarse to fine

    [[nodiscard]] std::span<const std::uint8_t> allowed() const { return blocks.back().allowed; }  // N x columns
  };

  // The forward pass that is on the tape; it is valid until the parameters change.
  struct Pass {
    nn::Tape<float> tape;
    std::vector<nn::Categorical<float>> heads;  // N x D, and with priority levels N x L
    std::span<float> gradient;
    std::vector<float> parameters, decisions;
    std::uint32_t problem = 0;
    bool any = false, is_first = false, has_gradient = false;
    [[nodiscard]] std::size_t actions() const { return heads.size() * heads.front().scores.rows; }  // of a round
    [[nodiscard]] bool is_first_of(std::uint32_t of, std::span<const float> now) const {
      return any && is_first && problem == of && std::memcmp(parameters.data(), now.data(), now.size_bytes()) == 0;
    }
  };

  [[nodiscard]] std::size_t levels() const { return network_->sizes.priority_levels; }
  [[nodiscard]] std::size_t actions_in_round(const Prepared& problem) const {
    return problem.units->count() * (levels() > 0 ? 2 : 1);
  }
  static std::span<const std::uint8_t> actions_of(const Rollout& rollout, std::size_t round, std::size_t actions) {
    return std::span(rollout.actions).subspan(round * actions, actions);
  }

  static void check_devices(const Prepared& problem, std::span<const std::uint8_t> device) {
    check_below(device, problem.problem->device_count(), "device");
    for (std::size_t unit = 0; unit < device.size(); ++unit)
      if (problem.allowed()[unit * problem.columns + device[unit]] == 0)
        throw InputError("checkpoint", "a sample puts unit {} on device {}, which cannot run it", unit, device[unit]);
  }

  // What the decisions of the last round say. The ops of a unit have its level.
  void set_placement(const Prepared& problem, Rollout& rollout) const {
    const Grouping& units = *problem.units;
    const auto last = actions_of(rollout, rounds_ - 1, actions_in_round(problem));
    const auto device = last.first(units.count()), level = last.subspan(units.count());
    units.expand({device.begin(), device.end()}, rollout.placement);
    if (level.empty()) return;
    std::vector<std::uint8_t> of_op(units.unit_of_op.size());
    for (std::size_t op = 0; op < of_op.size(); ++op) of_op[op] = level[units.unit_of_op[op]];
    rollout.placement.order = level_order(*problem.problem, of_op);
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
    if (!decided.empty())
      for (std::size_t v = 0; v < units; ++v) {
        const auto into = std::span(pass_->decisions).subspan(v * sizes.decision, sizes.decision);
        write_device(problem, decided[v], into.first(sizes.decision - levels()));
        if (levels() > 0) into[sizes.decision - levels() + decided[units + v]] = 1;
      }
    const GdpFeatures& features = problem.features;
    nn::Tape<float>& tape = pass_->tape;
    tape.begin(parameters_, pass_->gradient);
    const GdpInput<float> input{&features.types,
                                {features.rows.data(), units, sizes.features},
                                {pass_->decisions.data(), units, sizes.decision},
                                &features.neighbours,
                                &features.all,
                                {features.devices.data(), problem.columns, sizes.device_features},
                                {features.pairs.data(), units, problem.columns * sizes.pair_features}};
    const GdpResult result = gdp_network<float>(tape, *network_, input);
    pass_->heads.clear();
    require_finite(tape.value(result.logits).all());
    pass_->heads.push_back(nn::categorical<float>(tape, result.logits, problem.allowed()));
    if (levels() > 0) {
      require_finite(tape.value(result.priorities).all());
      pass_->heads.push_back(nn::categorical<float>(tape, result.priorities, {}));
    }
    pass_->parameters.assign(parameters_.begin(), parameters_.end());
    pass_->problem = number;
    pass_->is_first = decided.empty();
    pass_->any = true;
    pass_->has_gradient = false;
  }

  void write_device(const Prepared& problem, std::uint8_t device, std::span<float> into) const {
    if (network_->sizes.device_features == 0) {
      into[device] = 1;
      return;
    }
    const std::span<const float> rows = problem.features.devices;
    std::ranges::copy(rows.subspan(device * into.size(), into.size()), into.begin());
  }

  // In a training the blocks get finer; a policy that only places uses each size in turn.
  [[nodiscard]] const GdpBlocks& blocks_for(const Rollout& rollout, const Prepared& problem) const {
    const std::size_t sizes = problem.blocks.size();
    return problem
        .blocks[places_ ? (rollout.update + rollout.sample) % sizes : level_at(rollout.progress, coarse_share_, sizes)];
  }

  void decide(const SampleSlot& slot, std::size_t round, const Prepared& problem) const {
    Rollout& rollout = slot.rounds.back();
    const GdpBlocks& blocks = blocks_for(rollout, problem);
    auto actions = std::span(rollout.actions).subspan(round * pass_->actions(), pass_->actions());
    for (const nn::Categorical<float>& rows : pass_->heads) {
      const auto decision = actions.first(rows.scores.rows);
      actions = actions.subspan(decision.size());
      if (slot.greedy) {
        take_likeliest(rows, decision);
        continue;
      }
      const std::vector<double> uniform = uniform_numbers(*slot.stream, blocks.count);
      if (places_) {
        const bool all_allowed = rows.allowed.empty();
        decide_by_block(blocks, rows.probability, all_allowed ? rows.allowed : blocks.allowed, uniform, decision);
        continue;
      }
      for (std::size_t v = 0; v < decision.size(); ++v)
        decision[v] = at_quantile<float>(rows.probability.row(v), uniform[blocks.block_of_unit[v]]);
    }
  }

  static void take_likeliest(const nn::Categorical<float>& rows, std::span<std::uint8_t> decision) {
    const std::size_t choices = rows.scores.columns;
    for (std::size_t v = 0; v < decision.size(); ++v)
      decision[v] = likeliest<float>(rows.scores.row(v),
                                     rows.allowed.empty() ? rows.allowed : rows.allowed.subspan(v * choices, choices));
  }

  // Calls visit(members, round): in the first round once for all samples of a problem, in later ones for each sample.
  template <class Visit>
  void for_each_pass(std::span<const Rollout> rollouts, bool fresh, Visit&& visit) {
    std::vector<std::uint32_t> problem_of;
    for (const Rollout& rollout : rollouts) problem_of.push_back(rollout.problem);
    for (const RolloutPart<std::uint32_t>& part : parts_of(problem_of)) {
      pass(part.key, {}, fresh);
      visit(part.members, 0);
      const std::size_t actions = actions_in_round(problems_.at(part.key));
      for (const std::size_t& s : part.members)
        for (std::size_t round = 1; round < rounds_; ++round) {
          pass(part.key, actions_of(rollouts[s], round - 1, actions), fresh);
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
  entry.wrong_schedule = [](const ConfigTable& table, Schedule schedule) -> std::string {
    if (read_gdp_options(table).schedule_levels == 0 || schedule == Schedule::priority) return "";
    return fmt::format(
        "schedule_levels draws priorities of ops, which the schedule '{}' does not follow: wanted "
        "schedule = 'priority', or schedule_levels = 0",
        name_of(schedule));
  };
  return entry;
}

}  // namespace emplace::policy
