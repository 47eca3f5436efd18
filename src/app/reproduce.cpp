// emplace reproduce TABLE [--quick]
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "dist/groups.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/tables/reproduction.hpp"
#include "report/table_text.hpp"

namespace emplace::app {

namespace reproduce_command {

struct Arguments {
  std::string table, folder, files;
  TimeLimitArgument time_limit;
  std::size_t ranks_per_cell = 1;
  std::int64_t seeds = 0;  // 0: as many as the table says
  bool quick = false;
  bool json = false;
};

constexpr const char* reproduce_help =
    "Every cell is a job of its own: a placer, or a training from one of the recipes in configs/recipes, on a seed. "
    "The\n"
    "table shows published numbers and ours side by side, medians over seeds with 95 % bootstrap intervals, the best\n"
    "placement of all placers within a budget, and a bound that no placement can beat. The same command continues "
    "where\n"
    "it was ended, seed by seed; under mpirun several cells are made at the same time, and one rank hands them out:\n\n"
    "  emplace reproduce hierarchical --quick\n"
    "  mpirun -np 64 emplace reproduce hierarchical       # again, until it is done\n\n"
    "The folder gets table.txt, table.csv, table.md and table.tex, machines/, runs/, and each placement under cells/:\n"
    "`emplace simulate` gives the same time, to the tick, on the problem that the file beside the placement names.";

Json to_json(const experiment::CellFigures& cell, const std::string& model, const std::string& row) {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  const auto& published = cell.published;
  return {{"row", row},
          {"model", model},
          {"method", cell.method},
          {"published_s", published ? number(published->seconds) : Json(nullptr)},
          {"published_status", published ? Json(experiment::status_of(*published)) : Json(nullptr)},
          {"ours_s", number(cell.ours)},
          {"low_s", number(cell.low)},
          {"high_s", number(cell.high)},
          {"status", name_of(cell.status)},
          {"calibrates", cell.calibrates},
          {"published_search_s", number(cell.published_search)},
          {"search_s", cell.seeds == 0 ? Json(nullptr) : Json(cell.seconds_spent / static_cast<double>(cell.seeds))}};
}

Json to_json(const experiment::Fidelity& fidelity) {
  Json correlations = Json::array();
  for (const auto& each : fidelity.rank_correlation) correlations.push_back(each ? Json(*each) : Json(nullptr));
  return {{"rank_correlation", correlations},
          {"orderings", fidelity.orderings},
          {"orderings_agree", fidelity.orderings_agree},
          {"orderings_agree_tuned", fidelity.tuned_agree ? Json(*fidelity.tuned_agree) : Json(nullptr)},
          {"oom", fidelity.oom},
          {"oom_agree", fidelity.oom_agree},
          {"median_relative_error", fidelity.relative_error ? Json(*fidelity.relative_error) : Json(nullptr)}};
}

Json to_json(const experiment::Reproduction& reproduction) {
  Json rows = Json::array();
  for (const experiment::RowFigures& row : reproduction.rows) {
    for (const experiment::CellFigures& cell : row.cells) rows.push_back(to_json(cell, row.model, row.label));
    rows.push_back(to_json(row.best, row.model, row.label));
    rows.push_back(to_json(row.bound, row.model, row.label));
  }
  return {{"table", reproduction.table.name},
          {"quick", reproduction.quick},
          {"rows", rows},
          {"fidelity", to_json(reproduction.fidelity)}};
}

void write_files(const experiment::Reproduction& reproduction, const std::string& folder) {
  write_file(folder + "/table.txt", report::table_text(reproduction));
  write_file(folder + "/table.csv", report::table_csv(reproduction));
  write_file(folder + "/table.md", report::table_markdown(reproduction));
  write_file(folder + "/table.tex", report::table_latex(reproduction));
}

// "out/", "./out" and "out" name the same folder, so all give the same text.
std::string plain_path(const std::string& path) {
  return path.empty() ? path
                      : experiment::without_trailing_slash(std::filesystem::path(path).lexically_normal().string());
}

ExitCode run(const Arguments& arguments, dist::World* world) {
  experiment::PublishedTable table = experiment::load_table(arguments.table);
  if (arguments.seeds > 0) table = table.with_at_most(arguments.seeds);
  if (world != nullptr && world->size() > 1 &&
      dist::group_sizes(static_cast<std::size_t>(world->size()), arguments.ranks_per_cell).groups == 0)
    throw InputError("--ranks-per-cell", "is {}, but one of the {} ranks only hands out cells: start at least {}",
                     arguments.ranks_per_cell, world->size(), arguments.ranks_per_cell + 1);
  const std::string folder =
      plain_path(!arguments.folder.empty() ? arguments.folder
                                           : fmt::format("runs/{}{}", table.name, arguments.quick ? "-quick" : ""));
  const experiment::Reproduction reproduction =
      experiment::reproduce(table, {.folder = folder,
                                    .files = plain_path(arguments.files),
                                    .quick = arguments.quick,
                                    .world = world,
                                    .ranks_per_cell = arguments.ranks_per_cell,
                                    .deadline = arguments.time_limit.deadline(),
                                    .show_progress = !arguments.json || log::on_terminal()});
  write_files(reproduction, folder);
  if (arguments.json)
    print_json(to_json(reproduction));
  else
    fmt::print("{}files in {}/: table.txt, table.csv, table.md, table.tex, cells, machines, runs\n",
               report::table_text(reproduction), folder);
  if (!reproduction.undone.empty())
    throw EnvironmentError("{}; the same command goes on from there", reproduction.undone);
  if (!reproduction.finished()) {
    log_info("stopped early with {} of {} jobs done; the same command goes on", reproduction.jobs_done,
             reproduction.jobs);
    return ExitCode::interrupted;
  }
  return ExitCode::done;
}

}  // namespace reproduce_command

Action add_reproduce(CommandLine& cli) {
  using namespace reproduce_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("table", arguments->table, "A published table (`emplace list tables`), or a TOML file")
      .type_name("TABLE")
      .required();
  cli.add_flag("--quick", arguments->quick, "Smaller budgets and fewer seeds: minutes on two cores");
  cli.add_option(
         "--seeds", arguments->seeds,
         "At most this many seeds in each cell (default: as many as the table says); cells made before are kept")
      .within(1, 1000);
  cli.add_option("-o,--output", arguments->folder, "The folder (default: runs/TABLE, or runs/TABLE-quick)")
      .type_name("FOLDER")
      .not_empty();
  cli.add_option("--files", arguments->files,
                 "The folder of a table that reads files: for `exact`, that of dnn-partitioning; for `hsdag-openvino`, "
                 "the one of scripts/hsdag-graphs")
      .type_name("FOLDER")
      .not_empty();
  cli.add_option("--ranks-per-cell", arguments->ranks_per_cell, "MPI ranks that make one cell (default 1)")
      .within(1, 1'000'000);
  arguments->time_limit.add(cli, "with checkpoints and exit code 75");
  cli.add_flag("--json", arguments->json, "Print the table as one JSON object");
  cli.footer(reproduce_help);
  return [arguments](dist::World* world) { return run(*arguments, world); };
}

}  // namespace emplace::app
