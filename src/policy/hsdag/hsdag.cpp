// HSDAG: a network that parses the graph of units into clusters and places each of them (Duan et al., NeurIPS 2024;
// docs/papers/hsdag.md, section 2). A sample is an episode of `update_timestep` placements: after each, the embedding
// of its cluster is added to the features of every node, without gradient. A round's actions are the devices of its
// clusters. Its observation stores the clusters, because later parameters would parse others.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/drawn_sample.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/hsdag/features.hpp"
#include "policy/hsdag/options.hpp"
#include "policy/hsdag/record.hpp"
#include "policy/hsdag/round.hpp"
#include "policy/methods.hpp"

namespace emplace::policy {

namespace {

class HsdagPolicy final : public NetworkPolicy {
 public:
  HsdagPolicy(const HsdagOptions& options, const PolicySetup& setup)
      : grouping_(hsdag_grouping(options.grouping)),
        rounds_(static_cast<std::uint32_t>(options.update_timestep)),
        passes_(options.parsing_passes),
        dropout_(options.dropout),
        is_one_pass_(rounds_ == 1 && dropout_ == 0 && grouping_ != HsdagGrouping::learned),
        seed_(setup.seed) {
    std::vector<HsdagGraph> graphs;
    for (const PolicyProblem& problem : setup.problems) graphs.push_back(hsdag_graph(problem));
    const HsdagColumns columns = hsdag_columns(options, setup, graphs);
    for (std::uint32_t p = 0; p < setup.problems.size(); ++p) {
      const PolicyProblem& problem = setup.problems[p];
      HsdagPart& part = parts_.emplace_back();
      part.units = &problem.grouping;
      part.features = hsdag_features(problem, graphs[p], columns, setup.op_types, setup.seed, p);
      part.graph = std::move(graphs[p].graph);
    }
    HsdagSizes sizes;
    sizes.features = columns.width();
    sizes.hidden = static_cast<std::size_t>(options.hidden);
    sizes.devices = common_device_count(setup.problems, "hsdag");
    sizes.encoder = hsdag_encoder(options.encoder);
    sizes.score_layers = options.score_layers;
    sizes.pool_layers = options.pool_layers;
    sizes.scores_edges = grouping_ == HsdagGrouping::parsed;
    sizes.groups = static_cast<std::size_t>(options.groups);
    network_.emplace(sizes);
    use(network_->layout());
    network_->layout().initialize<float>(parameters_, setup.seed);
  }

  [[nodiscard]] std::size_t rounds(std::uint32_t) const override { return rounds_; }

  [[nodiscard]] MemoryNeed memory_need(std::uint32_t problem, std::size_t drawn, std::size_t) const override {
    const HsdagPart& part = parts_.at(problem);
    const auto nodes = static_cast<double>(part.graph.nodes), rounds = static_cast<double>(rounds_);
    MemoryNeed need{.decisions = rounds * nodes * (grouping_ == HsdagGrouping::learned ? 2 : 1)};
    if (grouping_ == HsdagGrouping::parsed) need.observations = rounds * nodes * static_cast<double>(passes_);
    need.bytes = bytes_of_passes(network_->sizes(), part.graph, passes_);
    // The features of the episodes that are drawn, and of the one that is learned from.
    if (rounds_ > 1) need.bytes += static_cast<double>((drawn + 1) * part.features.size() * sizeof(float));
    return need;
  }

  void check(std::span<const Rollout> rounds) const override {
    const HsdagPart& part = parts_.at(rounds.front().problem);
    check_count(rounds.size(), rounds_, "rounds");
    for (const Rollout& round : rounds) {
      std::size_t clusters = part.graph.nodes;
      if (grouping_ == HsdagGrouping::parsed) {
        clusters = check_clusters(part.graph, passes_, round.observation);
      } else {
        check_count(round.observation.size(), 0, "observations in a round");
      }
      std::span<const std::uint8_t> devices = round.actions;
      if (grouping_ == HsdagGrouping::learned) {
        if (devices.size() < part.graph.nodes)
          throw InputError("checkpoint", "a sample has {} actions in a round, wanted more than {}, the number of units",
                           devices.size(), part.graph.nodes);
        const auto groups = devices.first(part.graph.nodes);
        check_below(groups, network_->sizes().groups, "group");
        std::vector<char> drawn(network_->sizes().groups, 0);
        for (const std::uint8_t group : groups) drawn[group] = 1;
        clusters = static_cast<std::size_t>(std::ranges::count(drawn, 1));
        devices = devices.subspan(part.graph.nodes);
      }
      check_count(devices.size(), clusters, "devices in a round");
      check_below(devices, network_->sizes().devices, "device");
    }
  }

