#include "emplace/formats/problem_json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/problem/builder.hpp"
#include "formats/json/json.hpp"
#include "formats/json/json_header.hpp"
#include "formats/json/names.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Place;
using json::Value;

constexpr std::int64_t largest_id = OpId::none_value - 1;

const std::vector<std::string> problem_keys = {"emplace", "name", "devices", "channels", "routes", "ops", "tensors"};
const std::vector<std::string> device_keys = {"name", "kind", "memory_bytes"};
const std::vector<std::string> channel_keys = {"name", "latency_s", "bytes_per_s", "contention"};
const std::vector<std::string> route_keys = {"from", "to", "channels"};

// The keys of one version of the format.
struct Keys {
  std::vector<std::string> file, op, tensor;
};

const Keys keys_of_version[] = {
    {problem_keys, {"name", "type", "seconds", "resident_bytes", "scratch_bytes", "colocate"}, {"from", "bytes", "to"}},
    {{"emplace", "name", "devices", "channels", "routes", "ops", "tensors", "expert", "unsized"},
     {"name", "type", "seconds", "resident_bytes", "scratch_bytes", "colocate", "layer", "module"},
     {"from", "bytes", "to", "shape", "type"}}};

struct ElementType {
  DType type;
  const char* name;
};

constexpr ElementType element_types[] = {
    {DType::f16, "float16"},  {DType::bf16, "bfloat16"}, {DType::f32, "float32"},   {DType::f64, "float64"},
    {DType::i8, "int8"},      {DType::u8, "uint8"},      {DType::i16, "int16"},     {DType::u16, "uint16"},
    {DType::i32, "int32"},    {DType::u32, "uint32"},    {DType::i64, "int64"},     {DType::u64, "uint64"},
    {DType::boolean, "bool"}, {DType::text, "string"},   {DType::c64, "complex64"}, {DType::c128, "complex128"}};

DType element_type(const Fields& fields) {
  const std::string name = fields.text("type");
  std::vector<std::string> names;
  for (const ElementType& each : element_types) {
    if (name == each.name) return each.type;
    names.emplace_back(each.name);
  }
  throw InputError(fields.place("type").str(), "unknown element type {}{}", quote(name), did_you_mean(name, names));
}

// InputError for an empty part, as in "a//b".
std::string module_path(const Fields& fields) {
  std::string path = fields.text("module");
  if (path.starts_with('/') || path.ends_with('/') || path.find("//") != std::string::npos)
    throw InputError(fields.place("module").str(), "a path has no empty parts, got {}", quote(path));
  return path;
}

Bytes bytes_or_zero(const Fields& fields, std::string_view key) {
  const Value* value = fields.find(key);
  return value == nullptr ? 0 : value->whole(fields.place(key), 0, total_limit);
}

template <class TheId>
TheId id_at(const Fields& fields, std::string_view key) {
  return TheId{static_cast<std::size_t>(fields.whole(key, 0, largest_id))};
}

template <class TheId>
std::vector<TheId> ids_at(const Fields& fields, std::string_view key) {
  std::vector<TheId> ids;
  const Place place = fields.place(key);
  ids.reserve(fields.need(key).array_size(place));
  fields.need(key).each_element(place, [&](std::size_t i, Value id) {
    ids.push_back(TheId{static_cast<std::size_t>(id.whole(Place(place, i), 0, largest_id))});
  });
  return ids;
}

void read_device(const Fields& fields, ProblemBuilder& builder) {
  Device device{.name = fields.text("name"), .kind = fields.text_or_empty("kind")};
  if (!fields.need("memory_bytes").is_null()) device.memory = fields.whole("memory_bytes", 0, total_limit);
  builder.add_device(std::move(device), fields.place().str());
}

void read_channel(const Fields& fields, ProblemBuilder& builder) {
  Channel channel{.name = fields.text("name"),
                  .latency_s = fields.number("latency_s"),
                  .bytes_per_s = fields.number("bytes_per_s")};
  if (const Value* contention = fields.find("contention"))
    channel.contention = contention->boolean(fields.place("contention"));
  builder.add_channel(std::move(channel), fields.place().str());
}

