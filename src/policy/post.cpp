// Post's distribution: one categorical over devices for each unit, and no network (papers: Gao et al. 2018, section 3).
// Parameters are a table of logits, units x devices; a device on which a unit cannot run has the logit -inf from the
// start and is left out of everything.
#include <algorithm>
#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"
#include "methods.hpp"

namespace emplace {

namespace {

struct PostOptions {
  double eps = 0;
};

void describe(PostOptions& o, OptionVisitor& visit) {
  visit(
      "eps", o.eps,
      {.min = 0,
       .max = 1,
       .help = "Share of the uniform distribution mixed in after a refit; 0: D/((D-1)M) within [0.01, 0.1] for M units "
               "and D devices."});
}

// About one unit a sample is moved at random (our choice; the paper gives no value).
double eps_of(const PostOptions& options, std::size_t units, std::size_t devices) {
  if (options.eps > 0) return options.eps;
  if (devices < 2) return 0.1;
  const auto d = static_cast<double>(devices);
  return std::clamp(d / ((d - 1) * static_cast<double>(units)), 0.01, 0.1);
}

class PostPolicy final : public Policy {
 public:
  PostPolicy(const PostOptions& options, std::span<const PolicyProblem> problems) {
    std::size_t cells = 0;
    for (const PolicyProblem& problem : problems) {
      const std::size_t units = problem.grouping.count();
      const std::size_t devices = problem.problem->device_count();
      tables_.push_back({&problem.grouping, cells, units, devices, eps_of(options, units, devices)});
      cells += units * devices;
    }
    logits_.assign(cells, 0.0f);
    gradient_.assign(cells, 0.0f);
    probability_.assign(cells, 0.0);
    log_probability_.assign(cells, 0.0);
    for (const Table& table : tables_)
      for (std::size_t cell = 0; cell < table.units * table.devices; ++cell)
        if (!table.grouping->allowed[cell]) logits_[table.begin + cell] = forbidden;
  }

  void sample(std::span<const Draw> draws) const override {
    std::vector<double> cumulative;
    const Table* cumulative_of = nullptr;
    for (const Draw& draw : draws) {
      Rollout& rollout = draw.rounds.back();
      const Table& table = tables_.at(rollout.problem);
      if (cumulative_of != &table) {
        cumulative = cumulative_table(table);
        cumulative_of = &table;
      }
      rollout.actions.resize(table.units);
      const double* row = cumulative.data();
      for (std::size_t unit = 0; unit < table.units; ++unit, row += table.devices) {
        // Inverse CDF. The last allowed device has a cumulative probability above every draw, so the search ends there;
        // comparisons are summed instead of branched on, because the branch is unpredictable by design.
        const double u = draw.stream->uniform();
        std::size_t device = 0;
        for (std::size_t d = 0; d + 1 < table.devices; ++d) device += row[d] <= u ? 1 : 0;
        rollout.actions[unit] = static_cast<std::uint8_t>(device);
      }
      table.grouping->expand(rollout.actions, rollout.placement);
    }
  }

  [[nodiscard]] Placement mode(std::uint32_t problem) const override {
    const Table& table = tables_.at(problem);
    std::vector<std::uint8_t> actions(table.units);
    for (std::size_t unit = 0; unit < table.units; ++unit) {
      const float* row = logits_.data() + table.begin + unit * table.devices;
      actions[unit] = static_cast<std::uint8_t>(std::max_element(row, row + table.devices) - row);
    }
    return table.grouping->expand(actions);
  }

