// Post's distribution: one categorical over devices for each unit, and no network (Gao, Chen, Li, NeurIPS 2018, section
// 3). Parameters are a table of logits, units x devices; a device on which a unit cannot run always has the logit
// -infinity, so it is never drawn and has no gradient.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "policy/common/categorical_table.hpp"
#include "policy/common/drawn_sample.hpp"
#include "policy/common/table_draw.hpp"
#include "policy/common/unit_levels.hpp"
#include "policy/methods.hpp"

namespace emplace::policy {

namespace {

constexpr float forbidden = -std::numeric_limits<float>::infinity();

struct PostOptions {
  double eps = 0;
  int coarse_units = 0;
  double coarse_share = 0.8;
};

void describe(PostOptions& o, OptionVisitor& visit) {
  visit("eps", o.eps,
        {.min = 0,
         .max = 1,
         .help = "Share of the uniform distribution mixed in after a refit; 0: D/((D-1)M) within [0.01, 0.1] for M "
                 "units and D devices."});
  visit(
      "coarse_units", o.coarse_units,
      {.min = 0,
       .help =
           "Begin with this many blocks of neighbouring units and double them level by level; 0: all units at once."});
  visit("coarse_share", o.coarse_share,
        {.min = 0,
         .max = 1,
         .help = "Share of the training's budget after which every unit has its own distribution; the levels before "
                 "have equal parts of it.",
         .only_with = {{"coarse_units", {"0"}, true}}});
}

// Chosen so that about one unit of each sample is moved at random (the paper gives no value).
double eps_of(double option, std::size_t units, std::size_t devices) {
  if (option > 0) return option;
  if (devices < 2) return 0.1;
  const auto d = static_cast<double>(devices);
  return std::clamp(d / ((d - 1) * static_cast<double>(units)), 0.01, 0.1);
}

// One problem's part of the parameters, which starts at `begin`. With several levels, coarse to fine, only the first
// cells (units x devices of the present level) are in use until the last level is reached.
struct PostPart {
  std::vector<Grouping> levels;
  std::size_t begin;
  double eps_option;
  std::size_t level = 0;
  CategoricalTable now;        // of the parameters at the last forward()
  CategoricalTable reference;  // of those at the last mark_reference()

  [[nodiscard]] const Grouping& grouping() const { return levels[level]; }
  [[nodiscard]] std::size_t units() const { return now.units(); }
  [[nodiscard]] std::size_t devices() const { return now.devices(); }
  [[nodiscard]] std::size_t cells() const { return units() * devices(); }
  [[nodiscard]] double eps() const { return eps_of(eps_option, units(), devices()); }
  // The level at which a sample with this number of actions was drawn; null if there is none.
  [[nodiscard]] const Grouping* level_of(std::size_t actions) const {
    const auto found = std::ranges::find(levels, actions, &Grouping::count);
    return found == levels.end() ? nullptr : &*found;
  }
  void set_level(std::size_t new_level) {
    if (new_level == level) return;
    level = new_level;
    now = reference = CategoricalTable(grouping().count(), devices());
  }
};

// With independent distributions a unit cannot follow its neighbour's device (docs/papers/post.md, section 6), so on a
// long chain they converge to many unnecessary cuts. Blocks of units that share a distribution avoid these; each
// level's blocks are unions of blocks of the next level.
class PostPolicy final : public Policy {
 public:
  PostPolicy(const PostOptions& options, const PolicySetup& setup)
      : has_levels_(options.coarse_units > 0), coarse_share_(options.coarse_share) {
    std::size_t cells = 0;
    for (const PolicyProblem& problem : setup.problems) {
      const std::size_t devices = problem.problem->device_count();
      std::vector<Grouping> levels = halved_levels(problem, static_cast<std::size_t>(options.coarse_units));
      CategoricalTable table(levels.front().count(), devices);
      parts_.push_back({std::move(levels), cells, options.eps, 0, table, table});
      cells += problem.grouping.count() * devices;
    }
    cells_ = cells;
    parameters_.assign(cells + (has_levels_ ? 1 : 0), 0.0f);
    gradient_.assign(parameters_.size(), 0.0f);
    for (const PostPart& part : parts_)
      for (std::size_t cell = 0; cell < part.cells(); ++cell)
        if (!part.grouping().allowed[cell]) parameters_[part.begin + cell] = forbidden;
  }

