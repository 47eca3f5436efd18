#include <fmt/format.h>

#include <iterator>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "formats/json/json.hpp"
#include "formats/json/json_header.hpp"
#include "formats/json/names.hpp"
#include "formats/json/placement_devices.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Place;
using json::Value;

constexpr const char* order_without_schedule = "'order' needs the key 'schedule' with 'fifo', 'priority' or 'in-order'";
const std::vector<std::string> placement_keys = {"emplace", "problem", "ops", "schedule", "order"};

std::vector<std::uint32_t> read_order(const Fields& file, const Problem& problem, const json::Positions& op_positions) {
  std::vector<std::uint32_t> order;
  const Place place = file.place("order");
  file.need("order").each_element(place, [&](std::size_t i, Value name) {
    const Place at(place, i);
    order.push_back(json::position_of(name.text(at), op_positions, problem.op_names, "op", at));
  });
  // An empty list does not mean "no order": every problem has at least one op.
  if (order.empty()) throw InputError(place.str(), "names no op, the problem has {}", problem.op_count());
  return order;
}

// The devices of all ops. Names that the problem has not are explained where the file says that it is for another one.
std::vector<std::uint8_t> read_devices(const Fields& file, const std::string& made_for, const Problem& problem,
                                       const json::Positions& op_positions) {
  try {
    return json::devices_of_ops(file.need("ops"), file.place("ops"), op_positions, problem);
  } catch (const InputError& error) {
    if (made_for.empty() || made_for == problem.name) throw;
    throw InputError(fmt::format("{} (it is a placement of {}, the problem is {})", error.what(), quote(made_for),
                                 quote(problem.name)));
  }
}

}  // namespace

std::map<std::string, std::string> devices_of_placement_json(std::string_view text, const std::string& file) {
  const json::Document document = json::parse(text, file);
  const Place place(file);
  json::check_header(document.root(), place, "placement");
  const Fields fields(document.root(), place, placement_keys);
  std::map<std::string, std::string> devices;
  const Place ops = fields.place("ops");
  fields.need("ops").each_member(
      ops, [&](std::string_view name, Value device) { devices.emplace(name, device.text(Place(ops, name))); });
  return devices;
}

PlacementContents placement_contents(std::string_view text, const std::string& file) {
  const json::Document document = json::parse(text, file);
  const Place place(file);
  json::check_header(document.root(), place, "placement");
  const Fields fields(document.root(), place, placement_keys);
  PlacementContents contents;
  contents.problem = fields.text_or_empty("problem");
  if (fields.find("schedule") != nullptr)
    contents.schedule = schedule_of(fields.text("schedule"), fields.place("schedule").str());
  const Place ops = fields.place("ops");
  fields.need("ops").each_member(ops, [&](std::string_view name, Value device) {
    ++contents.ops_by_device[std::string(device.text(Place(ops, name)))];
    ++contents.ops;
  });
  if (const Value* order = fields.find("order"); order != nullptr && !order->is_null()) {
    if (!contents.schedule) throw InputError(file, "{}", order_without_schedule);
    const Place at = fields.place("order");
    order->each_element(at, [&](std::size_t i, Value name) {
      static_cast<void>(name.text(Place(at, i)));
      ++contents.ordered;
    });
  }
  return contents;
}

PlacementFile read_placement_json(std::string_view text, const std::string& file, const Problem& problem) {
  const json::Document document = json::parse(text, file);
  const Place place(file);
  json::check_header(document.root(), place, "placement");
  const Fields fields(document.root(), place, placement_keys);

  const json::Positions op_positions = json::positions_of(problem.op_names);

  PlacementFile result;
  result.problem_name = fields.text_or_empty("problem");
  result.placement.device = read_devices(fields, result.problem_name, problem, op_positions);
  if (fields.find("schedule") != nullptr)
    result.schedule = schedule_of(fields.text("schedule"), fields.place("schedule").str());
  if (const Value* order = fields.find("order"); order != nullptr && !order->is_null()) {
    if (!result.schedule) throw InputError(file, "{}", order_without_schedule);
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