  [[nodiscard]] std::size_t heads(std::uint32_t problem) const override { return tables_.at(problem).units; }
  [[nodiscard]] bool independent_heads() const override { return true; }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    softmax();
    log.begin.assign(1, 0);
    log.value.clear();
    log.entropy.clear();
    for (const Rollout& rollout : rollouts) {
      const Table& table = tables_.at(rollout.problem);
      EMPLACE_CHECK(rollout.actions.size() == table.units);
      const std::size_t at = log.value.size();
      log.value.resize(at + table.units);
      const double* row = log_probability_.data() + table.begin;
      for (std::size_t unit = 0; unit < table.units; ++unit, row += table.devices)
        log.value[at + unit] = row[rollout.actions[unit]];
      log.begin.push_back(log.value.size());
      log.entropy.push_back(table.entropy);
    }
  }

  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    // d log p[a] / du_j = [a = j] - f_j: a row's coefficients are added up by action before f enters once.
    weight_.assign(logits_.size(), 0.0);
    std::vector<double> entropy_weights(tables_.size(), 0.0);
    std::size_t next = 0;
    for (const Rollout& rollout : rollouts) {
      const Table& table = tables_.at(rollout.problem);
      EMPLACE_CHECK(next + table.units <= coefficients.size());
      double* row = weight_.data() + table.begin;
      for (std::size_t unit = 0; unit < table.units; ++unit, row += table.devices)
        row[rollout.actions[unit]] += coefficients[next + unit];
      next += table.units;
      entropy_weights[rollout.problem] += entropy_weight;
    }
    EMPLACE_CHECK(next == coefficients.size());
    for (std::size_t t = 0; t < tables_.size(); ++t)
      for (std::size_t unit = 0; unit < tables_[t].units; ++unit)
        add_row_gradient(tables_[t].begin + unit * tables_[t].devices, tables_[t].devices, entropy_weights[t]);
  }

  [[nodiscard]] bool has_exact_kl() const override { return true; }

  [[nodiscard]] double kl(std::span<const float> old) const override {
    double sum = 0;
    std::size_t heads = 0;
    std::vector<double> f, log_f, f_old, log_f_old;
    for (const Table& table : tables_) {
      heads += table.units;
      for (std::size_t unit = 0; unit < table.units; ++unit) {
        const std::size_t begin = table.begin + unit * table.devices;
        softmax_row({logits_.data() + begin, table.devices}, f, log_f);
        softmax_row(old.subspan(begin, table.devices), f_old, log_f_old);
        for (std::size_t d = 0; d < table.devices; ++d)
          if (f_old[d] > 0) sum += f_old[d] * (log_f_old[d] - log_f[d]);
      }
    }
    return sum / static_cast<double>(heads);
  }

  void add_kl_gradient(std::span<const float> old, double weight) override {
    std::vector<double> f, f_old, unused;
    for (const Table& table : tables_)
      for (std::size_t unit = 0; unit < table.units; ++unit) {
        const std::size_t begin = table.begin + unit * table.devices;
        softmax_row({logits_.data() + begin, table.devices}, f, unused);
        softmax_row(old.subspan(begin, table.devices), f_old, unused);
        for (std::size_t d = 0; d < table.devices; ++d)
          gradient_[begin + d] += static_cast<float>(weight * (f[d] - f_old[d]));
      }
  }

  [[nodiscard]] bool has_fit() const override { return true; }

  void fit(std::span<const Rollout> elites) override {
    softmax();
    std::vector<std::size_t> elites_of(tables_.size(), 0);
    for (const Rollout& elite : elites) ++elites_of.at(elite.problem);
    std::vector<double> count(logits_.size(), 0.0);
    for (const Rollout& elite : elites) {
      const Table& table = tables_[elite.problem];
      EMPLACE_CHECK(elite.actions.size() == table.units);
      for (std::size_t unit = 0; unit < table.units; ++unit)
        count[table.begin + unit * table.devices + elite.actions[unit]] += 1;
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const Table& table = tables_[t];
      for (std::size_t unit = 0; unit < table.units; ++unit) {
        const std::size_t begin = table.begin + unit * table.devices;
        const float* row = logits_.data() + begin;
        const auto choices = static_cast<double>(std::count_if(row, row + table.devices, is_allowed));
        for (std::size_t cell = begin; cell < begin + table.devices; ++cell) {
          if (!is_allowed(logits_[cell])) continue;
          const double f = elites_of[t] > 0 ? count[cell] / static_cast<double>(elites_of[t]) : probability_[cell];
          logits_[cell] = static_cast<float>(std::log((1 - table.eps) * f + table.eps / choices));
        }
      }
    }
  }

  std::span<float> parameters() override { return logits_; }
  std::span<float> gradient() override { return gradient_; }

  [[nodiscard]] std::vector<ParameterInfo> layout() const override {
    std::vector<ParameterInfo> slices;
    for (std::size_t t = 0; t < tables_.size(); ++t)
      slices.push_back(
          {tables_.size() == 1 ? "logits" : fmt::format("logits.{}", t), {tables_[t].units, tables_[t].devices}});
    return slices;
  }