  // Units of the next level begin with the distribution of the block that they were in.
  void advance(double progress) override {
    if (!has_levels_) return;
    parameters_.back() = static_cast<float>(progress);
    for (PostPart& part : parts_) {
      if (level_of(part) == part.level) continue;
      const Grouping& before = part.grouping();
      part.now.set(logits(part));
      const std::vector<double> of_blocks = probabilities(part);
      part.set_level(level_of(part));
      mix(part, before, of_blocks);
    }
  }

  void sample(std::span<const SampleSlot> slots) const override {
    std::vector<std::optional<TableDraw>> draw_of(parts_.size());
    for (const SampleSlot& each : slots) {
      stop_point();
      Rollout& rollout = each.rounds.back();
      const PostPart& part = parts_.at(rollout.problem);
      if (each.greedy) {
        likeliest(part, rollout.actions);
      } else {
        std::optional<TableDraw>& draw = draw_of[rollout.problem];
        if (!draw) {
          CategoricalTable table(part.units(), part.devices());
          table.set(logits(part));
          draw.emplace(table);
        }
        (*draw)(*each.stream, rollout.actions);
      }
      part.grouping().expand(rollout.actions, rollout.placement);
    }
  }

  [[nodiscard]] MemoryNeed memory_need(std::uint32_t problem, std::size_t, std::size_t) const override {
    const std::vector<std::uint8_t>& cells = parts_.at(problem).levels.back().allowed;
    // A table of probabilities and logarithms, what is drawn from, weights or the counts of a fit, its result.
    constexpr double doubles = 5;
    return {.decisions = static_cast<double>(parts_.at(problem).levels.back().count()),
            .bytes = doubles * sizeof(double) * static_cast<double>(cells.size())};
  }

  void check(std::span<const Rollout> rounds) const override {
    check_count(rounds.size(), 1, "rounds");
    const Rollout& rollout = rounds.front();
    const PostPart& part = parts_.at(rollout.problem);
    if (part.level_of(rollout.actions.size()) == nullptr)
      throw InputError("checkpoint", "a sample has {} devices, but no level has this number of units",
                       rollout.actions.size());
    check_below(rollout.actions, part.devices(), "device");
    check_count(rollout.observation.size(), 0, "observations");
  }

  // At the level at which the sample was drawn.
  [[nodiscard]] std::vector<std::uint32_t> expressible_units(std::span<const Rollout> rounds) const override {
    return level_of(rounds.back()).unit_of_op;
  }
  void express(std::span<Rollout> rounds, const Placement& placement) const override {
    Rollout& rollout = rounds.back();
    const Grouping& units = level_of(rollout);
    rollout.actions = units.read(placement);
    units.expand(rollout.actions, rollout.placement);
  }