void read_route(const Fields& fields, ProblemBuilder& builder) {
  builder.add_route(id_at<DeviceId>(fields, "from"), id_at<DeviceId>(fields, "to"),
                    ids_at<ChannelId>(fields, "channels"), fields.place().str());
}

void read_op(const Fields& fields, ProblemBuilder& builder) {
  OpSpec op{.name = fields.text("name"),
            .type = fields.text_or_empty("type"),
            .seconds = {},
            .resident = bytes_or_zero(fields, "resident_bytes"),
            .scratch = bytes_or_zero(fields, "scratch_bytes"),
            .colocate = {}};
  const Place seconds = fields.place("seconds");
  op.seconds.reserve(fields.need("seconds").array_size(seconds));
  fields.need("seconds").each_element(seconds, [&](std::size_t device, Value time) {
    op.seconds.push_back(time.is_null() ? std::nan("") : time.number(Place(seconds, device)));
  });
  if (const Value* group = fields.find("colocate"); group != nullptr && !group->is_null()) {
    op.colocate = fields.text("colocate");
    if (op.colocate.empty())
      throw InputError(fields.place("colocate").str(), "the group has an empty name; write null for none");
  }
  op.layer = fields.text_or_empty("layer");
  if (fields.find("module") != nullptr) op.module = module_path(fields);
  builder.add_op(std::move(op), fields.place().str());
}

// None: the tensor has no shape.
std::optional<OutputSpec> read_output(const Fields& fields) {
  const Value* const shape = fields.find("shape");
  if (shape == nullptr) {
    if (fields.find("type") != nullptr)
      throw InputError(fields.place("type").str(),
                       "is for tensors that have a shape; \"shape\": null is one of unknown rank");
    return {};
  }
  OutputSpec output{.ranked = !shape->is_null()};
  const Place place = fields.place("shape");
  if (output.ranked)
    shape->each_element(place, [&](std::size_t i, Value size) {
      output.dimensions.push_back(size.is_null() ? TensorShapes::unknown_dimension
                                                 : size.whole(Place(place, i), 0, total_limit));
    });
  if (fields.find("type") != nullptr) output.type = element_type(fields);
  return output;
}

void read_tensor(const Fields& fields, ProblemBuilder& builder) {
  const OpId from = id_at<OpId>(fields, "from");
  const Bytes bytes = fields.whole("bytes", 0, total_limit);
  const std::optional<OutputSpec> output = read_output(fields);
  builder.add_tensor(from, bytes, ids_at<OpId>(fields, "to"), fields.place().str(), {}, output ? &*output : nullptr);
}

void read_list(const Fields& file, std::string_view key, const std::vector<std::string>& known, ProblemBuilder& builder,
               void (*read)(const Fields&, ProblemBuilder&)) {
  const Place list = file.place(key);
  file.need(key).each_element(list, [&](std::size_t i, Value element) {
    const Place place(list, i);
    read(Fields(element, place, known), builder);
  });
}

// How many tensors of each op type have no known size.
std::map<std::string, std::int64_t> read_unsized(const Fields& file) {
  std::map<std::string, std::int64_t> counts;
  const Value* const value = file.find("unsized");
  if (value == nullptr) return counts;
  const Place place = file.place("unsized");
  value->each_member(place, [&](std::string_view type, Value count) {
    counts[std::string(type)] = count.whole(Place(place, type), 1, largest_id);
  });
  return counts;
}

// What the file says, but for what needs the whole problem.
struct Parts {
  ProblemBuilder builder;
  int version = 1;
  std::map<std::string, std::int64_t> unsized;
  json::Document document;  // kept where the expert's placement is still to be read
};

Parts read_parts(std::string_view text, const std::string& file) {
  Parts parts{ProblemBuilder(""), 1, {}, json::parse(text, file)};
  const Place place(file);
  parts.version = json::check_header(parts.document.root(), place, "problem", 2);
  const Keys& keys = keys_of_version[parts.version - 1];
  const Fields fields(parts.document.root(), place, keys.file);
  parts.builder = ProblemBuilder(fields.text_or_empty("name"));
  ProblemBuilder& builder = parts.builder;
  read_list(fields, "devices", device_keys, builder, read_device);
  if (fields.find("channels") != nullptr) read_list(fields, "channels", channel_keys, builder, read_channel);
  if (fields.find("routes") != nullptr) read_list(fields, "routes", route_keys, builder, read_route);
  read_list(fields, "ops", keys.op, builder, read_op);
  read_list(fields, "tensors", keys.tensor, builder, read_tensor);
  if (parts.version > 1) parts.unsized = read_unsized(fields);
  const Value* const expert = fields.find("expert");
  if (expert == nullptr || expert->is_null()) parts.document = {};  // it is large, and not needed any more
  return parts;
}

