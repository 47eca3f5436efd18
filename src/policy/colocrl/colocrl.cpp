// ColocRL: a sequence-to-sequence network over the units of one graph (Mirhoseini et al., ICML 2017;
// docs/papers/colocrl.md, section 2). The width of its input depends on the number of units, so all problems of a
// training must have the same number.
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "policy/colocrl/features.hpp"
#include "policy/colocrl/network.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/drawn_sample.hpp"
#include "policy/common/forced_steps.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/common/rollout_parts.hpp"
#include "policy/common/unit_levels.hpp"
#include "policy/methods.hpp"

namespace emplace::policy {

namespace {

struct ColocrlOptions {
  int hidden = 256;
  int attention_width = 0;
  int type_width = 32;
  int device_width = 32;
  int shape_outputs = 4;
  int shape_dimensions = 4;
  bool aligned = false;
  int coarse_units = 0;
  double coarse_share = 0.67;
};

void describe(ColocrlOptions& o, OptionVisitor& visit) {
  visit("aligned", o.aligned,
        {.help = "The decoder also reads the encoder's state of the unit that it places; the paper's decoder must find "
                 "it by attention."});
  visit("hidden", o.hidden, {.min = 1, .max = 8192, .help = "Units of the encoder's and of the decoder's LSTM."});
  visit("attention_width", o.attention_width,
        {.min = 0,
         .max = 8192,
         .help = "Width of the attention's queries and keys, which take most of the time of long sequences; 0: as "
                 "hidden, as in the paper."});
  visit("type_width", o.type_width, {.min = 1, .max = 8192, .help = "Width of the learned vector of an op's type."});
  visit("device_width", o.device_width, {.min = 1, .max = 8192, .help = "Width of the learned vector of a device."});
  visit("shape_outputs", o.shape_outputs, {.min = 1, .max = 64, .help = "Outputs of an op whose shapes are read."});
  visit("shape_dimensions", o.shape_dimensions,
        {.min = 1, .max = 64, .help = "Dimensions of each output that are read."});
  visit(
      "coarse_units", o.coarse_units,
      {.min = 0,
       .max = 1e6,
       .help = "Training begins with units merged into this many blocks, whose units are drawn with one random number, "
               "and doubles the number level by level. 0: every unit is drawn separately, as in the paper."});
  visit_coarse_share(visit, o.coarse_share, "unit", "coarse_units");
}

ColocrlSizes sizes_of(const ColocrlOptions& o, const PolicySetup& setup) {
  ColocrlSizes sizes;
  sizes.types = setup.op_types.size();
  sizes.groups = common_unit_count(setup.problems, "colocrl");
  sizes.devices = common_device_count(setup.problems, "colocrl");
  sizes.shape_slots = static_cast<std::size_t>(o.shape_outputs) * static_cast<std::size_t>(o.shape_dimensions);
  sizes.type_width = static_cast<std::size_t>(o.type_width);
  sizes.device_width = static_cast<std::size_t>(o.device_width);
  sizes.hidden = static_cast<std::size_t>(o.hidden);
  sizes.attention_width = static_cast<std::size_t>(o.attention_width);
  sizes.aligned = o.aligned;
  return sizes;
}

class ColocrlPolicy final : public NetworkPolicy {
 public:
  ColocrlPolicy(const ColocrlOptions& options, const PolicySetup& setup)
      : coarse_share_(options.coarse_share), network_(sizes_of(options, setup)) {
    const ShapeSlots slots{static_cast<std::size_t>(options.shape_outputs),
                           static_cast<std::size_t>(options.shape_dimensions)};
    for (const PolicyProblem& problem : setup.problems) {
      problems_.push_back({&problem.grouping, colocrl_features(problem, setup.op_types, slots), {}});
      for (const Grouping& level : halved_levels(problem, static_cast<std::size_t>(options.coarse_units)))
        problems_.back().levels.push_back({level.count(), unit_of_level(problem.grouping, level)});
    }
    use(network_.layout);
    network_.initialize<float>(parameters_, setup.seed);
  }

