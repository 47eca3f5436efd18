// Functions that the sequence models share: embeddings split into time steps, unrolled LSTMs, additive attention.
#pragma once

#include "zoo/model_builder.hpp"

namespace emplace::zoo {

// Options of the translation models.
struct TranslationOptions {
  std::int64_t batch = 64;
  std::int64_t layers = 2;
  std::int64_t hidden = 1024;
  std::int64_t sequence = 20;
  std::int64_t vocabulary = 32000;
  StepOptions step;
};
void describe_translation(TranslationOptions& options, OptionVisitor& visit);

using Steps = std::vector<Operand>;  // one batch x width tensor for each time step

// An embedding with one lookup for all tokens of the batch, as in TensorFlow NMT, which is then split into time steps.
// `tokens` is the name of the input.
struct Embedding {
  std::int64_t batch, sequence, width, vocabulary;
};
Steps embed_steps(ModelBuilder& model, const std::string& name, const std::string& tokens, const Embedding& shape);
// Embeds the words of one side, "source" or "target", in the layer "embedding/<side>".
Steps embed_side(ModelBuilder& model, const std::string& side, const TranslationOptions& options);

// Unrolls an LSTM with new weights over the steps and stores its last state in `state`.
Steps unroll(ModelBuilder& model, const std::string& name, const Steps& inputs, std::int64_t hidden, bool backwards,
             LstmState& state);

// A first encoder layer that reads in both directions; returns the concatenation of both outputs. `state` is set to the
// last state of the backward direction, which TensorFlow NMT's GNMT encoder passes on.
Steps unroll_both_ways(ModelBuilder& model, const std::string& name, const Steps& inputs, std::int64_t hidden,
                       const Operand& zero, LstmState& state);

// score(s) = v . tanh(key(s) + query W), Bahdanau et al. 2015, appendix A.1.2.
struct AttentionMemory {
  Operand values;  // batch x time x width
  Operand keys;    // batch x time x hidden
  Operand query_weight, score_weight;
};
AttentionMemory attention_memory(ModelBuilder& model, const Steps& encoded, std::int64_t hidden);
// The mean of the values, weighted by the attention to one query: batch x width.
Operand attention_context(ModelBuilder& model, const std::string& name, const AttentionMemory& memory,
                          const Operand& query);

}  // namespace emplace::zoo
