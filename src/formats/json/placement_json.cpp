#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "formats/json/json.hpp"
#include "formats/json/json_header.hpp"
#include "formats/json/placement_devices.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Place;
using json::Value;

const std::vector<std::string> file_keys = {"emplace", "problem", "ops", "schedule", "order"};

using Positions = std::unordered_map<std::string_view, std::uint32_t>;

// Suggests a similar name, but not for huge problems, where comparing with all names would take minutes.
std::string hint(std::string_view wanted, const std::vector<std::string>& names) {
  return names.size() > 10'000 ? std::string() : did_you_mean(wanted, names);
}

std::uint32_t position_of(std::string_view name, const Positions& positions, const std::vector<std::string>& names,
                          const char* what, const Place& place) {
  const auto found = positions.find(name);
  if (found == positions.end())
    throw InputError(place.str(), "the problem has no {} {}{}", what, quote(name), hint(name, names));
  return found->second;
}

std::vector<std::uint8_t> read_devices(const Fields& file, const Problem& problem, const Positions& op_positions) {
  Positions device_positions;
  std::vector<std::string> device_names;
  for (const Device& device : problem.devices) {
    device_positions.emplace(device.name, static_cast<std::uint32_t>(device_names.size()));
    device_names.push_back(device.name);
  }
  std::vector<std::uint8_t> devices(problem.op_count(), 0);
  std::vector<char> placed(problem.op_count(), 0);
  const Place ops = file.place("ops");
  file.need("ops").each_member(ops, [&](std::string_view name, Value device) {
    const Place place(ops, name);
    const std::uint32_t op = position_of(name, op_positions, problem.op_names, "op", ops);
    devices[op] =
        static_cast<std::uint8_t>(position_of(device.text(place), device_positions, device_names, "device", place));
    placed[op] = 1;
  });
  std::size_t missing = 0;
  std::size_t first = 0;
  for (std::size_t op = problem.op_count(); op-- > 0;)
    if (placed[op] == 0) {
      ++missing;
      first = op;
    }
  if (missing > 0)
    throw InputError(ops.str(), "op {} has no device{}", quote(problem.op_names[first]),
                     missing == 1 ? "" : fmt::format(" ({} ops have none)", missing));
  return devices;
}

std::vector<std::uint32_t> read_order(const Fields& file, const Problem& problem, const Positions& op_positions) {
  std::vector<std::uint32_t> order;
  const Place place = file.place("order");
  file.need("order").each_element(place, [&](std::size_t i, Value name) {
    const Place at(place, i);
    order.push_back(position_of(name.text(at), op_positions, problem.op_names, "op", at));
  });
  // An empty list does not mean "no order": every problem has at least one op.
  if (order.empty()) throw InputError(place.str(), "names no op, the problem has {}", problem.op_count());
  return order;
}

}  // namespace

std::map<std::string, std::string> devices_of_placement_json(std::string_view text, const std::string& file) {
  const json::Document document = json::parse(text, file);
  const Place place(file);
  json::check_header(document.root(), place, "placement");
  const Fields fields(document.root(), place, file_keys);
  std::map<std::string, std::string> devices;
  const Place ops = fields.place("ops");
  fields.need("ops").each_member(
      ops, [&](std::string_view name, Value device) { devices.emplace(name, device.text(Place(ops, name))); });
  return devices;
}

PlacementFile read_placement_json(std::string_view text, const std::string& file, const Problem& problem) {
  const json::Document document = json::parse(text, file);
  const Place place(file);
  json::check_header(document.root(), place, "placement");
  const Fields fields(document.root(), place, file_keys);

  Positions op_positions;
  op_positions.reserve(problem.op_count());
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    op_positions.emplace(problem.op_names[op], static_cast<std::uint32_t>(op));

  PlacementFile result;
  result.problem_name = fields.text_or_empty("problem");
  result.placement.device = read_devices(fields, problem, op_positions);
  if (fields.find("schedule") != nullptr)
    result.schedule = schedule_of(fields.text("schedule"), fields.place("schedule").str());
  if (const Value* order = fields.find("order"); order != nullptr && !order->is_null()) {
    if (!result.schedule)
      throw InputError(file, "'order' needs the key 'schedule' with 'fifo', 'priority' or 'in-order'");
    result.placement.order = read_order(fields, problem, op_positions);
  }
  check_placement(problem, result.placement, fields.place("order").str());
  return result;
}

std::string write_placement_json(const Problem& problem, const Placement& placement, Schedule schedule) {
  check_placement(problem, placement);
  std::string out = "{\n  \"emplace\": \"placement/1\",\n";
  const auto into = std::back_inserter(out);
  fmt::format_to(into, "  \"problem\": {},\n  \"schedule\": {},\n", json::escaped(problem.name),
                 json::escaped(name_of(schedule)));
  if (!placement.order.empty()) {
    out += "  \"order\": [";
    for (std::size_t i = 0; i < placement.order.size(); ++i)
      fmt::format_to(into, "{}{}", i == 0 ? "" : ", ", json::escaped(problem.op_names[placement.order[i]]));
    out += "],\n";
  }
  out += "  \"ops\": {";
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    fmt::format_to(into, "{}{}: {}", op == 0 ? "\n    " : ",\n    ", json::escaped(problem.op_names[op]),
                   json::escaped(problem.devices[placement.device[op]].name));
  return out + "\n  }\n}\n";
}

}  // namespace emplace::formats