  void sample(std::span<const SampleSlot> slots) const override {
    std::vector<std::uint32_t> problem_of;
    for (const SampleSlot& each : slots) problem_of.push_back(each.rounds.back().problem);
    for (const Part& part : parts_of(problem_of)) sample_part(part, slots);
  }

  [[nodiscard]] MemoryNeed memory_need(std::uint32_t, std::size_t drawn, std::size_t chunk) const override {
    const ColocrlSizes& sizes = network_.sizes;
    const std::size_t features = 2 * (sizes.type_width + sizes.shape_slots + sizes.groups);  // joined, and apart
    return {.decisions = static_cast<double>(sizes.groups),
            .bytes = bytes_of_decoding(network_.decoder, sizes.groups, features, sizes.devices, chunk) +
                     bytes_of_decoder_steps(network_.decoder, sizes.groups, features, drawn)};
  }

  void check(std::span<const Rollout> rounds) const override {
    check_count(rounds.size(), 1, "rounds");
    check_count(rounds.front().actions.size(), network_.sizes.groups, "devices");
    check_below(rounds.front().actions, network_.sizes.devices, "device");
    check_count(rounds.front().observation.size(), 0, "observations");
  }

  [[nodiscard]] std::vector<std::uint32_t> expressible_units(std::span<const Rollout> rounds) const override {
    return problems_.at(rounds.back().problem).units->unit_of_op;
  }
  void express(std::span<Rollout> rounds, const Placement& placement) const override {
    Rollout& rollout = rounds.back();
    const Grouping& units = *problems_.at(rollout.problem).units;
    rollout.actions = units.read(placement);
    units.expand(rollout.actions, rollout.placement);
  }

  void forward(std::span<const Rollout> rollouts, LogProbabilities& log) override {
    const std::size_t groups = network_.sizes.groups;
    log.begin.assign(1, 0);
    for (std::size_t s = 1; s <= rollouts.size(); ++s) log.begin.push_back(s * groups);
    log.value.resize(rollouts.size() * groups);
    log.entropy.assign(rollouts.size(), 0.0);
    std::vector<std::uint32_t> problem_of;
    for (const Rollout& rollout : rollouts) {
      EMPLACE_CHECK(rollout.actions.size() == groups);
      problem_of.push_back(rollout.problem);
    }
    parts_ = parts_of(problem_of);
    for (const Part& part : parts_) {
      run(part, rollouts);
      const std::size_t batch = part.members.size();
      for (std::size_t b = 0; b < batch; ++b) {
        const std::size_t s = part.members[b];
        for (std::size_t t = 0; t < groups; ++t) {
          log.value[s * groups + t] = rows_.log_probability(t * batch + b, rollouts[s].actions[t]);
          log.entropy[s] += rows_.entropy[t * batch + b];
        }
      }
    }
    is_on_tape_ = parts_.size() == 1;
  }

  void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    const std::size_t groups = network_.sizes.groups;
    EMPLACE_CHECK(coefficients.size() == rollouts.size() * groups);
    for (const Part& part : parts_) {
      if (!is_on_tape_) run(part, rollouts);
      is_on_tape_ = false;
      const std::size_t batch = part.members.size();
      const std::span<double> weights = tape_.array<double>(groups * batch);
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t t = 0; t < groups; ++t) weights[t * batch + b] = coefficients[part.members[b] * groups + t];
      nn::seed<float>(tape_, rows_, forced_.actions, weights, entropy_weight);
      tape_.backward();
    }
  }

 private:
  using Part = RolloutPart<std::uint32_t>;

  struct Level {
    std::size_t blocks;
    std::vector<std::uint32_t> block_of_unit;
  };
  struct Prepared {
    const Grouping* units;
    ColocrlFeatures features;
    std::vector<Level> levels;  // from coarse to fine; in the last each unit is a block
  };

  [[nodiscard]] ColocrlInput<float> input_of(const Prepared& problem) const {
    const std::vector<float>& rows = problem.features.rows;
    return {&problem.features.types, {rows.data(), network_.sizes.groups, rows.size() / network_.sizes.groups}};
  }

