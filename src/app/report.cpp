// emplace report FOLDER...
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/given_placement.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/placing_backend.hpp"
#include "experiment/run/run_folder.hpp"
#include "report/placement_page.hpp"
#include "report/run_page.hpp"
#include "report/sweep_head.hpp"
#include "report/sweep_page.hpp"

namespace emplace::app {

namespace report_command {

struct Arguments {
  std::vector<std::string> folders;
  std::string output;
  double seconds = 4;
  GraphArguments graph;
  bool json = false;
};

constexpr const char* report_help =
    "A page begins with the step time beside those of one device and of other placers and the lower bound, and with\n"
    "what limits the step. A run's page then has its learning curves, the single moves that would help most, the step "
    "of\n"
    "its best placement device by device with the critical path, memory over time, the graph by modules, and the "
    "results\n"
    "of other placers beside what the training had after as many evaluations and as much time; the page of several "
    "runs\n"
    "draws their curves in one chart. A sweep's page shows its trials in parallel coordinates, what each parameter\n"
    "explains, how the best was found, the trials' learning curves and a table of all. A page is one file that needs "
    "no\n"
    "network; it can be made again while the training still runs:\n\n"
    "  emplace sweep configs/sweeps/post-learners.toml run=runs/sweep\n"
    "  emplace report runs/sweep                                    # writes runs/sweep/report.html\n"
    "  emplace report runs/one                                      # writes runs/one/report.html\n"
    "  emplace report runs/one runs/another --output both.html      # of two trainings\n"
    "  emplace report model.onnx@k40x2 found.json                   # of a placement: writes found.html";

enum class Kind { sweep, run };

// `report PROBLEM PLACEMENT` instead of folders. InputError for a problem without one placement.
bool is_placement(const std::vector<std::string>& given) {
  std::error_code none;
  const std::string& first = given.front();
  if (std::filesystem::is_directory(first, none)) return false;
  // The folder of a run may have an @ in its name too.
  const bool is_graph = source::is_graph_at_machine(first) &&
                        (first.starts_with("zoo:") || file_exists(first.substr(0, first.rfind('@'))));
  if (is_graph && given.size() != 2)
    throw InputError("command line", "{} is a problem: wanted one placement after it, found {}", quote(first),
                     given.size() - 1);
  return is_graph || (given.size() == 2 && source::is_problem_file(first));
}

// The folder's name in a form to which text can be appended (a command on the page uses FOLDER-again): without a slash
// at its end, and not "." or "..".
std::string folder_name(const std::string& given) {
  const std::string name = experiment::without_trailing_slash(given);
  const std::filesystem::path last = std::filesystem::path(name).filename();
  if (last != "." && last != "..") return name;
  std::error_code error;
  const std::filesystem::path full = std::filesystem::canonical(name, error);
  return error ? name : full.string();  // kind_of throws the reason
}

Kind kind_of(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw InputError(folder, "{}",
                     error ? why_unreadable(folder, error.value())
                           : "is a file, wanted the folder of a sweep or of a run, or a PROBLEM and its PLACEMENT");
  if (experiment::is_sweep_folder(folder)) return Kind::sweep;
  if (report::is_run_folder(folder)) return Kind::run;
  throw InputError(folder, "is the folder of neither a sweep nor a run: it has no config.toml of one");
}

void refuse_repeated(const std::vector<std::string>& folders) {
  std::error_code error;
  for (std::size_t i = 0; i < folders.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (std::filesystem::equivalent(folders[k], folders[i], error))
        throw InputError(folders[i], "is named twice; name each run once{}",
                         folders[i] == folders[k] ? "" : ", first as " + quote(folders[k]));
}

// Throws InputError if the page would replace one of its inputs: a problem's file, or any file in the folders except an
// earlier page.
void refuse_to_replace(const std::string& output, const std::vector<std::string>& folders) {
  std::error_code none;  // set if there is no such file
  const std::filesystem::path replaced = std::filesystem::canonical(output, none);
  if (none) return;
  for (const std::string& folder : folders) {
    const std::filesystem::path inside = replaced.lexically_relative(std::filesystem::canonical(folder, none));
    const bool is_inside = !inside.empty() && *inside.begin() != "..";
    bool is_its_own = is_inside && std::filesystem::is_regular_file(replaced, none);
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))  // also links to files elsewhere
      is_its_own = is_its_own || (entry.is_regular_file(none) && std::filesystem::equivalent(entry, replaced, none));
    if (is_its_own && replaced.extension() != ".html")
      throw InputError(output, "is a file of {}, and would be lost", folder);
    std::vector<std::string> problems;
    try {
      problems = experiment::make_recipe(experiment::RunFolder::config_of(folder)).sources();
    } catch (const InputError&) {  // a sweep has no recipe; the page reports other errors
    }
    refuse_overwriting(output, problems);
  }
}

void print_done(const std::string& file, const Json& drawn, const std::string& sentence, bool json) {
  if (json) {
    Json object = {{"report", file}};
    object.update(drawn);
    print_json(object);
  } else {
    fmt::print("{}: {}\n", file, sentence);
  }
}

void report_sweep(const std::string& folder, const std::string& file, double seconds, bool json) {
  const experiment::SweepFolder sweep = experiment::read_sweep_folder(folder);
  const report::SweepPage page = report::sweep_page(sweep, {}, report::head_of_sweep(sweep, seconds));
  write_file(file, page.html);
  print_done(file,
             {{"kind", "sweep"},
              {"folder", folder},
              {"trials", page.trials},
              {"trials_total", page.trials_total},
              {"curves", page.curves},
              {"curves_total", page.curves_total}},
             fmt::format("{} of {} trials, {} of {} learning curves", page.trials, page.trials_total, page.curves,
                         page.curves_total),
             json);
}

void report_runs(const std::vector<std::string>& folders, const std::string& file, double seconds, bool json) {
  const report::RunPage page = report::run_page(folders, {.bound_seconds = seconds});
  write_file(file, page.html);
  print_done(file, {{"kind", "run"}, {"folders", folders}, {"points", page.points}, {"placements", page.placements}},
             fmt::format("learning curves of {} run{}, {} placement{}", folders.size(), folders.size() == 1 ? "" : "s",
                         page.placements, page.placements == 1 ? "" : "s"),
             json);
}

// Proves the bound, and compares with one device, the expert and the quick placers.
ExitCode report_placement(const Arguments& arguments) {
  const std::string &problem_source = arguments.folders.front(), &placement_file = arguments.folders.back();
  const std::string file = arguments.output.empty()
                               ? (std::filesystem::path(placement_file).replace_extension(".html")).string()
                               : arguments.output;
  refuse_overwriting(file, arguments.folders);
  const auto loaded = std::make_shared<const source::LoadedProblem>(load_all_and_warn(problem_source, arguments.graph));
  const Problem& problem = loaded->problem;
  const ScheduledPlacement read = read_placement_and_warn(placement_file, problem, {});
  const evaluate::Scoring scoring{read.schedule, Objective::step};
  const experiment::PlacingBackend backend = experiment::make_placing_backend(nullptr, problem, scoring);
  verdict::References references =
      verdict::find_references(experiment::request_for(*loaded, scoring, backend), {.predicted = 2});
  const search::BoundReport bounds = search::lower_bounds(problem, scoring.objective, arguments.seconds);
  if (!bounds.infeasible && bounds.best().ticks > references.bound.ticks) references.bound = bounds.best();
  references.is_quick_bound = false;
  const evaluate::EvaluationJob job{0, &read.placement};
  verdict::Subject subject = subject_of({.source = problem_source,
                                         .file = placement_file,
                                         .options = arguments.graph.options(),
                                         .problem = &problem,
                                         .placement = &read.placement,
                                         .scoring = scoring,
                                         .outcome = backend.evaluator->evaluate(std::span(&job, 1)).front(),
                                         .has_page = true});
  if (bounds.infeasible) subject.why_nothing = *bounds.infeasible;
  const verdict::Verdict verdict = verdict::judge(scoring.objective, subject, references);
  write_file(file, report::placement_page({.source = problem_source,
                                           .method = placement_file,
                                           .file = placement_file,
                                           .loaded = loaded,
                                           .placement = read.placement,
                                           .scoring = scoring,
                                           .bound = references.bound},
                                          verdict));
  print_done(file,
             {{"kind", "placement"},
              {"folders", arguments.folders},
              {"placements", 1},
              {"verdict", verdict.sentences},
              {"next", verdict.next.empty() ? Json(nullptr) : Json(verdict.next)}},
             "1 placement", arguments.json);
  if (!arguments.json) fmt::print("\n{}", verdict::text_of(verdict));
  return ExitCode::done;
}

ExitCode run_report(const Arguments& arguments) {
  if (!(arguments.seconds > 0 && std::isfinite(arguments.seconds)))
    throw InputError("--seconds", "a budget must be above zero and finite, found {}", arguments.seconds);
  if (is_placement(arguments.folders)) return report_placement(arguments);
  if (const char* option = arguments.graph.given())
    throw InputError(option, "is for a PROBLEM with its PLACEMENT; a run knows how its problem was made");
  std::vector<std::string> folders;
  for (const std::string& given : arguments.folders) folders.push_back(folder_name(given));
  if (folders.size() > report::most_runs_on_a_page)
    throw InputError("command line", "{} folders, wanted at most {} on a page", folders.size(),
                     report::most_runs_on_a_page);
  refuse_repeated(folders);
  bool sweep = false;
  for (const std::string& folder : folders) sweep = kind_of(folder) == Kind::sweep || sweep;
  if (sweep && folders.size() > 1)
    throw InputError("command line", "a sweep has a page of its own: name it alone, found {} folders", folders.size());
  const std::string file = arguments.output.empty() ? folders.front() + "/report.html" : arguments.output;
  refuse_to_replace(file, folders);
  if (sweep)
    report_sweep(folders.front(), file, arguments.seconds, arguments.json);
  else
    report_runs(folders, file, arguments.seconds, arguments.json);
  return ExitCode::done;
}

}  // namespace report_command

Action add_report(CommandLine& cli) {
  using namespace report_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("folders", arguments->folders,
                 "Folder of a sweep, folders of one or more runs, or a PROBLEM and its PLACEMENT")
      .type_name("RUN")
      .required();
  cli.add_option("-o,--output", arguments->output,
                 "File to write (default: report.html in the first folder, or the placement's name with .html)")
      .type_name("FILE")
      .not_empty();
  cli.add_option("--seconds", arguments->seconds,
                 "Budget: seconds to prove the lower bound (default 4); a run's folder keeps what was proved");
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the file's name and what was drawn as one JSON object");
  cli.footer(report_help);
  return [arguments](dist::World*) { return run_report(*arguments); };
}

}  // namespace emplace::app
