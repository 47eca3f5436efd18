#include "emplace/source/load_problem.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/query.hpp"
#include "base/text.hpp"
#include "cost/lower.hpp"
#include "cost/unsized.hpp"
#include "emplace/base/error.hpp"
#include "formats/workload/workload.hpp"
#include "source/expert.hpp"
#include "zoo/zoo.hpp"

namespace emplace::source {

namespace {

constexpr std::string_view zoo_prefix = "zoo:";

bool is_zoo(std::string_view source) { return source.starts_with(zoo_prefix); }

// "FILE?constants=placed": the file of a model and what is wanted of it; nothing if there is no such model.
std::optional<NamedQuery> model_with_options(const std::string& source) {
  const std::size_t question = source.rfind('?');
  if (is_zoo(source) || question == std::string::npos || file_exists(source)) return std::nullopt;
  const std::string file = source.substr(0, question);
  if (!file_exists(file) || formats::reader_of(file) == nullptr) return std::nullopt;
  NamedQuery query = parse_query(source.substr(question), source);
  query.name = file;
  return query;
}

// GRAPH and MACHINE of "GRAPH@MACHINE"; nothing if the source is a file or has no '@' with text before it.
std::optional<std::pair<std::string, std::string>> split_at_machine(const std::string& source) {
  const std::size_t at = source.rfind('@');
  if (at == std::string::npos || at == 0 || (!is_zoo(source) && file_exists(source))) return std::nullopt;
  return std::pair(source.substr(0, at), source.substr(at + 1));
}

// The address if the source is FILE or FILE#instance?processors=4 and FILE exists.
std::optional<formats::ProblemAddress> file_address(const std::string& source) {
  return is_zoo(source) || model_with_options(source) ? std::nullopt : formats::parse_problem_address(source);
}

Graph read_with_options(const NamedQuery& model, formats::ReadOptions options) {
  if (!formats::reader_of(model.name)->options().empty()) {
    options.query = model.options;
    return formats::read_graph(model.name, options);
  }
  Graph graph = formats::read_graph(model.name, options);
  const std::string constants = model.options.text("constants", "folded");
  if (constants != "folded" && constants != "placed")
    throw InputError(model.options.place(), "constants is {}, wanted folded or placed", quote(constants));
  graph.places_constants = constants == "placed";
  model.options.refuse_unread();
  return graph;
}

// For "nmt?layers=2" without the prefix, unless there is a file of that name.
void refuse_forgotten_prefix(const std::string& source) {
  const std::string name = source.substr(0, source.find('?'));
  if (!file_exists(source) && std::ranges::any_of(zoo::zoo(), [&](const auto& entry) { return entry.name == name; }))
    throw InputError(source, "there is no such file; the zoo's model is {}{}", zoo_prefix, source);
}

}  // namespace

Graph load_graph(const std::string& source, const formats::ReadOptions& options) {
  if (const auto model = model_with_options(source)) return read_with_options(*model, options);
  if (!is_zoo(source)) {
    refuse_forgotten_prefix(source);
    return formats::read_graph(source, options);
  }
  if (options.batch || !options.shapes.empty())
    throw InputError(source, "batch and shape are for model files; a zoo model takes ?batch=... among its own options");
  return zoo::build_zoo_model(std::string_view(source).substr(zoo_prefix.size()), source);
}

std::string file_of_model(const std::string& source) {
  const auto model = model_with_options(source);
  return model ? model->name : source;
}

bool is_problem_file(const std::string& source) { return file_address(source).has_value(); }

bool is_graph_at_machine(const std::string& source) {
  return !is_problem_file(source) && split_at_machine(source).has_value();
}

namespace {

LoadedProblem problem_of_file(const formats::ProblemAddress& address) {
  LoadedProblem loaded;
  loaded.problem = formats::read_problem_file(address, &loaded.lacks);
  loaded.warnings = cost::unsized_caveat(loaded.problem, address.file);
  return loaded;
}

}  // namespace

void add_expert(const std::string& graph, cost::Lowered& lowered) {
  if (is_zoo(graph))
    lowered.problem.expert =
        expert_devices(std::string_view(graph).substr(zoo_prefix.size()), lowered.graph, lowered.problem);
}

namespace {

LoadedProblem problem_of(cost::Lowered lowered) { return {std::move(lowered.problem), cost::cost_warnings(lowered)}; }

}  // namespace

LoadedProblem make_problem(const Graph& graph, const machine::Machine& machine, const cost::RooflineOptions& options,
                           const std::string& name) {
  cost::Lowered lowered = cost::lower(graph, machine, options, name);
  cost::refuse_unsized(lowered, options, name);
  return problem_of(std::move(lowered));
}

LoadedProblem load_problem(const std::string& graph, const std::string& machine, const SourceOptions& options) {
  const machine::Machine loaded_machine = machine::load_machine(machine);
  Graph loaded_graph = load_graph(graph, options.read);
  cost::Lowered lowered =
      cost::lower(std::move(loaded_graph), loaded_machine, options.roofline, graph + "@" + loaded_machine.name);
  cost::refuse_unsized(lowered, options.roofline, graph, options.of_recipe);
  add_expert(graph, lowered);
  return problem_of(std::move(lowered));
}

LoadedProblem load_problem(const std::string& source, const SourceOptions& options) {
  if (const auto address = file_address(source)) {
    if (options.read.batch || !options.read.shapes.empty() || options.roofline != cost::RooflineOptions())
      throw InputError(source, "holds a problem; batch, shape and [roofline] are for models (GRAPH@MACHINE)");
    try {
      return problem_of_file(*address);
    } catch (const InputError&) {
      if (formats::reader_of(address->file) == nullptr) throw;
      throw InputError(source, "is a model; a problem also needs a machine: {}@MACHINE (see `emplace list machines`)",
                       source);
    }
  }
  if (const auto parts = split_at_machine(source)) return load_problem(parts->first, parts->second, options);
  if (is_zoo(source))
    throw InputError(source, "a zoo model needs a machine: {}@MACHINE (see `emplace list machines`)", source);
  return problem_of_file({source, {}});  // throws the error that there is no such file
}

std::string short_name(const std::string& source) {
  std::string name = source.substr(0, source.find('?'));
  if (const auto at = name.rfind('@'); at != std::string::npos) name = name.substr(0, at);
  return is_zoo(name) ? name.substr(name.find(':') + 1) : std::filesystem::path(name).stem().string();
}

std::string absolute_source(const std::string& source) {
  if (const auto address = file_address(source))
    return absolute_path(address->file) + source.substr(address->file.size());
  if (const auto parts = split_at_machine(source))
    return absolute_source(parts->first) + "@" + absolute_path(parts->second);
  return is_zoo(source) ? source : absolute_path(source);
}

}  // namespace emplace::source
