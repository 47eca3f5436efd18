#include "serving/cluster_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/json/json.hpp"
#include "formats/json/json_header.hpp"
#include "formats/json/names.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::serving {

namespace {

using formats::json::Fields;
using formats::json::Place;
using formats::json::Value;

const std::vector<std::string> cluster_keys = {"emplace", "name", "model", "layers", "nodes", "links", "published"};
const std::vector<std::string> node_keys = {"name", "type", "max_layers", "tokens_per_s"};
const std::vector<std::string> link_keys = {"from", "to", "tokens_per_s"};
const std::vector<std::string> published_keys = {"tokens_per_s", "layout", "note"};
constexpr const char* source_name = "source";
constexpr const char* sink_name = "sink";
constexpr double most_tokens = 1e12;  // of one node or link, per second

Rate read_rate(Value value, const Place& place) {
  const double tokens = value.number(place);
  if (!(tokens >= rate_unit))
    throw InputError(place.str(), "a rate must be at least {} tokens/s, got {}", rate_unit, value.describe());
  if (tokens > most_tokens)
    throw InputError(place.str(), "a rate may be at most {} tokens/s, got {}", most_tokens, value.describe());
  return std::llround(tokens / rate_unit);
}

// The positions of nodes by name, and the names.
struct Names {
  std::vector<std::string> list;
  std::unordered_map<std::string, NodeIndex> position;

  void add(const std::string& name, const Place& place) {
    if (name.empty()) throw InputError(place.str(), "a node needs a name, got an empty text");
    if (name == source_name || name == sink_name)
      throw InputError(place.str(), "{} is a reserved name, of where links begin and end", quote(name));
    if (!position.emplace(name, static_cast<NodeIndex>(list.size())).second)
      throw InputError(place.str(), "two nodes are called {}; each needs a name of its own", quote(name));
    list.push_back(name);
  }
  [[nodiscard]] NodeIndex at(const std::string& name, const Place& place) const {
    const auto found = position.find(name);
    if (found == position.end())
      throw InputError(place.str(), "no node is called {}{}", quote(name), did_you_mean(name, list));
    return found->second;
  }
};

Node read_node(const Fields& fields, Layers layers) {
  Node node{.name = fields.text("name"), .type = fields.text_or_empty("type"), .speed = {}};
  const std::int64_t most = fields.whole("max_layers", 0, most_layers);
  const Place place = fields.place("tokens_per_s");
  const std::size_t given = fields.need("tokens_per_s").array_size(place);
  if (given != static_cast<std::size_t>(most))
    throw InputError(place.str(), "has {} rates, and max_layers is {}: wanted one rate for each number of layers",
                     given, most);
  fields.need("tokens_per_s").each_element(place, [&](std::size_t i, Value rate) {
    const Rate read = read_rate(rate, Place(place, i));
    if (i < layers) node.speed.push_back(read);
  });
  return node;
}

// Links are read once all nodes are known, in any order of the file's keys.
void read_link(const Fields& fields, const Names& names, Cluster& cluster) {
  const std::string from = fields.text("from"), to = fields.text("to");
  const Rate rate = read_rate(fields.need("tokens_per_s"), fields.place("tokens_per_s"));
  if (from == sink_name) throw InputError(fields.place("from").str(), "no link begins at the sink");
  if (to == source_name) throw InputError(fields.place("to").str(), "no link ends at the source");
  if (from == source_name && to == sink_name)
    throw InputError(fields.place().str(), "links the source to the sink; wanted a node at one of its ends");
  const auto set = [&](Rate& slot) {
    if (slot != 0)
      throw InputError(fields.place().str(), "a second link between {} and {}; wanted one, which goes both ways",
                       quote(from), quote(to));
    slot = rate;
  };
  if (from == source_name) return set(cluster.from_source[names.at(to, fields.place("to"))]);
  if (to == sink_name) return set(cluster.to_sink[names.at(from, fields.place("from"))]);
  const std::size_t a = names.at(from, fields.place("from")), b = names.at(to, fields.place("to"));
  if (a == b) throw InputError(fields.place().str(), "links {} to itself", quote(from));
  set(cluster.link[a * cluster.size() + b]);
  cluster.link[b * cluster.size() + a] = rate;
}

// Each part of the cluster that no link joins to another is a cluster of its own, whose plan does not depend on the
// others.
void refuse_parts(const Cluster& cluster, const std::string& file) {
  std::vector<std::uint8_t> reached(cluster.size(), 0);
  std::vector<std::size_t> open{0};
  reached[0] = 1;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    for (std::size_t other = 0; other < cluster.size(); ++other)
      if (reached[other] == 0 && cluster.between(node, other) > 0) {
        reached[other] = 1;
        open.push_back(other);
      }
  }
  const auto joined = static_cast<std::size_t>(std::accumulate(reached.begin(), reached.end(), 0));
  if (joined == cluster.size()) return;
  const auto apart = static_cast<std::size_t>(std::find(reached.begin(), reached.end(), 0) - reached.begin());
  throw InputError(file + ": links",
                   "join only {} of {} nodes to {}, not {}; wanted one cluster: put each part in a file of its own",
                   joined, cluster.size(), quote(cluster.nodes[0].name), quote(cluster.nodes[apart].name));
}

void check_ends(const Cluster& cluster, const std::string& file) {
  const auto any = [](const std::vector<Rate>& rates) {
    return std::any_of(rates.begin(), rates.end(), [](Rate rate) { return rate > 0; });
  };
  if (!any(cluster.from_source))
    throw InputError(file + ": links", "none begins at {}; wanted at least one", quote(source_name));
  if (!any(cluster.to_sink))
    throw InputError(file + ": links", "none ends at {}; wanted at least one", quote(sink_name));
}