  void sample(std::span<const SampleSlot> slots) const override {
    HsdagRound run;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const SampleSlot& slot = slots[i];
      Rollout& now = slot.rounds.back();
      const HsdagPart& part = parts_.at(now.problem);
      std::vector<float>* const grown = rounds_ > 1 ? &state_of(slot) : nullptr;
      const std::vector<float>& x = grown != nullptr ? *grown : part.features;
      now.actions.clear();
      now.observation.clear();
      if (const Rollout* before = i > 0 ? &slots[i - 1].rounds.back() : nullptr;
          before != nullptr && is_one_pass_ && before->problem == now.problem)
        now.observation = before->observation;
      else
        run = compute(sampling_tape_, part, x, now, slot.greedy, {}, sampling_levels_, Drawing(slot));
      const std::size_t count = sampling_levels_.cluster_count;
      std::vector<float> weights(network_->sizes().devices);
      const std::span<const std::uint8_t> allowed = run.devices.allowed;
      for (std::size_t c = 0; c < count; ++c)
        now.actions.push_back(
            decide(slot, run.devices.scores.row(c), allowed.subspan(c * weights.size(), weights.size()), weights));
      const std::span<const std::uint8_t> devices = std::span(now.actions).last(count);
      std::vector<std::uint8_t> device_of_unit;
      for (const std::uint32_t cluster : sampling_levels_.cluster_of_node) device_of_unit.push_back(devices[cluster]);
      part.units->expand(device_of_unit, now.placement);
      if (grown != nullptr) grow(*grown, run.embedding, sampling_levels_);
    }
  }

  // The clusters of the last round keep their nodes.
  [[nodiscard]] std::vector<std::uint32_t> expressible_units(std::span<const Rollout> rounds) const override {
    const Rollout& rollout = rounds.back();
    const std::vector<std::uint32_t> clusters = clusters_of(rollout);
    std::vector<std::uint32_t> labels = parts_.at(rollout.problem).units->unit_of_op;
    for (std::uint32_t& label : labels) label = clusters[label];
    return labels;
  }
  void express(std::span<Rollout> rounds, const Placement& placement) const override {
    Rollout& rollout = rounds.back();
    const Grouping& units = *parts_.at(rollout.problem).units;
    const std::vector<std::uint32_t> clusters = clusters_of(rollout);
    const std::span<std::uint8_t> devices =
        std::span(rollout.actions).last(std::ranges::max(clusters) + std::size_t{1});
    std::vector<std::uint8_t> of_unit = units.read(placement);
    for (std::size_t unit = 0; unit < of_unit.size(); ++unit) devices[clusters[unit]] = of_unit[unit];
    for (std::size_t unit = 0; unit < of_unit.size(); ++unit) of_unit[unit] = devices[clusters[unit]];
    units.expand(of_unit, rollout.placement);
  }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    log.begin.assign(1, 0);
    log.value.clear();
    log.entropy.assign(rollouts.size(), 0.0);
    on_tape_.reset();
    for (std::size_t i = 0, count = 0; i < rollouts.size(); i += count) {
      const HsdagRound run = compute_given(rollouts[i]);
      count = with_one_pass(rollouts.subspan(i));
      for (std::size_t s = i; s < i + count; ++s) {
        const auto take = [&](const nn::Categorical<float>& rows, std::span<const std::uint8_t> actions) {
          for (std::size_t r = 0; r < actions.size(); ++r) {
            log.value.push_back(rows.log_probability(r, actions[r]));
            log.entropy[s] += rows.entropy[r];
          }
        };
        const auto [groups, devices] = decisions(rollouts[s]);
        if (grouping_ == HsdagGrouping::learned) take(run.groups, groups);
        take(run.devices, devices);
        log.begin.push_back(log.value.size());
      }
      if (i + count == rollouts.size())
        on_tape_ = {run, i};
      else if (rounds_ > 1)
        grow(x_, run.embedding, levels_);
    }
  }

