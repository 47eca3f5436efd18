#include "app/serving.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "search/common/deadline.hpp"
#include "serving/bound.hpp"
#include "serving/cluster_json.hpp"
#include "serving/flow.hpp"
#include "serving/placer.hpp"
#include "serving/stage_problem.hpp"
#include "serving/why_nothing.hpp"

namespace emplace::app {

namespace {

using serving::Cluster;
using serving::Layout;
using serving::Rate;
using serving::tokens_per_s;

// Seconds of a bound that is computed beside a result.
constexpr double seconds_of_bound = 5;
constexpr std::size_t shown_links = 5;

std::string rate_text(Rate rate) { return fmt::format("{:.1f}", tokens_per_s(rate)); }
std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }
double ratio(Rate a, Rate b) { return static_cast<double>(a) / static_cast<double>(std::max<Rate>(b, 1)); }

std::string described(const Cluster& cluster) {
  return fmt::format("{}{}, {} layers on {} nodes", printable(cluster.name.empty() ? "cluster" : cluster.name),
                     cluster.model.empty() ? "" : " (" + printable(cluster.model) + ")", cluster.layers,
                     cluster.size());
}

Json json_of(const Cluster& cluster, const Layout& layout) {
  return Json::parse(serving::write_layout(cluster, layout));
}

std::string end_name(const Cluster& cluster, serving::NodeIndex node, const char* outside) {
  return node == serving::no_node ? outside : cluster.nodes[node].name;
}

// What each node holds and passes, and the links with least room.
std::string tables(const Cluster& cluster, const Layout& layout, const serving::FlowDetails& flow) {
  std::vector<std::size_t> order;
  std::size_t idle = 0;
  for (std::size_t n = 0; n < cluster.size(); ++n)
    if (layout[n].empty())
      ++idle;
    else
      order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(layout[a].first, layout[a].end) < std::pair(layout[b].first, layout[b].end);
  });
  TextTable nodes({"node", "type", "layers", "count", "tokens/s", "of its speed"});
  for (const std::size_t n : order) {
    const Rate speed = cluster.nodes[n].speed[layout[n].size() - 1];
    nodes.add({printable(cluster.nodes[n].name), printable(cluster.nodes[n].type),
               fmt::format("[{}, {})", layout[n].first, layout[n].end), fmt::format("{}", layout[n].size()),
               rate_text(flow.node[n]), percent(ratio(flow.node[n], speed))});
  }
  std::string text = nodes.str();
  if (idle > 0) text += fmt::format("{} node{} nothing\n", idle, idle == 1 ? " holds" : "s hold");
  std::vector<serving::LinkFlow> links = flow.links;
  std::stable_sort(links.begin(), links.end(),
                   [](const auto& a, const auto& b) { return ratio(a.flow, a.rate) > ratio(b.flow, b.rate); });
  if (links.size() > shown_links) links.resize(shown_links);
  TextTable busiest({"busiest links", "to", "tokens/s", "of its rate"});
  for (const serving::LinkFlow& link : links)
    busiest.add({printable(end_name(cluster, link.from, "source")), printable(end_name(cluster, link.to, "sink")),
                 rate_text(link.flow), percent(ratio(link.flow, link.rate))});
  if (!links.empty()) text += "\n" + busiest.str();
  return text;
}

struct SimpleRule {
  std::string name;
  Rate throughput = 0;
};
std::vector<SimpleRule> simple_rules(const Cluster& cluster) {
  std::vector<SimpleRule> rules;
  for (const serving::PlacerEntry& entry : serving::placers())
    if (entry.quick) rules.push_back({entry.name, entry.place({.cluster = &cluster}, {}).throughput});
  return rules;
}

