// {"emplace": "plan/1", "model", "context", "sequences", "kv_type", "devices": {device: [units]}}
#include <nlohmann/json.hpp>

#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

Saying say_json(const Said& said) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::object();
  for (std::size_t d = 0; d < said.chain.device_count(); ++d) {
    nlohmann::ordered_json& units = devices[said.chain.devices[d]] = nlohmann::ordered_json::array();
    for (std::size_t u = 0; u < said.chain.size(); ++u)
      if (said.assignment[u] == d) units.push_back(said.chain.units[u].name);
  }
  const nlohmann::ordered_json plan = {{"emplace", "plan/1"},
                                       {"model", said.file},
                                       {"context", said.scenario.context},
                                       {"sequences", said.scenario.sequences},
                                       {"kv_type", said.scenario.kv_type},
                                       {"devices", std::move(devices)}};
  return {plan.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n", {}};
}

}  // namespace

RuntimeEntry json_runtime() {
  RuntimeEntry entry;
  entry.name = "json";
  entry.summary = "The units of each device, any of which may be anywhere, for your own programs.";
  entry.rules = {};
  entry.say = say_json;
  return entry;
}

}  // namespace emplace::fit