  [[nodiscard]] bool independent_heads() const override { return true; }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    for (PostPart& part : parts_) part.now.set(logits(part));
    std::vector<double> entropies;
    for (const PostPart& part : parts_) entropies.push_back(part.now.entropy());
    log.begin.assign(1, 0);
    log.value.clear();
    log.entropy.clear();
    for (const Rollout& rollout : rollouts) {
      const PostPart& part = parts_.at(rollout.problem);
      EMPLACE_CHECK(rollout.actions.size() == part.units());
      const std::size_t at = log.value.size();
      log.value.resize(at + part.units());
      const double* log_p = part.now.log_probability(0).data();
      for (std::size_t unit = 0; unit < part.units(); ++unit)
        log.value[at + unit] = log_p[rollout.actions[unit] * part.units() + unit];
      log.begin.push_back(log.value.size());
      log.entropy.push_back(entropies[rollout.problem]);
    }
  }

  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    // The gradient of all rollouts of a problem is one sum over its cells: first add up the weights of each cell, then
    // multiply by the distribution's gradient once.
    weight_.assign(cells_, 0.0);
    std::vector<double> entropy_weights(parts_.size(), 0.0);
    std::size_t next = 0;
    for (const Rollout& rollout : rollouts) {
      const PostPart& part = parts_.at(rollout.problem);
      EMPLACE_CHECK(next + part.units() <= coefficients.size());
      double* weight = weight_.data() + part.begin;
      for (std::size_t unit = 0; unit < part.units(); ++unit)
        weight[rollout.actions[unit] * part.units() + unit] += coefficients[next + unit];
      next += part.units();
      entropy_weights[rollout.problem] += entropy_weight;
    }
    EMPLACE_CHECK(next == coefficients.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const PostPart& part = parts_[p];
      part.now.add_gradient(std::span<const double>(weight_).subspan(part.begin, part.cells()), gradient_of(part));
      if (entropy_weights[p] != 0) part.now.add_entropy_gradient(entropy_weights[p], gradient_of(part));
    }
  }

  [[nodiscard]] bool has_exact_kl() const override { return true; }
  void mark_reference() override {
    for (PostPart& part : parts_) part.reference.set(logits(part));
  }
  [[nodiscard]] double kl() const override {
    double sum = 0;
    std::size_t heads = 0;
    for (const PostPart& part : parts_) {
      CategoricalTable now(part.units(), part.devices());
      now.set(logits(part));
      sum += now.kl_from(part.reference);
      heads += part.units();
    }
    return sum / static_cast<double>(heads);
  }
  void add_kl_gradient(double weight) override {
    for (const PostPart& part : parts_) part.now.add_kl_gradient(part.reference, weight, gradient_of(part));
  }

  [[nodiscard]] bool has_fit() const override { return true; }
  void fit(std::span<const Rollout> elites) override {
    std::vector<double> count(cells_, 0.0);  // units x devices in each part
    std::vector<double> elites_of(parts_.size(), 0.0);
    for (const Rollout& elite : elites) {
      const PostPart& part = parts_.at(elite.problem);
      const Grouping& drawn = level_of(elite);  // a coarser level if elites are kept over several
      for (std::size_t unit = 0; unit < part.units(); ++unit)
        count[part.begin + unit * part.devices() +
              elite.actions[drawn.unit_of_op[part.grouping().members[unit].front()]]] += 1;
      ++elites_of[elite.problem];
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      PostPart& part = parts_[p];
      part.now.set(logits(part));
      std::vector<double> fitted = probabilities(part);
      if (elites_of[p] > 0)
        for (std::size_t cell = 0; cell < part.cells(); ++cell) fitted[cell] = count[part.begin + cell] / elites_of[p];
      mix(part, part.grouping(), fitted);
    }
  }

