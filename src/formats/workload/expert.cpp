// Reads expert splits of dnn-partitioning (docs/papers/tarnawski.md, section 4): the node ids on each accelerator and
// CPU core.
#include <unordered_map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/json/json.hpp"
#include "formats/workload/parts.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Place;
using json::Value;

const std::vector<std::string> expert_keys = {"fpgas", "cpus", "maxLoad"};
const std::vector<std::string> node_list_keys = {"nodes", "load"};

constexpr std::uint8_t unplaced = 255;  // devices are numbers below max_devices = 255

struct Split {
  const Problem& problem;
  std::unordered_map<std::string_view, std::uint32_t> ops;
  std::vector<std::uint8_t> device;

  explicit Split(const Problem& given) : problem(given), device(given.op_count(), unplaced) {
    for (std::uint32_t op = 0; op < given.op_count(); ++op) ops.emplace(given.op_names[op], op);
  }

  std::uint8_t device_called(const std::string& name, const Place& place) const {
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      if (problem.devices[d].name == name) return static_cast<std::uint8_t>(d);
    throw InputError(place.str(), "the problem has no device {} for these nodes", quote(name));
  }

  void read_nodes(const Fields& part, const std::string& name) {
    const Place place = part.place("nodes");
    if (part.need("nodes").array_size(place) == 0) return;
    const std::uint8_t d = device_called(name, place);
    part.need("nodes").each_element(place, [&](std::size_t i, Value value) {
      const Place at(place, i);
      const std::string id = fmt::format("{}", value.whole(at, -largest_json_id, largest_json_id));
      const auto found = ops.find(id);
      if (found == ops.end()) throw InputError(at.str(), "the problem has no node {}", id);
      if (device[found->second] != unplaced) throw InputError(at.str(), "node {} is listed twice", id);
      device[found->second] = d;
    });
    if (part.find("load") != nullptr) static_cast<void>(part.number("load"));
  }

  void read_list(const Fields& file, const char* key, const char* prefix) {
    const Place list = file.place(key);
    file.need(key).each_element(list, [&](std::size_t i, Value part) {
      const Place at(list, i);
      read_nodes(Fields(part, at, node_list_keys), fmt::format("{}:{}", prefix, i));
    });
  }

  // A split may list forward nodes only; a backward node is then placed with the forward nodes of its colour class.
  void follow_classes() {
    std::vector<std::uint8_t> device_of_group(problem.group_names.size(), unplaced);
    for (std::size_t op = 0; op < device.size(); ++op)
      if (!problem.group[op].is_none() && device[op] != unplaced)
        device_of_group[problem.group[op].index()] = device[op];
    for (std::size_t op = 0; op < device.size(); ++op)
      if (!problem.group[op].is_none() && device[op] == unplaced)
        device[op] = device_of_group[problem.group[op].index()];
  }
};

}  // namespace

Placement read_expert_split(std::string_view text, const std::string& file, const Problem& problem) {
  const json::Document document = json::parse(text, file);
  const Place place(file);
  const Fields fields(document.root(), place, expert_keys);
  Split split(problem);
  split.read_list(fields, "fpgas", "acc");
  split.read_list(fields, "cpus", "cpu");
  if (fields.find("maxLoad") != nullptr) static_cast<void>(fields.number("maxLoad"));
  split.follow_classes();
  for (std::size_t op = 0; op < split.device.size(); ++op)
    if (split.device[op] == unplaced)
      throw InputError(file, "node {} has no device, and no node of its class is listed", quote(problem.op_names[op]));
  Placement placement{.device = std::move(split.device), .order = {}};
  check_placement(problem, placement, file);
  return placement;
}

}  // namespace emplace::formats
