// Layers that the transformer models share. Activations are batch x positions x width.
#pragma once

#include "zoo/model_builder.hpp"

namespace emplace::zoo {

struct TransformerBlock {
  std::int64_t heads = 12;
  std::int64_t inner = 3072;     // width of the feed-forward part
  bool norm_first = false;       // layer normalisation before each part (GPT-2, ViT), else after its residual (BERT)
  bool joint_projection = true;  // queries, keys and values by one matrix, else by three (BERT)
  bool dropout = false;          // of attention weights and of both parts' outputs
  Operand mask;                  // added to the scores, broadcast; none: every position attends to every other
  Operand scale;                 // a scalar, 1 / sqrt(width of a head)
};

Operand layer_norm(ModelBuilder& model, const std::string& name, const Operand& x);
Operand residual(ModelBuilder& model, const std::string& name, const Operand& x, const Operand& y);
// batch x positions x width -> batch x heads x positions x (width / heads), and the inverse.
Operand split_heads(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t heads);
Operand join_heads(ModelBuilder& model, const std::string& name, const Operand& x);
// softmax(scores * scale + mask) values: scores are batch x heads x queries x keys, values batch x heads x keys x d.
Operand weigh_values(ModelBuilder& model, const std::string& name, const Operand& scores, const Operand& values,
                     const TransformerBlock& block);
// Multi-head self-attention with its output projection (Vaswani et al. 2017, section 3.2).
Operand self_attention(ModelBuilder& model, const std::string& name, const Operand& x, const TransformerBlock& block);
// Two linear layers with new weights and with `activation` between them.
Operand feed_forward(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t inner,
                     const char* activation);
// An attention part and a feed-forward part, each with residual, dropout and normalisation, and each one cell.
Operand transformer_layer(ModelBuilder& model, const std::string& name, const Operand& x,
                          const TransformerBlock& block);

// Options of a stack of layers; zero means the value of the named model.
struct StackOptions {
  std::int64_t layers = 0, hidden = 0;
};
void describe_stack(StackOptions& options, OptionVisitor& visit);
// The number of heads: heads of width 64, as in every model here, if 64 divides the width; else one head.
std::int64_t heads_of(std::int64_t hidden);

}  // namespace emplace::zoo