std::string verdict(const ServingPlace& arguments, const Cluster& cluster, const serving::Result& result,
                    const std::vector<SimpleRule>& rules) {
  std::string text;
  const auto compare = [&](const std::string& what, Rate other) {
    text += other == 0 ? fmt::format("{} finds no plan\n", what)
                       : fmt::format("{}: {} tokens/s, {} of this plan\n", what, rate_text(other),
                                     percent(ratio(other, result.throughput)));
  };
  if (cluster.published.throughput > 0) compare("published", cluster.published.throughput);
  for (const SimpleRule& rule : rules)
    if (rule.name != arguments.method) compare(rule.name, rule.throughput);
  if (result.proved_optimal())
    text += fmt::format("this is the best plan: none passes more than {} tokens/s ({})\n",
                        rate_text(*result.upper_bound), result.bound_method);
  else
    text += fmt::format("no plan passes more than {} tokens/s ({}): at most {} more is possible\n",
                        rate_text(*result.upper_bound), result.bound_method,
                        percent(ratio(*result.upper_bound, result.throughput) - 1));
  const std::string file = shell_word(arguments.file);
  if (!result.proved_optimal() && arguments.method != "best")
    text += fmt::format("next: emplace place best {} --seconds 10\n", file);
  else if (!result.proved_optimal())
    text += fmt::format("next: emplace place best {} --seconds {:g}\n", file, 6 * arguments.seconds.value_or(10));
  else if (arguments.output.empty())
    text += fmt::format("next: emplace place {} {} -o layout.json\n", arguments.method, file);
  else
    text += fmt::format("next: emplace simulate {} {}\n", file, shell_word(arguments.output));
  return text;
}

void print_place_json(const ServingPlace& arguments, const Cluster& cluster, const serving::Result& result,
                      const std::vector<SimpleRule>& rules, double seconds) {
  Json json{{"method", arguments.method},
            {"tokens_per_s", tokens_per_s(result.throughput)},
            {"upper_bound_tokens_per_s", tokens_per_s(*result.upper_bound)},
            {"bound_method", result.bound_method},
            {"feasible", result.feasible()},
            {"proved_optimal", result.proved_optimal()},
            {"evaluations", result.evaluations},
            {"seconds", seconds}};
  if (cluster.published.throughput > 0) json["published_tokens_per_s"] = tokens_per_s(cluster.published.throughput);
  json["simple_rules"] = Json::object();
  for (const SimpleRule& rule : rules) json["simple_rules"][rule.name] = tokens_per_s(rule.throughput);
  json["layout"] = json_of(cluster, result.layout);
  print_json(json);
}

}  // namespace

void refuse_for_cluster(const std::string& file, const char* option) {
  if (option != nullptr && *option != 0)
    throw InputError(option, "is for problems with ops; {} is a cluster to serve a model on", quote(file));
}

ExitCode place_on_cluster(const ServingPlace& arguments) {
  const Cluster cluster = serving::read_cluster_file(arguments.file);
  Layout start;
  if (!arguments.start.empty())
    start = serving::read_layout_or_placement(read_file(arguments.start), arguments.start, cluster);
  std::optional<FileWriter> output;
  if (!arguments.output.empty()) output.emplace(arguments.output);
  set_work_to_save(true);
  const search::Deadline clock(std::nullopt);
  serving::Result result = serving::place_with(arguments.method,
                                               {.cluster = &cluster,
                                                .seed = arguments.seed,
                                                .seconds = arguments.seconds,
                                                .evaluations = arguments.evaluations,
                                                .start = start.empty() ? nullptr : &start,
                                                .stop = stop_requested},
                                               arguments.options);
  const double seconds = clock.elapsed();
  const bool stopped = stop_requested();
  if (!result.upper_bound) {
    const serving::UpperBound bound =
        serving::upper_bound(cluster, result.throughput, {.seconds = seconds_of_bound, .stop = stop_requested});
    result.upper_bound = bound.rate;
    result.bound_method = bound.method;
  }
  if (output) {
    output->write(serving::write_layout(cluster, result.layout) + "\n");
    output->finish();
  }
  const std::vector<SimpleRule> rules = simple_rules(cluster);
  if (arguments.json) {
    print_place_json(arguments, cluster, result, rules, seconds);
  } else if (result.feasible()) {
    serving::FlowDetails flow;
    serving::FlowEvaluator(cluster).throughput(result.layout, &flow);
    fmt::print("{} on {}: {} tokens/s\n\n{}\n{}", arguments.method, described(cluster), rate_text(result.throughput),
               tables(cluster, result.layout, flow), verdict(arguments, cluster, result, rules));
    if (!arguments.output.empty()) fmt::print("written to {}\n", arguments.output);
  }
  if (!result.feasible())
    fmt::print(stderr, "{}: no plan was found{}\n", arguments.file,
               *result.upper_bound == 0 ? ": " + serving::why_nothing(cluster) : "");
  if (stopped) {
    fmt::print(stderr, "stopped early on request: this is the best so far\n");
    return ExitCode::interrupted;
  }
  return result.feasible() ? ExitCode::done : ExitCode::infeasible;
}

