// The Hierarchical Planner: a grouper assigns each unit to one of G groups, and a placer assigns each group to a device
// (Mirhoseini et al., ICLR 2018; docs/papers/hierarchical.md, section 2). The actions are the units' groups, then the
// groups' devices. Each action is a separate head, because the joint probability ratio of tens of thousands of actions
// would leave every clipping range at once.
#include <map>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/drawn_sample.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/common/rollout_parts.hpp"
#include "policy/hierarchical/grouper.hpp"
#include "policy/hierarchical/options.hpp"
#include "policy/hierarchical/placer.hpp"
#include "policy/methods.hpp"

namespace emplace::policy {

namespace {

class HierarchicalPolicy final : public NetworkPolicy {
 public:
  HierarchicalPolicy(const HierarchicalOptions& options, const PolicySetup& setup)
      : mode_(mode_of(options)),
        network_(hierarchical_sizes(options, setup)),
        noise_(noise_of(options)),
        sharing_(options.placements_per_grouping),
        grouper_(network_, noise_, options.grouper_entropy, setup.seed,
                 static_cast<std::uint32_t>(options.placements_per_grouping)),
        placer_(network_, noise_, group_blocks_of(options), setup.seed),
        sampling_placer_(network_, noise_, group_blocks_of(options), setup.seed) {
    const OpColumns columns = op_columns(options);
    for (const PolicyProblem& problem : setup.problems)
      problems_.push_back({&problem.grouping, unit_table(problem, setup.op_types, columns)});
    use(network_.layout);
    network_.initialize<float>(parameters_, setup.seed);
  }

  void sample(std::span<const SampleSlot> slots) const override {
    draw_groups(slots);
    std::vector<Rollout*> rollouts;
    for (const SampleSlot& each : slots) rollouts.push_back(&each.rounds.back());
    std::vector<std::size_t> view_of;
    const std::vector<GroupView> views = views_of(
        rollouts.size(), [&](std::size_t i) -> const Rollout& { return *rollouts[i]; }, view_of);
    for (const Part& part : parts_of(view_of)) sampling_placer_.draw(views[part.key], parameters_, slots, part.members);
    for (Rollout* rollout : rollouts) set_placement(*rollout);
  }

  // The sample's groups keep their units.
  [[nodiscard]] std::vector<std::uint32_t> expressible_units(std::span<const Rollout> rounds) const override {
    const Rollout& rollout = rounds.back();
    std::vector<std::uint32_t> labels = problems_.at(rollout.problem).units->unit_of_op;
    for (std::uint32_t& label : labels) label = static_cast<std::uint32_t>(group_of(rollout, label));
    return labels;
  }
  void express(std::span<Rollout> rounds, const Placement& placement) const override {
    Rollout& rollout = rounds.back();
    const Grouping& units = *problems_.at(rollout.problem).units;
    const std::span<std::uint8_t> device = std::span(rollout.actions).last(network_.sizes.groups);
    const std::vector<std::uint8_t> of_unit = units.read(placement);
    for (std::size_t unit = 0; unit < of_unit.size(); ++unit) device[group_of(rollout, unit)] = of_unit[unit];
    set_placement(rollout);
  }

  [[nodiscard]] MemoryNeed memory_need(std::uint32_t problem, std::size_t drawn, std::size_t chunk) const override {
    const HierarchicalSizes& sizes = network_.sizes;
    const auto units = static_cast<double>(problems_.at(problem).units->count());
    const double groups = static_cast<double>(sizes.groups), features = static_cast<double>(sizes.group_features());
    // Samples that share a grouping share one view of the groups, and are decoded together.
    const auto sharing = static_cast<std::size_t>(sharing_);
    const auto views = [&](std::size_t samples) { return static_cast<double>((samples + sharing - 1) / sharing); };
    MemoryNeed need{.decisions = units + groups};
    if (noise_.has_scale()) need.observations = need.decisions;
    need.bytes = (views(drawn) + views(chunk)) * (sizeof(float) * groups * features + units) +
                 bytes_of_decoding(network_.decoder, sizes.groups, sizes.group_features(), sizes.devices, chunk) +
                 bytes_of_decoder_steps(network_.decoder, sizes.groups, sizes.group_features(), drawn) +
                 grouper_.bytes(views(chunk));
    return need;
  }

