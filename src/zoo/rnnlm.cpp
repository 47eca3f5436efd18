// Recurrent language model: stacked LSTMs over words (Zaremba et al. 2014, "Recurrent Neural Network Regularization",
// the large model: 35 steps, width 1500, vocabulary of 10,000, 66 M parameters with 2 layers, dropout between the
// layers), unrolled over time. It is the RNNLM benchmark of ColocRL, the Hierarchical Planner (batch 64), Post (4
// layers) and GDP (2, 4, 8 layers), none of which states the widths.
#include <fmt/core.h>

#include "zoo/models.hpp"
#include "zoo/recurrent.hpp"

namespace emplace::zoo {

namespace {

struct RnnlmOptions {
  std::int64_t batch = 64;
  std::int64_t layers = 2;
  std::int64_t hidden = 1500;
  std::int64_t sequence = 35;
  std::int64_t vocabulary = 10000;
  StepOptions step;
};

void describe(RnnlmOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sentences", .help = "Sequences in a step."});
  visit("layers", o.layers, {.min = 1, .max = 64, .help = "LSTM layers."});
  visit("hidden", o.hidden, {.min = 1, .max = 65536, .unit = "units", .help = "Width of LSTMs and embedding."});
  visit("sequence", o.sequence, {.min = 1, .max = 5000, .unit = "tokens", .help = "Time steps unrolled."});
  visit("vocabulary", o.vocabulary, {.min = 2, .max = 10000000, .unit = "tokens", .help = "Size of the vocabulary."});
  describe(o.step, visit);
}

Graph build(const RnnlmOptions& o) {
  ModelBuilder model("rnnlm");
  const Operand zero = model.input("zero_state", {o.batch, o.hidden});
  model.set_layer("embedding");
  Steps steps = embed_steps(model, "embedding", "words", {o.batch, o.sequence, o.hidden, o.vocabulary});
  for (std::int64_t layer = 0; layer < o.layers; ++layer) {
    const std::string name = fmt::format("lstm/{}", layer);
    model.set_layer(name);
    for (std::size_t t = 0; t < steps.size(); ++t)
      steps[t] = dropout(model, fmt::format("{}/dropout/step{}", name, t), steps[t], o.step.training);
    LstmState state{zero, zero};
    steps = unroll(model, name, steps, o.hidden, false, state);
  }
  model.set_layer("softmax");
  const auto cell = model.cell("softmax");
  // The time steps are independent from here on, so one product computes all of them.
  const Operand rows = dropout(model, "softmax/dropout", model.concat("softmax/concat", steps, 0), o.step.training);
  softmax_or_loss(model, "softmax", dense(model, "softmax/logits", rows, o.vocabulary), "labels", o.step.training);
  return finish(model, o.step);
}

}  // namespace

ZooEntry rnnlm_entry() {
  ZooEntry entry;
  entry.name = "rnnlm";
  entry.summary = "Recurrent language model: stacked LSTMs, unrolled over time.";
  entry.reference = "Zaremba et al. 2014; as in Mirhoseini et al. 2017, Zhou et al. 2019";
  entry.options = list_options<RnnlmOptions>;
  entry.expert = expert_by_number;
  entry.build = [](const ConfigTable& table) { return build(read_options<RnnlmOptions>(table)); };
  return entry;
}

}  // namespace emplace::zoo
