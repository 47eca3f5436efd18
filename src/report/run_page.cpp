#include "emplace/report/run_page.hpp"

#include <array>

#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "emplace/report/page.hpp"
#include "emplace/run/metrics.hpp"
#include "emplace/run/run_folder.hpp"
#include "emplace/run/version.hpp"
#include "page_json.hpp"

namespace emplace {

namespace {

constexpr std::array<std::string_view, 2> scripts = {"curves.js", "run.js"};

std::string measure_of(const ConfigTable& config) {
  return config.text("objective", "step") == "pipeline" ? "load" : "step time";
}

Json run_json(const std::string& path, const Metrics& metrics) {
  const ConfigTable config = RunFolder::config_of(path);
  const bool live = RunFolder::in_use(path);
  const std::string status = RunFolder::status_now(path, live);
  Json columns = Json::object();
  for (const MetricsColumn& column : metrics.columns)
    columns[page_text(column.name, 100)] = page_numbers(column.values);
  return {{"name", page_text(name_of_folder(path), 200)},
          {"folder", page_text(path, 1000)},
          {"status", status},
          {"settings", settings(config, recipe_summary_keys())},
          {"measure", measure_of(config)},
          {"updates", metrics.updates},
          {"updates_per_point", metrics.updates_per_point},
          {"command", status == "finished" ? Json()
                                           : command(live ? "Go on after it was stopped" : "Go on where it stopped",
                                                     {"emplace", "train", "--resume", path})},
          {"columns", std::move(columns)}};
}

}  // namespace

bool is_run_folder(const std::string& path) {
  if (!file_exists(path + "/config.toml")) return false;
  const ConfigTable config = RunFolder::config_of(path);
  return !config.contains("space") &&
         (config.contains("problem") || config.contains("graph") || config.contains("problems"));
}

RunPage run_page(std::span<const std::string> folders, std::size_t most_points) {
  EMPLACE_CHECK(!folders.empty() && folders.size() <= most_runs_on_a_page);
  RunPage page;
  Json runs = Json::array();
  for (const std::string& folder : folders) {
    const Metrics metrics = read_metrics(folder + "/metrics.csv", most_points);
    page.points += metrics.points();
    runs.push_back(run_json(folder, metrics));
    if (const Json& first = runs.front()["measure"]; runs.back()["measure"] != first)
      throw InputError(folder, "its trainings are measured by {}, those of {} by {}: two pages, please",
                       runs.back()["measure"].get<std::string>(), folders.front(), first.get<std::string>());
  }
  const std::string name =
      folders.size() == 1 ? name_of_folder(folders.front()) : fmt::format("{} runs", folders.size());
  const Json data = {
      {"kind", "run"}, {"name", page_text(name, 200)}, {"program", "emplace " + version()}, {"runs", std::move(runs)}};
  page.html = to_html({.title = name + " · emplace run", .data = page_data(data), .scripts = scripts});
  return page;
}

}  // namespace emplace
