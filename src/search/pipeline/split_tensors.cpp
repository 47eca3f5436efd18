#include "search/pipeline/split_tensors.hpp"
#include "simulate/pipeline/pipeline.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace emplace::search {

SplitTensors split_tensors(const Problem& problem, const std::vector<DeviceKind>& kinds,
                           const std::vector<std::uint32_t>& class_of_op) {
  SplitTensors tensors;
  std::map<std::tuple<std::uint32_t, bool, std::vector<std::uint32_t>>, std::size_t> known;
  for (std::uint32_t t = 0; t < problem.tensor_count(); ++t) {
    const OpId producer = problem.producer[t];
    const std::uint32_t home = class_of_op[producer.index()];
    const bool backward = problem.is_backward(producer);
    std::vector<std::uint32_t> consumers;
    for (const std::uint32_t op : problem.consumers[t])
      if (class_of_op[op] != home) consumers.push_back(class_of_op[op]);
    if (consumers.empty()) continue;
    std::ranges::sort(consumers);
    consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
    const auto [entry, is_new] = known.try_emplace({home, backward, consumers}, tensors.count());
    const std::size_t row = entry->second * kinds.size();
    if (is_new) {
      tensors.producer.push_back(home);
      tensors.backward.push_back(backward ? 1 : 0);
      tensors.consumers.items.insert(tensors.consumers.items.end(), consumers.begin(), consumers.end());
      tensors.consumers.begin.push_back(static_cast<std::uint32_t>(tensors.consumers.items.size()));
      for (auto* times : {&tensors.out, &tensors.in}) times->resize(row + kinds.size(), 0);
      for (auto* flags : {&tensors.no_out, &tensors.no_in}) flags->resize(row + kinds.size(), 0);
    }
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const simulate::HostTransfers& transfers = kinds[k].transfers;
      if (!transfers.pays) continue;
      const auto add = [&](Ticks time, Ticks& sum, char& missing) {
        if (time == simulate::HostTransfers::no_route)
          missing = 1, tensors.routes_missing = true;
        else
          sum += time;
      };
      add(transfers.out[t], tensors.out[row + k], tensors.no_out[row + k]);
      add(transfers.in[t], tensors.in[row + k], tensors.no_in[row + k]);
    }
  }
  return tensors;
}

}  // namespace emplace::search
