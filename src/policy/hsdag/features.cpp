#include "policy/hsdag/features.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "policy/common/op_features.hpp"
#include "policy/hsdag/fractal_dimension.hpp"

namespace emplace::policy {

namespace {

constexpr std::size_t shape_slots = 4;
constexpr double unknown_dimension = 100;  // as in the released code
constexpr const char* hsdag_place = "policy hsdag";

std::vector<std::uint32_t> read_degrees(const std::vector<std::string>& texts, const char* option) {
  std::vector<std::uint32_t> degrees;
  for (const std::string& text : texts) {
    std::uint32_t degree = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), degree);
    if (error != std::errc() || end != text.data() + text.size() || (!degrees.empty() && degree <= degrees.back()))
      throw InputError(hsdag_place, "{} has {}, wanted whole numbers in ascending order", option, quote(text));
    degrees.push_back(degree);
  }
  return degrees;
}

std::vector<std::uint32_t> occurring(std::span<const HsdagGraph> graphs,
                                     std::vector<std::uint32_t> UnitDegrees::*which) {
  std::vector<std::uint32_t> degrees;
  for (const HsdagGraph& each : graphs)
    degrees.insert(degrees.end(), (each.degrees.*which).begin(), (each.degrees.*which).end());
  std::ranges::sort(degrees);
  degrees.erase(std::ranges::unique(degrees).begin(), degrees.end());
  return degrees;
}

// One row of features, filled from the left.
class Row {
 public:
  explicit Row(std::span<float> values) : left_(values) {}
  std::span<float> next(std::size_t width) {
    const std::span<float> block = left_.first(width);
    left_ = left_.subspan(width);
    return block;
  }
  [[nodiscard]] bool full() const { return left_.empty(); }

 private:
  std::span<float> left_;
};

void set_one(std::span<const std::uint32_t> values, std::uint32_t value, std::span<float> block) {
  const auto at = std::ranges::lower_bound(values, value);
  if (at != values.end() && *at == value) block[static_cast<std::size_t>(at - values.begin())] = 1;
}

void set_types(std::span<const std::uint32_t> ops, std::span<const std::uint32_t> types, std::span<float> block) {
  const double share = 1 / static_cast<double>(ops.size());
  for (const std::uint32_t op : ops)
    if (types[op] != no_type) block[types[op]] += 1;
  for (float& value : block) value = static_cast<float>(value * share);
}

void set_shape(const OutputShapes& shapes, std::uint32_t op, std::span<float> block) {
  if (shapes.output_count(op) == 0) return;
  const std::span<const std::int64_t> shape = shapes.output(op, 0);
  for (std::size_t i = 0; i < std::min(block.size(), shape.size()); ++i)
    block[i] = static_cast<float>(std::log1p(shape[i] > 0 ? static_cast<double>(shape[i]) : unknown_dimension));
}

void set_position(std::size_t rank, std::span<float> block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double exponent = static_cast<double>(i / 2 * 2) / static_cast<double>(block.size());
    const double angle = static_cast<double>(rank) / std::pow(10000.0, exponent);
    block[i] = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
}

std::vector<float> dimensions_of(const NodeGraph& graph, std::uint64_t seed, std::uint32_t index) {
  if (graph.nodes <= fractal_exact_nodes) return fractal_dimensions(graph);
  return fractal_dimensions(graph, {}, Stream({.seed = seed, .purpose = Purpose::sample_graph, .index = index}));
}

}  // namespace

HsdagGraph hsdag_graph(const PolicyProblem& problem) {
  HsdagGraph made;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges = unit_edges(problem);
  made.degrees.in.resize(problem.grouping.count());
  made.degrees.out.resize(problem.grouping.count());
  for (const auto& [a, b] : edges) {
    ++made.degrees.out[a];
    ++made.degrees.in[b];
  }
  make_graph(problem.grouping.count(), edges, made.graph);
  return made;
}

std::size_t HsdagColumns::width() const {
  return types + (node_number ? 1 : 0) + (shape ? shape_slots : 0) + in_degrees.size() + out_degrees.size() +
         (structure ? 1 : 0) + position;
}

HsdagColumns hsdag_columns(const HsdagOptions& o, const PolicySetup& setup, std::span<const HsdagGraph> graphs) {
  HsdagColumns columns;
  columns.types = setup.op_types.size();
  columns.node_number = o.features == "code";
  if (columns.node_number) return columns;
  columns.shape = o.shape_feature;
  columns.structure = o.structure_features;
  if (o.structure_features) {
    columns.in_degrees = read_degrees(o.in_degrees, "in_degrees");
    columns.out_degrees = read_degrees(o.out_degrees, "out_degrees");
    if (columns.in_degrees.empty()) columns.in_degrees = occurring(graphs, &UnitDegrees::in);
    if (columns.out_degrees.empty()) columns.out_degrees = occurring(graphs, &UnitDegrees::out);
  }
  if (o.position_feature) columns.position = static_cast<std::size_t>(o.position_width);
  return columns;
}

std::vector<float> hsdag_features(const PolicyProblem& problem, const HsdagGraph& graph, const HsdagColumns& columns,
                                  std::span<const std::string> op_types, std::uint64_t seed, std::uint32_t index) {
  const Grouping& units = problem.grouping;
  const std::vector<std::uint32_t> types = type_ids(*problem.problem, op_types);
  const std::vector<std::uint32_t> position = topological_positions(*problem.problem);
  std::vector<float> dimensions;
  if (columns.structure) dimensions = dimensions_of(graph.graph, seed, index);
  const std::size_t width = columns.width();
  std::vector<float> features(units.count() * width, 0.0F);
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    Row row{std::span(features).subspan(unit * width, width)};
    set_types(units.members[unit], types, row.next(columns.types));
    if (columns.node_number) row.next(1)[0] = static_cast<float>(unit);
    if (columns.shape) {
      const std::uint32_t last =
          *std::ranges::max_element(units.members[unit], {}, [&](std::uint32_t op) { return position[op]; });
      set_shape(problem.shapes, last, row.next(shape_slots));
    }
    set_one(columns.in_degrees, graph.degrees.in[unit], row.next(columns.in_degrees.size()));
    set_one(columns.out_degrees, graph.degrees.out[unit], row.next(columns.out_degrees.size()));
    if (columns.structure) row.next(1)[0] = dimensions[unit];
    set_position(unit, row.next(columns.position));
    EMPLACE_CHECK(row.full());
  }
  const std::size_t degrees = columns.in_degrees.size() + columns.out_degrees.size();
  std::size_t begin = columns.types + (columns.node_number ? 1 : 0);
  check_features(problem, "type", features, width, 0, columns.types);
  if (columns.shape) check_features(problem, "shape", features, width, begin, shape_slots);
  begin += (columns.shape ? shape_slots : 0) + degrees;
  if (columns.structure) check_features(problem, "fractal dimension", features, width, begin, 1);
  return features;
}

ConfigTable freeze_degrees(const ConfigTable& table, const PolicySetup& setup) {
  HsdagOptions options = read_hsdag_options(table);
  std::vector<HsdagGraph> graphs;
  for (const PolicyProblem& problem : setup.problems) graphs.push_back(hsdag_graph(problem));
  const HsdagColumns columns = hsdag_columns(options, setup, graphs);
  const auto texts = [](std::span<const std::uint32_t> degrees) {
    std::vector<std::string> list;
    for (const std::uint32_t degree : degrees) list.push_back(std::to_string(degree));
    return list;
  };
  options.in_degrees = texts(columns.in_degrees);
  options.out_degrees = texts(columns.out_degrees);
  return echo_options(options);
}

}  // namespace emplace::policy