// N: the device of each op in the expert's placement.
std::vector<std::uint8_t> read_expert(const json::Document& document, const std::string& file, const Problem& problem) {
  const Place place(file);
  const Fields fields(document.root(), place, keys_of_version[1].file);
  return json::devices_of_ops(fields.need("expert"), fields.place("expert"), json::positions_of(problem.op_names),
                              problem);
}

// Writes the exact decimal of the ticks if reading it gives the same ticks. Above 2^52 ps (75 minutes) the reader's
// double can be one tick off; then a neighbouring double is written that gives these ticks.
void append_seconds(std::string& out, Ticks ticks) {
  if (ticks == cannot_run) {
    out += "null";
    return;
  }
  constexpr Ticks second = 1'000'000'000'000;
  std::string text = fmt::format("{}.{:012}", ticks / second, ticks % second);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  if (ticks >= Ticks{1} << 50) {
    double seconds = 0;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (ticks_of_seconds(seconds) != ticks) {
      const double above = std::nextafter(seconds, HUGE_VAL);
      const double below = std::nextafter(seconds, 0);
      seconds = ticks_of_seconds(above) == ticks ? above : below;
      EMPLACE_CHECK(ticks_of_seconds(seconds) == ticks, "{} ps are no rounded number of seconds", ticks);
      text = fmt::format("{}", seconds);
    }
  }
  out += text;
}

void append_shape(std::string& out, const TensorShapes& shapes, std::size_t tensor) {
  if (!shapes.has(tensor)) return;
  out += R"(, "shape": )";
  if (shapes.known[tensor] == TensorShapes::Known::unranked) {
    out += "null";
  } else {
    out += '[';
    for (const char* separator = ""; const std::int64_t size : shapes.dimensions_of(tensor)) {
      out += separator;
      out += size == TensorShapes::unknown_dimension ? "null" : fmt::format("{}", size);
      separator = ", ";
    }
    out += ']';
  }
  for (const ElementType& each : element_types)
    if (each.type == shapes.type[tensor]) fmt::format_to(std::back_inserter(out), R"(, "type": "{}")", each.name);
}

void append_expert(std::string& out, const Problem& problem) {
  out += "  \"expert\": {";
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    fmt::format_to(std::back_inserter(out), "{}\n    {}: {}", op == 0 ? "" : ",", json::escaped(problem.op_names[op]),
                   json::escaped(problem.devices[problem.expert[op]].name));
  out += "\n  }\n}\n";
}

void append_unsized(std::string& out, const Problem& problem) {
  if (problem.unsized.empty()) return;
  out += "  \"unsized\": {";
  for (const char* separator = ""; const auto& [type, count] : problem.unsized) {
    fmt::format_to(std::back_inserter(out), "{}{}: {}", separator, json::escaped(type), count);
    separator = ", ";
  }
  out += "},\n";
}

// Text is handed over when it is longer than this.
constexpr std::size_t piece_length = 1 << 20;
using Take = std::function<void(std::string_view)>;

void hand_over(std::string& out, const Take& take) {
  take(out);
  out.clear();
}

// Writes one object on each line, so that the file and its diffs are readable; write(i) appends the members of object
// i.
template <class Write>
void append_list(std::string& out, const Take& take, const char* key, std::size_t count, bool last, Write&& write) {
  fmt::format_to(std::back_inserter(out), "  \"{}\": [", key);
  for (std::size_t i = 0; i < count; ++i) {
    out += i == 0 ? "\n    {" : ",\n    {";
    write(i);
    out += '}';
    if (out.size() > piece_length) hand_over(out, take);
  }
  out += count == 0 ? "]" : "\n  ]";
  out += last ? "\n}\n" : ",\n";
}

}  // namespace