  // A sample's random numbers, one for each unit; the units of a block have the same. None for the likeliest devices.
  [[nodiscard]] std::vector<double> random_numbers(const SampleSlot& slot, const Prepared& problem) const {
    if (slot.greedy) return {};
    const Level& level = problem.levels[level_at(slot.rounds.back().progress, coarse_share_, problem.levels.size())];
    const std::vector<double> of_block = uniform_numbers(*slot.stream, level.blocks);
    std::vector<double> of_unit;
    for (const std::uint32_t block : level.block_of_unit) of_unit.push_back(of_block[block]);
    return of_unit;
  }

  void sample_part(const Part& part, std::span<const SampleSlot> slots) const {
    const Prepared& problem = problems_.at(part.key);
    const std::size_t devices = network_.sizes.devices, batch = part.members.size();
    sampling_tape_.begin(parameters_, {});
    ColocrlSteps<float> step(sampling_tape_, network_, encode<float>(sampling_tape_, network_, input_of(problem)),
                             batch);
    std::vector<std::uint32_t> previous(batch, static_cast<std::uint32_t>(devices));  // GO
    std::vector<float> weights(devices);
    std::vector<std::vector<double>> uniform;  // by member
    for (const std::size_t i : part.members) {
      slots[i].rounds.back().actions.resize(network_.sizes.groups);
      uniform.push_back(random_numbers(slots[i], problem));
    }
    for (std::size_t t = 0; t < network_.sizes.groups; ++t) {
      const nn::Matrix<const float> logits = step(previous);
      require_finite(logits.all());
      const std::span<const std::uint8_t> allowed = std::span(problem.units->allowed).subspan(t * devices, devices);
      for (std::size_t b = 0; b < batch; ++b) {
        const SampleSlot& each = slots[part.members[b]];
        const std::uint8_t device = each.greedy ? likeliest(logits.row(b), allowed)
                                                : draw<float>(logits.row(b), allowed, uniform[b][t], weights);
        each.rounds.back().actions[t] = device;
        previous[b] = device;
      }
    }
    for (const std::size_t i : part.members) {
      Rollout& rollout = slots[i].rounds.back();
      problem.units->expand(rollout.actions, rollout.placement);
    }
  }

  // Teacher forcing: logits of all steps of all samples of the part, rows t B + b, on the tape and in rows_.
  void run(const Part& part, std::span<const Rollout> rollouts) {
    const Prepared& problem = problems_.at(part.key);
    tape_.begin(parameters_, gradient_);
    forced_ = forced_steps(tape_, rollouts, part.members, problem.units->allowed, network_.sizes.devices);
    const DecoderMemory encoding = encode<float>(tape_, network_, input_of(problem));
    const nn::Var logits = decode<float>(tape_, network_, encoding, forced_.previous, part.members.size());
    require_finite(tape_.value(logits).all());
    rows_ = nn::categorical<float>(tape_, logits, forced_.allowed);
  }

  double coarse_share_;
  ColocrlNetwork network_;
  std::vector<Prepared> problems_;
  std::vector<Part> parts_;  // of the last forward()
  nn::Tape<float> tape_;
  ForcedSteps forced_;           // of the part that is on the tape
  nn::Categorical<float> rows_;  // likewise
  bool is_on_tape_ = false;      // whether the forward pass of the only part is on tape_
  mutable nn::Tape<float> sampling_tape_;
};

}  // namespace

PolicyEntry colocrl_policy() {
  PolicyEntry entry;
  entry.name = "colocrl";
  entry.summary = "LSTM encoder over groups of ops, attentional LSTM decoder that emits a device for each.";
  entry.reference = "Mirhoseini et al.: Device Placement Optimization with Reinforcement Learning (ICML 2017)";
  entry.reads_op_types = true;
  make_from_options<ColocrlPolicy, ColocrlOptions>(entry);
  return entry;
}

}  // namespace emplace::policy