ExitCode simulate_layout(const std::string& file, const std::string& layout_file, bool json) {
  const Cluster cluster = serving::read_cluster_file(file);
  const Layout layout = serving::read_layout_or_placement(read_file(layout_file), layout_file, cluster);
  serving::FlowDetails flow;
  const Rate throughput = serving::FlowEvaluator(cluster).throughput(layout, &flow);
  const std::string reason = throughput > 0 ? "" : serving::why_nothing(cluster, layout);
  if (!json) {
    fmt::print("{}: {}\n\n{}", described(cluster),
               throughput > 0 ? rate_text(throughput) + " tokens/s" : "nothing passes: " + reason,
               tables(cluster, layout, flow));
    return ExitCode::done;
  }
  Json result{{"tokens_per_s", tokens_per_s(throughput)},
              {"feasible", throughput > 0},
              {"reason", reason.empty() ? Json() : Json(reason)},
              {"nodes", Json::array()},
              {"links", Json::array()}};
  for (std::size_t n = 0; n < cluster.size(); ++n)
    if (!layout[n].empty())
      result["nodes"].push_back(
          {{"name", cluster.nodes[n].name},
           {"layers", {layout[n].first, layout[n].end}},
           {"tokens_per_s", tokens_per_s(flow.node[n])},
           {"capacity_tokens_per_s", tokens_per_s(cluster.nodes[n].speed[layout[n].size() - 1])}});
  for (const serving::LinkFlow& link : flow.links)
    result["links"].push_back({{"from", end_name(cluster, link.from, "source")},
                               {"to", end_name(cluster, link.to, "sink")},
                               {"tokens_per_s", tokens_per_s(link.flow)},
                               {"capacity_tokens_per_s", tokens_per_s(link.rate)}});
  print_json(result);
  return ExitCode::done;
}

ExitCode bound_throughput(const std::string& file, double seconds, bool json) {
  const Cluster cluster = serving::read_cluster_file(file);
  const serving::UpperBound bound = serving::upper_bound(cluster, 0, {.seconds = seconds, .stop = stop_requested});
  const std::string reason = bound.rate > 0 ? "" : serving::why_nothing(cluster);
  if (json)
    print_json({{"upper_bound_tokens_per_s", tokens_per_s(bound.rate)},
                {"method", bound.method},
                {"reason", reason.empty() ? Json() : Json(reason)}});
  else if (bound.rate > 0)
    fmt::print("no plan for {} passes more than {} tokens/s ({})\n", described(cluster), rate_text(bound.rate),
               bound.method);
  else
    fmt::print("no plan for {} passes anything: {}\n", described(cluster), reason);
  return bound.rate > 0 ? ExitCode::done : ExitCode::infeasible;
}

void inspect_cluster(const std::string& file, bool json) {
  const Cluster cluster = serving::read_cluster_file(file);
  std::size_t links = 0;
  for (std::size_t a = 0; a < cluster.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) links += cluster.between(a, b) > 0 ? 1 : 0;
  if (json)
    print_json({{"kind", "serving"},
                {"name", cluster.name},
                {"model", cluster.model},
                {"layers", cluster.layers},
                {"nodes", cluster.size()},
                {"links", links}});
  else
    fmt::print("cluster {}, {} links between nodes\n", described(cluster), links);
}

}  // namespace emplace::app
