#include "formats/workload/parts.hpp"

#include <filesystem>
#include <unordered_map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

using json::Place;
using json::Value;

namespace {

// The first few names, since a file may have hundreds.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> parts;
  for (const std::string& name : names)
    if (parts.size() < shown) parts.push_back(quote(name));
  const std::string rest = names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
  return join(parts, ", ") + rest;
}

// Suggests a similar name, but not for huge files, where comparing with all names would take minutes.
std::string hint(const std::string& wanted, const std::vector<std::string>& names) {
  return names.size() > 10'000 ? std::string() : did_you_mean(wanted, names);
}

}  // namespace

std::string problem_name_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

void refuse_instance(const WorkloadRequest& request, const std::string& file) {
  if (request.instance) throw InputError(file, "holds one problem, so '#{}' is not allowed", *request.instance);
}

void refuse_processors(const WorkloadRequest& request, const std::string& place, std::size_t processors) {
  if (request.processors)
    throw InputError(place, "has {} processors, so ?processors={} is not allowed", processors, *request.processors);
}

NamedInstance choose_instance(Value list, const Place& place, const WorkloadRequest& request) {
  std::vector<std::string> names;
  std::vector<Value> instances;
  std::unordered_map<std::string, std::size_t> positions;
  list.each_element(place, [&](std::size_t i, Value instance) {
    const Place at(place, i);
    bool named = false;
    instance.each_member(at, [&](std::string_view key, Value value) {
      if (key != "name") return;
      named = true;
      names.emplace_back(value.text(Place(at, "name")));
    });
    if (!named) throw InputError(at.str(), "the key 'name' is missing");
    const auto [found, is_new] = positions.emplace(names.back(), i);
    if (!is_new)
      throw InputError(at.str(), "the instance name {} is used twice (also by number {})", quote(names.back()),
                       found->second);
    instances.push_back(instance);
  });
  if (instances.empty()) throw InputError(place.str(), "holds no instances");
  if (!request.instance) {
    if (instances.size() == 1) return {names.front(), instances.front()};
    throw InputError(place.str(), "holds {} instances, choose one as FILE#NAME: {}", names.size(), some_of(names));
  }
  const auto found = positions.find(*request.instance);
  if (found != positions.end()) return {found->first, instances[found->second]};
  const std::string near = hint(*request.instance, names);
  throw InputError(place.str(), "has no instance {}{}", quote(*request.instance),
                   near.empty() ? fmt::format("; there are {}: {}", names.size(), some_of(names)) : near);
}

void check_table(std::size_t rows, std::size_t columns, const char* what, const std::string& place) {
  constexpr std::size_t most = std::size_t{1} << 27;
  if (columns != 0 && rows > most / columns)
    throw InputError(place, "{} x {} {} are more than this program can hold ({})", rows, columns, what, most);
}

void check_length(Value list, const Place& place, std::size_t wanted, std::string_view what) {
  const std::size_t found = list.array_size(place);
  if (found != wanted) throw InputError(place.str(), "must have {} elements{}, got {}", wanted, what, found);
}

double seconds_at(Value value, const Place& place, double unit) {
  const double time = value.number(place);
  if (time < 0) throw InputError(place.str(), "a time must not be negative, got {}", time);
  return time * unit;
}

void EdgeSet::add(std::uint32_t from, std::uint32_t to, const std::string& place) {
  if (!edges_.insert(std::uint64_t{from} << 32 | to).second)
    throw InputError(place, "the edge is listed twice (its ends are numbers {} and {})", from, to);
}

ProblemBuilder processors_with_delays(const std::string& name, std::size_t processors, const std::string& place) {
  ProblemBuilder builder(name);
  for (std::size_t p = 0; p < processors; ++p)
    builder.add_device({.name = fmt::format("proc:{}", p), .kind = "processor"}, place);
  if (processors < 2) {
    builder.give_transfer_times(1);
    return builder;
  }
  const ChannelId links = builder.add_channel({.name = "links", .contention = false}, place);
  builder.give_transfer_times(1);
  for (std::size_t from = 0; from < processors; ++from)
    for (std::size_t to = 0; to < processors; ++to)
      if (from != to) builder.add_route(DeviceId{from}, DeviceId{to}, {links}, place);
  return builder;
}

std::size_t add_tasks(const json::Fields& instance, std::size_t processors, ProblemBuilder& builder) {
  const Place weights = instance.place("weights");
  const std::size_t tasks = instance.need("weights").array_size(weights);
  check_table(tasks, processors, "tasks x processors", weights.str());
  instance.need("weights").each_element(weights, [&](std::size_t i, Value weight) {
    const Place at(weights, i);
    const double seconds = seconds_at(weight, at, microsecond);
    builder.add_op(
        {.name = fmt::format("{}", i), .type = {}, .seconds = std::vector<double>(processors, seconds), .colocate = {}},
        at.str());
  });
  return tasks;
}

}  // namespace emplace::formats