  std::span<float> parameters() override { return parameters_; }
  std::span<float> gradient() override { return gradient_; }
  void parameters_changed() override {
    if (has_levels_ && !(parameters_.back() >= 0 && parameters_.back() <= 1))
      throw InputError("checkpoint", "policy/progress must be from 0 to 1, found {}", parameters_.back());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      PostPart& part = parts_[p];
      part.set_level(level_of(part));
      const std::vector<std::uint8_t>& allowed = part.grouping().allowed;
      for (std::size_t cell = 0; cell < part.levels.back().allowed.size(); ++cell) {
        const float value = parameters_[part.begin + cell];
        const bool finite = cell >= part.cells() || allowed[cell] != 0;
        if (finite ? !std::isfinite(value) : value != forbidden)
          throw InputError("checkpoint", "policy/{} holds {} for unit {} and device {}, wanted {}", layout()[p].name,
                           value, cell / part.devices(), cell % part.devices(),
                           finite ? "a finite number" : "-inf, because the device cannot run the unit");
      }
    }
  }

  [[nodiscard]] std::vector<ParameterInfo> layout() const override {
    std::vector<ParameterInfo> slices;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      slices.push_back({parts_.size() == 1 ? "logits" : fmt::format("logits.{}", p),
                        {parts_[p].levels.back().count(), parts_[p].devices()}});
    if (has_levels_) slices.push_back({"progress", {1}});
    return slices;
  }

 private:
  [[nodiscard]] const Grouping& level_of(const Rollout& rollout) const {
    const Grouping* level = parts_.at(rollout.problem).level_of(rollout.actions.size());
    EMPLACE_CHECK(level != nullptr);
    return *level;
  }
  void likeliest(const PostPart& part, std::vector<std::uint8_t>& actions) const {
    actions.resize(part.units());
    for (std::size_t unit = 0; unit < part.units(); ++unit) {
      const float* row = parameters_.data() + part.begin + unit * part.devices();
      actions[unit] = static_cast<std::uint8_t>(std::max_element(row, row + part.devices()) - row);
    }
  }
  [[nodiscard]] std::span<const float> logits(const PostPart& part) const {
    return std::span<const float>(parameters_).subspan(part.begin, part.cells());
  }
  [[nodiscard]] std::span<float> gradient_of(const PostPart& part) {
    return std::span<float>(gradient_).subspan(part.begin, part.cells());
  }
  [[nodiscard]] std::size_t level_of(const PostPart& part) const {
    return has_levels_ ? level_at(parameters_.back(), coarse_share_, part.levels.size()) : 0;
  }

  // Those of the last forward(), units x devices.
  [[nodiscard]] static std::vector<double> probabilities(const PostPart& part) {
    std::vector<double> rows(part.cells());
    for (std::size_t unit = 0; unit < part.units(); ++unit)
      for (std::size_t d = 0; d < part.devices(); ++d) rows[unit * part.devices() + d] = part.now.probability(d)[unit];
    return rows;
  }

  // Sets the logits of the part's units. A unit gets the probabilities `fitted` (units of `before` x devices) of the
  // unit of `before` that contains it, mixed with the uniform distribution over the devices that can run it.
  void mix(const PostPart& part, const Grouping& before, std::span<const double> fitted) {
    const Grouping& units = part.grouping();
    const std::size_t devices = part.devices();
    const double eps = part.eps();
    for (std::size_t unit = 0; unit < units.count(); ++unit) {
      const double* f = fitted.data() + before.unit_of_op[units.members[unit].front()] * devices;
      double choices = 0;
      for (std::size_t d = 0; d < devices; ++d) choices += units.allows(unit, d);
      float* row = parameters_.data() + part.begin + unit * devices;
      for (std::size_t d = 0; d < devices; ++d)
        row[d] = units.allows(unit, d) ? static_cast<float>(std::log((1 - eps) * f[d] + eps / choices)) : forbidden;
    }
  }

  bool has_levels_;
  double coarse_share_;
  std::vector<PostPart> parts_;
  std::size_t cells_ = 0;          // of all parts at their finest levels
  std::vector<float> parameters_;  // logits, and with levels the share of the budget that is used
  std::vector<float> gradient_;
  std::vector<double> weight_;  // D x U in each part
};

}  // namespace

PolicyEntry post_policy() {
  PolicyEntry entry;
  entry.name = "post";
  entry.summary = "Independent categorical distributions over devices, one a unit; no network.";
  entry.reference = "Gao, Chen, Li: Post (NeurIPS 2018)";
  entry.transfers = false;
  make_from_options<PostPolicy, PostOptions>(entry);
  entry.unfit = [](const ConfigTable& options, const std::string&, const ConfigTable& learner_options) -> std::string {
    if (read_options<PostOptions>(options).coarse_units == 0 || !learner_options.flag("keep_best", false)) return "";
    return "with coarse_units the number of decisions grows, but keep_best learns from samples of earlier updates: "
           "wanted coarse_units = 0, or keep_best = false";
  };
  return entry;
}

}  // namespace emplace::policy