// Reads {"node": [first, end]} into a layout.
Layout layout_of(Value object, const Place& place, const Cluster& cluster) {
  Names names;
  for (const Node& node : cluster.nodes) {
    names.position.emplace(node.name, static_cast<NodeIndex>(names.list.size()));
    names.list.push_back(node.name);
  }
  Layout layout(cluster.size());
  object.each_member(place, [&](std::string_view name, Value interval) {
    const Place at(place, name);
    const NodeIndex node = names.at(std::string(name), at);
    if (const std::size_t size = interval.array_size(at); size != 2)
      throw InputError(at.str(), "has {} numbers, wanted two: the first layer and the one after the last", size);
    Layers ends[2] = {};
    interval.each_element(at, [&](std::size_t i, Value layer) {
      ends[i] = static_cast<Layers>(layer.whole(Place(at, i), 0, cluster.layers));
    });
    if (ends[0] > ends[1]) throw InputError(at.str(), "begins at layer {}, after its end {}", ends[0], ends[1]);
    layout[node] = {ends[0], ends[1]};
    if (layout[node].size() > cluster.most(node))
      throw InputError(at.str(), "has {} layers, and the node holds at most {}", layout[node].size(),
                       cluster.most(node));
    if (layout[node].empty()) layout[node] = {};
  });
  return layout;
}

}  // namespace

bool is_cluster_text(std::string_view text) {
  const formats::TextOutline outline = formats::outline_of(text);
  if (outline.bracket != '{') return false;
  if (outline.has("emplace")) {
    const std::size_t at = text.find("\"emplace\"");
    return text.substr(at, 40).find("\"serving/") != std::string_view::npos;
  }
  return outline.has("layers") && outline.has("nodes") && outline.has("links");
}

bool is_cluster_file(const std::string& file) {
  // Files of other formats may be large: their first bytes tell most of them apart.
  std::ifstream in(file, std::ios::binary);
  std::string begin(4096, ' ');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  const std::size_t bracket = begin.find_first_not_of(" \t\r\n");
  if (bracket == std::string::npos || begin[bracket] != '{') return false;
  if (begin.find("\"emplace\"") != std::string::npos) return is_cluster_text(begin);
  return is_cluster_text(read_file(file));
}

Cluster read_cluster(std::string_view text, const std::string& file) {
  const formats::json::Document document = formats::json::parse(text, file);
  const Place place(file);
  const Fields fields(document.root(), place, cluster_keys);
  if (fields.find("emplace") != nullptr) formats::json::check_header(document.root(), place, "serving");
  Cluster cluster;
  cluster.name = fields.text_or_empty("name");
  cluster.model = fields.text_or_empty("model");
  cluster.layers = static_cast<Layers>(fields.whole("layers", 1, most_layers));

  const Place nodes = fields.place("nodes");
  const std::size_t count = fields.need("nodes").array_size(nodes);
  if (count == 0) throw InputError(nodes.str(), "is empty; wanted at least one node");
  if (count > most_nodes) throw InputError(nodes.str(), "has {} nodes, wanted at most {}", count, most_nodes);
  Names names;
  Rate total = 0;
  fields.need("nodes").each_element(nodes, [&](std::size_t i, Value node) {
    const Place at(nodes, i);
    const Fields each(node, at, node_keys);
    cluster.nodes.push_back(read_node(each, cluster.layers));
    names.add(cluster.nodes.back().name, each.place("name"));
    const std::vector<Rate>& speed = cluster.nodes.back().speed;
    if (!speed.empty()) total += *std::max_element(speed.begin(), speed.end());
    if (total > total_rate_limit)
      throw InputError(at.str(), "the nodes together pass on more than {} tokens/s, the most that is wanted",
                       tokens_per_s(total_rate_limit));
  });

  cluster.link.assign(count * count, 0);
  cluster.from_source.assign(count, 0);
  cluster.to_sink.assign(count, 0);
  const Place links = fields.place("links");
  fields.need("links").each_element(links, [&](std::size_t i, Value link) {
    const Place at(links, i);
    read_link(Fields(link, at, link_keys), names, cluster);
  });
  check_ends(cluster, file);
  refuse_parts(cluster, file);

  if (const Value* published = fields.find("published")) {
    const Place at = fields.place("published");
    const Fields each(*published, at, published_keys);
    cluster.published.throughput = read_rate(each.need("tokens_per_s"), each.place("tokens_per_s"));
    cluster.published.note = each.text_or_empty("note");
    if (const Value* layout = each.find("layout")) layout_of(*layout, each.place("layout"), cluster);
  }
  return cluster;
}

Cluster read_cluster_file(const std::string& file) { return read_cluster(read_file(file), file); }

Layout read_layout(std::string_view text, const std::string& file, const Cluster& cluster) {
  const formats::json::Document document = formats::json::parse(text, file);
  const Place place(file);
  const Value root = document.root();
  std::optional<Value> inner;
  bool is_result = false;
  root.each_member(place, [&](std::string_view key, Value value) {
    if (key == "layout") inner = value;
    is_result = is_result || key == "tokens_per_s";
  });
  if (inner && is_result) return layout_of(*inner, Place(place, "layout"), cluster);
  return layout_of(root, place, cluster);
}

std::string write_layout(const Cluster& cluster, const Layout& layout) {
  std::string text = "{";
  for (std::size_t node = 0; node < cluster.size(); ++node) {
    if (layout[node].empty()) continue;
    if (text.size() > 1) text += ", ";
    text += fmt::format("{}: [{}, {}]", formats::json::escaped(cluster.nodes[node].name), layout[node].first,
                        layout[node].end);
  }
  return text + "}";
}

}  // namespace emplace::serving
