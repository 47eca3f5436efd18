#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "deploy/exporters.hpp"

namespace emplace::deploy {

namespace {

// {"emplace": "export/1", "model", "problem", "ops": {op of the model: device}, "follows": [ops that were folded away
// before placing and get the device of a neighbour], "not_placed": [ops without a device], "not_in_model": {op that was
// placed but is not in the model: device}}
Exported write_json(const ExportRequest& request) {
  const ModelPlacement& placement = request.placement;
  const auto named = [&](const std::string& device) {
    const auto given = request.renamed.find(device);
    return given == request.renamed.end() ? device : given->second;
  };
  // Names of ops are unique, so they are appended: operator[] would compare each name with all before it.
  nlohmann::ordered_json::object_t ops, added;
  nlohmann::ordered_json follows = nlohmann::ordered_json::array(), not_placed = follows;
  for (std::size_t i = 0; i < placement.graph.ops.size(); ++i) {
    const std::string& name = placement.graph.ops[i].name;
    if (placement.reason_of_op[i] == ModelPlacement::Reason::none)
      not_placed.push_back(name);
    else
      ops.emplace_back(name, named(placement.device_of_op[i]));
    if (placement.reason_of_op[i] == ModelPlacement::Reason::follows) follows.push_back(name);
  }
  for (const OpId op : placement.not_in_model())
    added.emplace_back(placement.passed.graph.ops[op.index()].name, named(placement.device_of_placed[op.index()]));
  const nlohmann::ordered_json file = {{"emplace", "export/1"},           {"model", placement.model},
                                       {"problem", placement.problem},    {"ops", std::move(ops)},
                                       {"follows", std::move(follows)},   {"not_placed", std::move(not_placed)},
                                       {"not_in_model", std::move(added)}};
  write_file(request.output, file.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  return {.files = {request.output}, .notes = {}};
}

}  // namespace

ExportEntry json_exporter() {
  ExportEntry entry;
  entry.name = "json";
  entry.summary = "A JSON object with the device of each op of the model, for your own programs.";
  entry.write = write_json;
  return entry;
}

}  // namespace emplace::deploy