  // Rounds are recomputed rather than stored, except for the last pass, which is still on the tape.
  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    const auto heads = [](std::span<const Rollout> of) {
      std::size_t sum = 0;
      for (const Rollout& rollout : of) sum += rollout.actions.size();
      return sum;
    };
    EMPLACE_CHECK(heads(rollouts) == coefficients.size());
    std::size_t end = rollouts.size();
    if (on_tape_) {
      end = on_tape_->second;
      const std::span<const Rollout> last = rollouts.subspan(end);
      seed(on_tape_->first, last, coefficients.last(heads(last)), entropy_weight);
      on_tape_.reset();
    }
    for (std::size_t i = 0, count = 0, next = 0; i < end; i += count) {
      count = with_one_pass(rollouts.subspan(i));
      const std::span<const Rollout> members = rollouts.subspan(i, count);
      const std::span<const double> weights = coefficients.subspan(next, heads(members));
      next += weights.size();
      const bool teaches = entropy_weight != 0 || std::ranges::any_of(weights, [](double w) { return w != 0; });
      const HsdagRound run = compute_given(members.front());
      if (teaches) seed(run, members, weights, entropy_weight);
      if (i + count < rollouts.size() && rollouts[i + count].round > 0) grow(x_, run.embedding, levels_);
    }
  }

 private:
  // For sampling: clusters are parsed or drawn, and stored in the round.
  struct Drawing final : HsdagDecisions {
    const SampleSlot* slot;
    explicit Drawing(const SampleSlot& of) : slot(&of) {}
    void parsed(const NodeGraph& graph, std::span<const float> scores, Clusters& clusters) const override {
      require_finite(scores);
      parse(graph, scores, clusters);
      note_clusters(clusters, slot->rounds.back().observation);
    }
    [[nodiscard]] std::span<const std::uint8_t> grouped(const nn::Categorical<float>& groups) const override {
      std::vector<std::uint8_t>& actions = slot->rounds.back().actions;
      std::vector<float> weights(groups.scores.columns);
      for (std::size_t node = 0; node < groups.scores.rows; ++node)
        actions.push_back(decide(*slot, groups.scores.row(node), {}, weights));
      return actions;
    }
  };
  // For learning: clusters are read from the round.
  struct Given final : HsdagDecisions {
    const Rollout* round;
    mutable std::size_t read = 0;  // position in the observation
    explicit Given(const Rollout& of) : round(&of) {}
    void parsed(const NodeGraph& graph, std::span<const float>, Clusters& clusters) const override {
      read_clusters(graph, round->observation, read, clusters);
    }
    [[nodiscard]] std::span<const std::uint8_t> grouped(const nn::Categorical<float>& groups) const override {
      EMPLACE_CHECK(round->actions.size() >= groups.scores.rows);
      return round->actions;
    }
  };

  static std::uint8_t decide(const SampleSlot& slot, std::span<const float> logits,
                             std::span<const std::uint8_t> allowed, std::span<float> weights) {
    return slot.greedy ? likeliest<float>(logits, allowed)
                       : emplace::policy::draw<float>(logits, allowed, *slot.stream, weights);
  }

  // Splits a rollout's actions into the groups of nodes (none unless groups are learned) and the devices of clusters.
  [[nodiscard]] std::pair<std::span<const std::uint8_t>, std::span<const std::uint8_t>> decisions(
      const Rollout& rollout) const {
    const std::size_t groups = grouping_ == HsdagGrouping::learned ? parts_.at(rollout.problem).graph.nodes : 0;
    const std::span<const std::uint8_t> all = rollout.actions;
    EMPLACE_CHECK(all.size() >= groups);
    return {all.first(groups), all.subspan(groups)};
  }

  // The cluster of each node in a drawn round.
  [[nodiscard]] std::vector<std::uint32_t> clusters_of(const Rollout& rollout) const {
    const std::size_t nodes = parts_.at(rollout.problem).graph.nodes;
    std::vector<std::uint32_t> clusters = noted_clusters(nodes, rollout.observation);
    const auto groups = decisions(rollout).first;  // numbered by their smallest node
    std::map<std::uint8_t, std::uint32_t> number;
    for (std::size_t node = 0; node < groups.size(); ++node)
      clusters[node] = number.try_emplace(groups[node], static_cast<std::uint32_t>(number.size())).first->second;
    return clusters;
  }

  // One forward pass with the features x. `levels` belong to the tape.
  HsdagRound compute(nn::Tape<float>& tape, const HsdagPart& part, std::span<const float> x, const Rollout& round,
                     bool greedy, std::span<float> gradient, HsdagLevels& levels,
                     const HsdagDecisions& decisions) const {
    Stream masks({.seed = seed_,
                  .purpose = Purpose::dropout,
                  .update = round.update,
                  .index = round.sample * rounds_ + round.round});
    tape.begin(parameters_, gradient);
    return hsdag_round(tape, *network_, grouping_, passes_, part, x, {dropout_, greedy ? nullptr : &masks}, levels,
                       decisions);
  }

  // The forward pass of a drawn round. The earlier rounds of its episode were computed before, and x_ has their
  // features.
  HsdagRound compute_given(const Rollout& rollout) {
    const HsdagPart& part = parts_.at(rollout.problem);
    if (rollout.round == 0) x_ = part.features;
    const Given given(rollout);
    const HsdagRound run = compute(tape_, part, x_, rollout, false, gradient_, levels_, given);
    EMPLACE_CHECK(given.read == rollout.observation.size());
    return run;
  }

  // How many of the rollouts, from the first on, share one pass: those of episodes of one round without dropout, where
  // the pass depends only on the parameters.
  [[nodiscard]] std::size_t with_one_pass(std::span<const Rollout> rollouts) const {
    const Rollout& first = rollouts.front();
    std::size_t count = 1;
    while (is_one_pass_ && count < rollouts.size() && rollouts[count].problem == first.problem &&
           rollouts[count].observation == first.observation)
      ++count;
    return count;
  }

  // Adds the gradient of the rollouts that share the pass.
  void seed(const HsdagRound& run, std::span<const Rollout> members, std::span<const double> coefficients,
            double entropy_weight) {
    if (members.size() == 1) {
      const auto [groups, devices] = decisions(members.front());
      if (grouping_ == HsdagGrouping::learned)
        nn::seed<float>(tape_, run.groups, groups, coefficients.first(groups.size()), entropy_weight);
      nn::seed<float>(tape_, run.devices, devices, coefficients.last(devices.size()), entropy_weight);
    } else {
      const nn::Matrix<float> weight = tape_.matrix(run.devices.scores.rows, run.devices.scores.columns);
      std::ranges::fill(weight.all(), 0.0F);
      auto coefficient = coefficients.begin();
      EMPLACE_CHECK(coefficients.size() == members.size() * weight.rows,
                    "{} coefficients for {} samples of {} clusters", coefficients.size(), members.size(), weight.rows);
      for (const Rollout& member : members)
        for (std::size_t c = 0; c < weight.rows; ++c)
          weight(c, member.actions[c]) += static_cast<float>(*coefficient++);
      nn::seed_folded<float>(tape_, run.devices, weight, entropy_weight * static_cast<double>(members.size()));
    }
    tape_.backward();
  }

  // The features at the beginning of this round: kept from the previous round, or recomputed from all earlier rounds.
  std::vector<float>& state_of(const SampleSlot& slot) const {
    const Rollout& now = slot.rounds.back();
    const HsdagPart& part = parts_.at(now.problem);
    if (now.round == 0)
      std::erase_if(episodes_, [&](const auto& each) { return std::get<0>(each.first) != now.update; });
    Episode& episode = episodes_[{now.update, now.problem, now.sample, slot.greedy}];
    if (now.round == 0 || episode.rounds != now.round) {
      episode.x = part.features;
      for (const Rollout& earlier : slot.rounds.first(now.round)) {
        const HsdagRound run =
            compute(sampling_tape_, part, episode.x, earlier, slot.greedy, {}, sampling_levels_, Given(earlier));
        grow(episode.x, run.embedding, sampling_levels_);
      }
    }
    episode.rounds = now.round + 1;
    return episode.x;
  }

  struct Episode {
    std::uint32_t rounds = 0;  // that x includes
    std::vector<float> x;
  };
  using EpisodeKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, bool>;  // update, problem, sample, greedy

  HsdagGrouping grouping_;
  std::uint32_t rounds_;
  int passes_;
  double dropout_;
  bool is_one_pass_;  // all samples of an update share one forward pass
  std::uint64_t seed_;
  std::vector<HsdagPart> parts_;
  std::optional<HsdagNetwork> network_;
  nn::Tape<float> tape_;
  HsdagLevels levels_;                                         // of the pass on the tape
  std::vector<float> x_;                                       // its features
  std::optional<std::pair<HsdagRound, std::size_t>> on_tape_;  // forward()'s last pass, and the first of its rollouts
  mutable nn::Tape<float> sampling_tape_;
  mutable HsdagLevels sampling_levels_;
  mutable std::map<EpisodeKey, Episode> episodes_;  // that are being drawn
};

}  // namespace

PolicyEntry hsdag_policy() {
  PolicyEntry entry;
  entry.name = "hsdag";
  entry.summary =
      "A graph network that parses units into clusters and places those, several times from state to state.";
  entry.reference = "Duan et al.: A structure-aware framework for learning device placements (NeurIPS 2024)";
  entry.reads_op_types = true;
  make_from_options<HsdagPolicy, HsdagOptions>(entry, read_hsdag_options);
  entry.freeze_defaults = freeze_degrees;
  entry.frozen = {"in_degrees", "out_degrees"};
  return entry;
}

}  // namespace emplace::policy