 private:
  static constexpr float forbidden = -std::numeric_limits<float>::infinity();
  static bool is_allowed(float logit) { return logit != forbidden; }

  // One problem's part of the parameters: rows of logits from `begin` on.
  struct Table {
    const Grouping* grouping;
    std::size_t begin, units, devices;
    double eps;
    double entropy = 0;  // sum over units, as of the last softmax()
  };

  static void softmax_row(std::span<const float> logits, double* f, double* log_f) {
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (std::size_t d = 0; d < logits.size(); ++d) {
      f[d] = is_allowed(logits[d]) ? std::exp(logits[d] - largest) : 0;
      sum += f[d];
    }
    const double log_sum = largest + std::log(sum);
    for (std::size_t d = 0; d < logits.size(); ++d) {
      f[d] /= sum;
      log_f[d] = logits[d] - log_sum;
    }
  }
  static void softmax_row(std::span<const float> logits, std::vector<double>& f, std::vector<double>& log_f) {
    f.resize(logits.size());
    log_f.resize(logits.size());
    softmax_row(logits, f.data(), log_f.data());
  }

  // Fills probability_, log_probability_ and the tables' entropies from the logits.
  void softmax() {
    for (Table& table : tables_) {
      table.entropy = 0;
      for (std::size_t unit = 0; unit < table.units; ++unit) {
        const std::size_t begin = table.begin + unit * table.devices;
        softmax_row({logits_.data() + begin, table.devices}, probability_.data() + begin,
                    log_probability_.data() + begin);
        table.entropy += row_entropy(begin, table.devices);
      }
    }
  }

  [[nodiscard]] double row_entropy(std::size_t begin, std::size_t devices) const {
    double entropy = 0;
    for (std::size_t cell = begin; cell < begin + devices; ++cell)
      if (probability_[cell] > 0) entropy -= probability_[cell] * log_probability_[cell];
    return entropy;
  }

  // dH/du_j = -f_j (log f_j + H).
  void add_row_gradient(std::size_t begin, std::size_t devices, double entropy_weight) {
    double sum = 0;
    for (std::size_t cell = begin; cell < begin + devices; ++cell) sum += weight_[cell];
    const double entropy = entropy_weight != 0 ? row_entropy(begin, devices) : 0;
    for (std::size_t cell = begin; cell < begin + devices; ++cell) {
      double g = weight_[cell] - probability_[cell] * sum;
      if (entropy_weight != 0 && probability_[cell] > 0)
        g -= entropy_weight * probability_[cell] * (log_probability_[cell] + entropy);
      gradient_[cell] += static_cast<float>(g);
    }
  }

  // Cumulative probabilities, 2 (above every draw) from the last allowed device on.
  [[nodiscard]] std::vector<double> cumulative_table(const Table& table) const {
    std::vector<double> cumulative(table.units * table.devices);
    std::vector<double> f, unused;
    for (std::size_t unit = 0; unit < table.units; ++unit) {
      const std::span<const float> row{logits_.data() + table.begin + unit * table.devices, table.devices};
      softmax_row(row, f, unused);
      double* out = cumulative.data() + unit * table.devices;
      double sum = 0;
      std::size_t last = 0;
      for (std::size_t d = 0; d < table.devices; ++d) {
        sum += f[d];
        out[d] = sum;
        if (f[d] > 0) last = d;
      }
      std::fill(out + last, out + table.devices, 2.0);
    }
    return cumulative;
  }

  std::vector<Table> tables_;
  std::vector<float> logits_, gradient_;
  std::vector<double> probability_, log_probability_, weight_;
};

}  // namespace

PolicyEntry post_policy() {
  PolicyEntry entry;
  entry.name = "post";
  entry.summary = "Independent categorical distributions over devices, one a unit; no network.";
  entry.reference = "Gao, Chen, Li: Post (NeurIPS 2018)";
  entry.options = list_options<PostOptions>;
  entry.make = [](const ConfigTable& options, std::span<const PolicyProblem> problems, std::uint64_t) {
    return std::make_unique<PostPolicy>(read_options<PostOptions>(options), problems);
  };
  entry.resolve = [](const ConfigTable& options) { return echo_options(read_options<PostOptions>(options)); };
  return entry;
}

}  // namespace emplace
