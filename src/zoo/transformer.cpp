#include "zoo/transformer.hpp"

#include "emplace/base/error.hpp"

namespace emplace::zoo {

Operand layer_norm(ModelBuilder& model, const std::string& name, const Operand& x) {
  const std::int64_t width = model.shape(x).dims.back();
  const Operand scale = model.parameter(name + "/scale", {width}), bias = model.parameter(name + "/bias", {width});
  return model.elementwise(name, "LayerNormalization", {x, scale, bias});
}

Operand residual(ModelBuilder& model, const std::string& name, const Operand& x, const Operand& y) {
  return model.elementwise(name + "/residual", "Add", {y, x});
}

Operand split_heads(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t heads) {
  const std::int64_t batch = model.dim(x, 0), positions = model.dim(x, 1), width = model.dim(x, 2) / heads;
  const Operand cut = model.op(name + "/heads", "Reshape", {x}, {batch, positions, heads, width});
  return model.op(name + "/by_head", "Transpose", {cut}, {batch, heads, positions, width},
                  {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
}

Operand join_heads(ModelBuilder& model, const std::string& name, const Operand& x) {
  const std::int64_t batch = model.dim(x, 0), heads = model.dim(x, 1), positions = model.dim(x, 2),
                     width = model.dim(x, 3);
  const Operand by_position = model.op(name + "/by_position", "Transpose", {x}, {batch, positions, heads, width},
                                       {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  return model.op(name + "/joined", "Reshape", {by_position}, {batch, positions, heads * width});
}

Operand weigh_values(ModelBuilder& model, const std::string& name, const Operand& scores, const Operand& values,
                     const TransformerBlock& block) {
  Operand x = model.elementwise(name + "/scale", "Mul", {scores, block.scale});
  if (block.mask.kind != Operand::Kind::none) x = model.elementwise(name + "/mask", "Add", {x, block.mask});
  x = model.elementwise(name + "/softmax", "Softmax", {x});
  x = dropout(model, name + "/dropout", x, block.dropout);
  return model.op(name + "/mix", "MatMul", {x, values},
                  {model.dim(values, 0), model.dim(values, 1), model.dim(x, 2), model.dim(values, 3)});
}

Operand self_attention(ModelBuilder& model, const std::string& name, const Operand& x, const TransformerBlock& block) {
  const Shape shape = model.shape(x);
  const std::int64_t batch = shape.dims[0], positions = shape.dims[1], width = shape.dims[2];
  std::vector<Operand> projected;
  if (block.joint_projection) {
    const Operand all = dense(model, name + "/qkv", x, 3 * width);
    projected = model.op_several(name + "/split", "Split", {all}, {shape, shape, shape}, {{"axis", std::int64_t{2}}});
  } else {
    for (const char* part : {"/query", "/key", "/value"}) projected.push_back(dense(model, name + part, x, width));
  }
  const Operand query = split_heads(model, name + "/q", projected[0], block.heads);
  const Operand key = split_heads(model, name + "/k", projected[1], block.heads);
  const Operand value = split_heads(model, name + "/v", projected[2], block.heads);
  const Operand scores = model.op(name + "/scores", "MatMul", {query, key}, {batch, block.heads, positions, positions},
                                  {{"transB", std::int64_t{1}}});
  const Operand mixed = weigh_values(model, name, scores, value, block);
  return dense(model, name + "/output", join_heads(model, name, mixed), width);
}

Operand feed_forward(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t inner,
                     const char* activation) {
  const std::int64_t width = model.shape(x).dims.back();
  const Operand wide = model.elementwise(name + "/activation", activation, {dense(model, name + "/in", x, inner)});
  return dense(model, name + "/out", wide, width);
}

Operand transformer_layer(ModelBuilder& model, const std::string& name, const Operand& x,
                          const TransformerBlock& block) {
  const auto part = [&](const std::string& part_name, const Operand& input, auto&& compute) {
    const auto cell = model.cell(part_name);
    const Operand y = compute(block.norm_first ? layer_norm(model, part_name + "/norm", input) : input);
    const Operand sum = residual(model, part_name, input, dropout(model, part_name + "/drop", y, block.dropout));
    return block.norm_first ? sum : layer_norm(model, part_name + "/norm", sum);
  };
  const std::string attention = name + "/attention", forward = name + "/feed_forward";
  const Operand mixed =
      part(attention, x, [&](const Operand& input) { return self_attention(model, attention, input, block); });
  return part(forward, mixed,
              [&](const Operand& input) { return feed_forward(model, forward, input, block.inner, "Gelu"); });
}

void describe_stack(StackOptions& o, OptionVisitor& visit) {
  visit("layers", o.layers,
        {.min = 1, .max = 1024, .help = "Transformer layers; if left out, those of the named model."});
  visit(
      "hidden", o.hidden,
      {.min = 1, .max = 65536, .unit = "units", .help = "Width of the layers; if left out, that of the named model."});
}

std::int64_t heads_of(std::int64_t hidden) { return hidden % 64 == 0 ? hidden / 64 : 1; }

}  // namespace emplace::zoo