Problem read_problem_json(std::string_view text, const std::string& file, std::vector<std::string>* lacks) {
  Parts parts = read_parts(text, file);
  Problem problem = parts.builder.build(file);
  problem.unsized = std::move(parts.unsized);
  if (!parts.document.nodes.empty()) problem.expert = read_expert(parts.document, file, problem);
  if (parts.version == 1 && lacks != nullptr)
    lacks->push_back(fmt::format(
        "{} has the format problem/1, without shapes, layers, modules and an expert's placement: policies that read "
        "shapes see byte counts instead (`emplace cost` and `emplace convert` write problem/2)",
        file));
  return problem;
}

std::string write_problem_json(const Problem& problem) {
  std::string text;
  write_problem_json(problem, [&](std::string_view piece) { text += piece; });
  return text;
}

void write_problem_json(const Problem& problem, const Take& take) {
  if (problem.given_transfer_times)
    throw InputError(problem.name,
                     "has transfer times of its own, which bytes and bandwidths of a problem JSON cannot express");
  if (!problem.backward.empty())
    throw InputError(problem.name, "marks ops as backward, which a problem JSON cannot express");
  std::string out = "{\n  \"emplace\": \"problem/2\",\n";
  const auto into = std::back_inserter(out);
  fmt::format_to(into, "  \"name\": {},\n", json::escaped(problem.name));
  append_unsized(out, problem);
  append_list(out, take, "devices", problem.device_count(), false, [&](std::size_t d) {
    const Device& device = problem.devices[d];
    fmt::format_to(into, R"("name": {}, "kind": {}, "memory_bytes": )", json::escaped(device.name),
                   json::escaped(device.kind));
    out += device.memory == no_memory_limit ? "null" : fmt::format("{}", device.memory);
  });
  append_list(out, take, "channels", problem.channels.size(), false, [&](std::size_t c) {
    const Channel& channel = problem.channels[c];
    fmt::format_to(into, R"("name": {}, "latency_s": {}, "bytes_per_s": {}{})", json::escaped(channel.name),
                   channel.latency_s, channel.bytes_per_s, channel.contention ? "" : R"(, "contention": false)");
  });
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t from = 0; from < problem.device_count(); ++from)
    for (std::size_t to = 0; to < problem.device_count(); ++to)
      if (problem.has_route(DeviceId{from}, DeviceId{to})) pairs.emplace_back(from, to);
  append_list(out, take, "routes", pairs.size(), false, [&](std::size_t i) {
    const auto [from, to] = pairs[i];
    fmt::format_to(into, R"("from": {}, "to": {}, "channels": [{}])", from, to,
                   fmt::join(problem.route(DeviceId{from}, DeviceId{to}), ", "));
  });
  append_list(out, take, "ops", problem.op_count(), false, [&](std::size_t op) {
    fmt::format_to(into, R"("name": {}, "type": {}, "seconds": [)", json::escaped(problem.op_names[op]),
                   json::escaped(problem.op_types[op]));
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      if (d > 0) out += ", ";
      if (problem.zero_cost[op * problem.device_count() + d])
        out += '0';
      else
        append_seconds(out, problem.time(OpId{op}, DeviceId{d}));
    }
    out += ']';
    if (problem.resident[op] != 0) fmt::format_to(into, R"(, "resident_bytes": {})", problem.resident[op]);
    if (problem.scratch[op] != 0) fmt::format_to(into, R"(, "scratch_bytes": {})", problem.scratch[op]);
    if (!problem.group[op].is_none())
      fmt::format_to(into, R"(, "colocate": {})", json::escaped(problem.group_names[problem.group[op].index()]));
    if (!problem.layer[op].empty()) fmt::format_to(into, R"(, "layer": {})", json::escaped(problem.layer[op]));
    if (!problem.module[op].empty()) fmt::format_to(into, R"(, "module": {})", json::escaped(problem.module[op]));
  });
  append_list(out, take, "tensors", problem.tensor_count(), problem.expert.empty(), [&](std::size_t t) {
    fmt::format_to(into, R"("from": {}, "bytes": {}, "to": [{}])", problem.producer[t].value, problem.tensor_bytes[t],
                   fmt::join(problem.consumers[t], ", "));
    append_shape(out, problem.shapes, t);
  });
  if (!problem.expert.empty()) append_expert(out, problem);
  hand_over(out, take);
}

}  // namespace emplace::formats
