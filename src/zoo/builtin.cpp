// The list of models. To add a model, add a source file and a line here.
#include <fmt/core.h>

#include "base/query.hpp"
#include "base/text.hpp"
#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo {

std::span<const ZooEntry> zoo() {
  static const std::vector<ZooEntry> entries = [] {
    std::vector<ZooEntry> all{
        inception_v3_entry(), resnet_50_entry(), resnet_101_entry(), resnet_152_entry(),
        rnnlm_entry(),        nmt_entry(),       gnmt_entry(),       transformer_xl_entry(),
        amoebanet_d_entry(),  nasnet_a_entry(),  wavenet_entry(),    bert_base_entry(),
        bert_large_entry(),   gpt_2_entry(),     vit_b_16_entry(),   moe_transformer_entry(),
    };
    for (ZooEntry& entry : language_model_entries()) all.push_back(std::move(entry));
    return all;
  }();
  return entries;
}

Graph build_zoo_model(std::string_view specification, const std::string& place) {
  const std::string at = place.empty() ? fmt::format("zoo:{}", specification) : place;
  const NamedQuery query = parse_query(specification, at);
  Graph graph = find_entry(zoo(), query.name, "model", at).build(query.options);
  graph.places_weight_arithmetic = true;
  return graph;
}

}  // namespace emplace::zoo