  void check(std::span<const Rollout> rounds) const override {
    check_count(rounds.size(), 1, "rounds");
    const Rollout& rollout = rounds.front();
    const std::size_t units = grouped_units(rollout), groups = network_.sizes.groups;
    check_count(rollout.actions.size(), units + groups, "groups and devices");
    check_below(std::span(rollout.actions).first(units), groups, "group");
    check_below(std::span(rollout.actions).last(groups), network_.sizes.devices, "device");
    const bool has_scales = noise_.has_scale() && noise_.is_on(rollout.progress);
    check_count(rollout.observation.size(), has_scales ? (network_.sizes.has_grouper ? units : 0) + groups : 0,
                "scales of noise");
    check_finite(rollout.observation);
  }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    const std::size_t groups = network_.sizes.groups;
    log.begin.assign(1, 0);
    for (const Rollout& rollout : rollouts) log.begin.push_back(log.begin.back() + heads_of(rollout));
    log.value.resize(log.begin.back());
    log.entropy.assign(rollouts.size(), 0.0);
    begin_ = log.begin;
    if (network_.sizes.has_grouper)
      for_each_problem(rollouts, [&](const Prepared& problem, std::span<const std::size_t> members) {
        grouper_.forward(problem.table, parameters_, rollouts, members, log);
      });

    std::vector<std::size_t> view_of;
    views_ = views_of(
        rollouts.size(), [&](std::size_t i) -> const Rollout& { return rollouts[i]; }, view_of);
    parts_ = parts_of(view_of);
    for (const Part& part : parts_) {
      const auto& rows = placer_.run(views_[part.key], parameters_, gradient_, rollouts, part.members);
      const std::size_t batch = part.members.size();
      for (std::size_t b = 0; b < batch; ++b) {
        const std::size_t s = part.members[b];
        const std::span<const std::uint8_t> device = std::span(rollouts[s].actions).last(groups);
        for (std::size_t t = 0; t < groups; ++t) {
          log.value[log.begin[s + 1] - groups + t] = rows.log_probability(t * batch + b, device[t]);
          log.entropy[s] += rows.entropy[t * batch + b];
        }
      }
    }
    is_on_tape_ = parts_.size() == 1;
  }

  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    EMPLACE_CHECK(begin_.size() == rollouts.size() + 1 && coefficients.size() == begin_.back());
    if (network_.sizes.has_grouper)
      for_each_problem(rollouts, [&](const Prepared& problem, std::span<const std::size_t> members) {
        grouper_.backward(problem.table, parameters_, gradient_, rollouts, members, begin_, coefficients,
                          entropy_weight);
      });
    for (const Part& part : parts_) {
      if (!is_on_tape_) placer_.run(views_[part.key], parameters_, gradient_, rollouts, part.members);
      is_on_tape_ = false;
      placer_.backward(part.members, begin_, coefficients, entropy_weight);
    }
  }

 private:
  using Part = RolloutPart<std::size_t>;
  struct Prepared {
    const Grouping* units;
    UnitTable table;
  };

  void set_placement(Rollout& rollout) const {
    const Prepared& problem = problems_[rollout.problem];
    const std::span<const std::uint8_t> device = std::span(rollout.actions).last(network_.sizes.groups);
    std::vector<std::uint8_t> device_of_unit(problem.units->count());
    for (std::size_t unit = 0; unit < device_of_unit.size(); ++unit)
      device_of_unit[unit] = device[group_of(rollout, unit)];
    problem.units->expand(device_of_unit, rollout.placement);
  }
  // The unit's group in a rollout whose groups are set (without grouping each unit is a group).
  [[nodiscard]] std::size_t group_of(const Rollout& rollout, std::size_t unit) const {
    return mode_ == GroupingMode::none ? unit : rollout.actions[unit];
  }
  [[nodiscard]] std::size_t grouped_units(const Rollout& rollout) const {
    return mode_ == GroupingMode::none ? 0 : problems_.at(rollout.problem).units->count();
  }
  // Groups that are drawn uniformly cannot be learned, so they have no heads.
  [[nodiscard]] std::size_t heads_of(const Rollout& rollout) const {
    EMPLACE_CHECK(rollout.actions.size() == grouped_units(rollout) + network_.sizes.groups);
    return (network_.sizes.has_grouper ? grouped_units(rollout) : 0) + network_.sizes.groups;
  }

  template <class Visit>
  void for_each_problem(std::span<const Rollout> rollouts, Visit&& visit) {
    std::vector<std::uint32_t> problem_of;
    for (const Rollout& rollout : rollouts) problem_of.push_back(rollout.problem);
    for (const auto& part : parts_of(problem_of)) visit(problems_.at(part.key), part.members);
  }

