// What the sequence models share: embeddings cut into time steps, unrolled LSTMs, additive attention.
#pragma once

#include "zoo/model_builder.hpp"

namespace emplace::zoo {

// Options of the models that translate.
struct TranslationOptions {
  std::int64_t batch = 64;
  std::int64_t layers = 2;
  std::int64_t hidden = 1024;
  std::int64_t sequence = 20;
  std::int64_t vocabulary = 32000;
  StepOptions step;
};
void describe_translation(TranslationOptions& options, OptionVisitor& visit);

using Steps = std::vector<Operand>;  // one batch x width tensor a time step

// One lookup for all tokens of the batch, as TensorFlow NMT does; then one piece a time step. `tokens` names the input.
struct Embedding {
  std::int64_t batch, sequence, width, vocabulary;
};
Steps embed_steps(ModelBuilder& model, const std::string& name, const std::string& tokens, const Embedding& shape);
// The words of one side, "source" or "target", as layer "embedding/<side>".
Steps embed_side(ModelBuilder& model, const std::string& side, const TranslationOptions& options);

// Runs an LSTM over the steps and leaves its last state in `state`; its weights are its own.
Steps unroll(ModelBuilder& model, const std::string& name, const Steps& inputs, std::int64_t hidden, bool backwards,
             LstmState& state);

// A first encoder layer that reads in both directions, side by side; `state` becomes the backward direction's last one,
// which TensorFlow NMT's GNMT encoder hands on.
Steps unroll_both_ways(ModelBuilder& model, const std::string& name, const Steps& inputs, std::int64_t hidden,
                       const Operand& zero, LstmState& state);

// score(s) = v . tanh(key(s) + query W), Bahdanau et al. 2015, appendix A.1.2.
struct AttentionMemory {
  Operand values;  // batch x time x width
  Operand keys;    // batch x time x hidden
  Operand query_weight, score_weight;
};
AttentionMemory attention_memory(ModelBuilder& model, const Steps& encoded, std::int64_t hidden);
// The values, weighted for one query: batch x width.
Operand attention_context(ModelBuilder& model, const std::string& name, const AttentionMemory& memory,
                          const Operand& query);

}  // namespace emplace::zoo
