#include "fit/layer_placers.hpp"

#include <algorithm>

#include "emplace/search/scorer.hpp"
#include "fit/greedy.hpp"
#include "fit/runtime.hpp"
#include "search/methods.hpp"

namespace emplace::fit {

namespace {

// Layers as units: input, layers in the order of the problem, output.
Chain layer_chain(const Problem& problem) {
  const std::size_t devices = problem.device_count(), layers = problem.layer.names.size();
  Chain chain;
  for (const Device& device : problem.devices) {
    chain.devices.push_back(device.name);
    chain.room.push_back(device.memory);
  }
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string& name = problem.layer.names[i];
    const UnitKind kind = i == 0 && name == "input"             ? UnitKind::input
                          : i + 1 == layers && name == "output" ? UnitKind::output
                                                                : UnitKind::layer;
    chain.units.push_back(
        {.name = name, .kind = kind, .layer = kind == UnitKind::layer ? static_cast<std::int64_t>(i) : -1});
  }
  chain.time.assign(layers * devices, 0);
  std::vector<Bytes> scratch(layers, 0);
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    const std::uint32_t layer = problem.layer.of_op[op];
    chain.units[layer].weights += problem.resident[op];
    scratch[layer] = std::max(scratch[layer], problem.scratch[op]);
    for (std::size_t d = 0; d < devices; ++d) {
      Ticks& sum = chain.time[layer * devices + d];
      const Ticks time = problem.time(OpId{op}, DeviceId{d});
      sum = sum == cannot_run || time == cannot_run ? cannot_run : sum + time;
    }
  }
  for (std::size_t i = 0; i < layers; ++i) chain.units[i].buffers = scratch[i];
  return chain;
}

std::string why_no_layers(const search::PlacerRequest& request) {
  const Problem& problem = *request.problem;
  if (problem.layer.empty() || std::ranges::find(problem.layer.of_op, OpLabels::none) != problem.layer.of_op.end())
    return "it places whole layers, which this problem does not name";
  std::vector<std::uint32_t> layer_of_group(problem.group_names.size(), OpLabels::none);
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    if (problem.group[op].is_none()) continue;
    std::uint32_t& known = layer_of_group[problem.group[op].index()];
    if (known == OpLabels::none) known = problem.layer.of_op[op];
    if (known != problem.layer.of_op[op])
      return "it places whole layers, but the co-location group '" + problem.group_names[problem.group[op].index()] +
             "' spans several";
  }
  return "";
}

// Where tensors need more than the rule left free, it is tried again with less room.
search::PlacerResult place_layers(const GreedyRule& rule, const search::PlacerRequest& request) {
  constexpr int most_trials = 16;
  const Problem& problem = *request.problem;
  Chain chain = layer_chain(problem);
  GreedyRequest greedy{.chain = chain, .hosts = {}, .accelerators = {}};
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    (is_host_kind(problem.devices[d].kind) ? greedy.hosts : greedy.accelerators)
        .push_back(static_cast<std::uint8_t>(d));
  if (greedy.accelerators.empty()) greedy.accelerators.swap(greedy.hosts);
  greedy.input_on_host = !greedy.hosts.empty();
  search::Scorer scorer(request);
  for (int trial = 0; trial < most_trials && (trial == 0 || !scorer.exhausted()); ++trial) {
    const std::optional<Assignment> assignment = rule.place(greedy);
    if (!assignment && trial > 0) break;
    Placement placement;
    for (const std::uint32_t layer : problem.layer.of_op) {
      const std::uint8_t first = greedy.hosts.empty() ? greedy.accelerators[0] : greedy.hosts[0];
      placement.device.push_back(assignment ? (*assignment)[layer] : first);
    }
    scorer.score(std::move(placement));
    const Outcome& best = scorer.best().outcome;
    if (!assignment || best.why != Infeasible::memory) break;
    Bytes& room = chain.room[best.device];
    room = std::max<Bytes>(0, room - std::max<Bytes>(best.overflow, 1));
  }
  return scorer.result();
}

search::PlacerEntry layer_placer(const GreedyRule& rule, const char* summary, const char* reference) {
  search::PlacerEntry entry;
  entry.name = rule.name;
  entry.summary = summary;
  entry.reference = reference;
  entry.role = search::PlacerRole::other;
  entry.unfit = why_no_layers;
  entry.place = [&rule](const search::PlacerRequest& request, const ConfigTable& options) {
    read_options<search::NoOptions>(options);
    return place_layers(rule, request);
  };
  return entry;
}

}  // namespace

void register_layer_placers() {
  search::register_placer(layer_placer(greedy_rules()[0],
                                       "Whole layers, each device filled before the next; what is left on the CPU.",
                                       "llama.cpp, --n-gpu-layers"));
  search::register_placer(layer_placer(greedy_rules()[1],
                                       "Whole layers, divided by the devices' memory; what does not fit on the CPU.",
                                       "llama.cpp, --tensor-split; accelerate, device_map=\"balanced\""));
}

}  // namespace emplace::fit