  void draw_groups(std::span<const SampleSlot> slots) const {
    using Key = std::tuple<std::uint64_t, std::uint32_t, bool>;
    std::map<std::uint32_t, std::map<Key, std::vector<Rollout*>>> wanted;
    for (const SampleSlot& each : slots) {
      Rollout& rollout = each.rounds.back();
      rollout.actions.clear();
      rollout.observation.clear();
      if (mode_ != GroupingMode::none)
        wanted[rollout.problem][{rollout.update, grouper_.index_of(rollout), each.greedy}].push_back(&rollout);
    }
    for (const auto& [problem, groupings] : wanted) {
      const UnitTable& table = problems_.at(problem).table;
      std::vector<GroupingDraw> drawn;
      for (const auto& [key, rollouts] : groupings)
        drawn.push_back({.update = std::get<0>(key),
                         .index = std::get<1>(key),
                         .progress = rollouts.front()->progress,
                         .greedy = std::get<2>(key),
                         .groups = {},
                         .scales = {}});
      if (network_.sizes.has_grouper)
        grouper_.draw(table, parameters_, drawn);
      else
        for (GroupingDraw& each : drawn) grouper_.draw_uniformly(table.count(), each);
      auto result = drawn.begin();
      for (const auto& [key, rollouts] : groupings) {
        for (Rollout* rollout : rollouts) {
          rollout->actions = result->groups;
          rollout->observation = result->scales;
        }
        ++result;
      }
    }
  }

  // Lists each distinct grouping of each problem once, and in `view_of` which of them each rollout has.
  template <class At>
  std::vector<GroupView> views_of(std::size_t count, At&& at, std::vector<std::size_t>& view_of) const {
    std::map<std::pair<std::uint32_t, std::vector<std::uint8_t>>, std::size_t> known;
    std::vector<GroupView> views;
    for (std::size_t i = 0; i < count; ++i) {
      const Rollout& rollout = at(i);
      const auto groups = std::span(rollout.actions).first(grouped_units(rollout));
      const auto [found, fresh] =
          known.try_emplace({rollout.problem, std::vector<std::uint8_t>(groups.begin(), groups.end())}, views.size());
      if (fresh) views.push_back(view(rollout));
      view_of.push_back(found->second);
    }
    return views;
  }

  [[nodiscard]] GroupView view(const Rollout& rollout) const {
    const Prepared& problem = problems_.at(rollout.problem);
    const HierarchicalSizes& sizes = network_.sizes;
    std::vector<std::uint32_t> group_of_unit(problem.units->count());
    for (std::size_t unit = 0; unit < group_of_unit.size(); ++unit) {
      group_of_unit[unit] = static_cast<std::uint32_t>(group_of(rollout, unit));
      EMPLACE_CHECK(group_of_unit[unit] < sizes.groups);
    }
    GroupView made;
    made.features.resize(sizes.groups * sizes.group_features());
    set_group_features(problem.table, group_of_unit, sizes.groups, sizes.types, made.features);
    made.allowed.assign(sizes.groups * sizes.devices, 1);
    for (std::size_t unit = 0; unit < group_of_unit.size(); ++unit)
      for (std::size_t d = 0; d < sizes.devices; ++d)
        if (!problem.units->allows(unit, d)) made.allowed[group_of_unit[unit] * sizes.devices + d] = 0;
    for (std::size_t g = 0; g < sizes.groups; ++g)
      allow_first_if_none(std::span(made.allowed).subspan(g * sizes.devices, sizes.devices));
    return made;
  }

  GroupingMode mode_;
  HierarchicalNetwork network_;
  LogitNoise noise_;
  int sharing_;  // samples of one grouping
  mutable Grouper grouper_;
  Placer placer_;
  mutable Placer sampling_placer_;  // separate, so that sample() keeps what forward() computed
  std::vector<Prepared> problems_;
  std::vector<std::size_t> begin_;  // where heads begin; parts_ and views_ too are the last forward()'s
  std::vector<Part> parts_;
  std::vector<GroupView> views_;
  bool is_on_tape_ = false;  // whether the forward pass of the only part is on placer_'s tape
};

}  // namespace

PolicyEntry hierarchical_policy() {
  PolicyEntry entry;
  entry.name = "hierarchical";
  entry.summary =
      "A grouper that assigns units to groups, and a sequence-to-sequence placer of groups, learned jointly.";
  entry.reference = "Mirhoseini et al.: A Hierarchical Model for Device Placement (ICLR 2018)";
  entry.reads_op_types = true;
  make_from_options<HierarchicalPolicy, HierarchicalOptions>(entry);
  entry.freeze_defaults = freeze_groups;
  entry.frozen = {"groups"};
  return entry;
}

}  // namespace emplace::policy
