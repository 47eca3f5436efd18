// One subcommand: its name, its sentence, and how it adds its arguments. main() walks the list.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/run/problem_source.hpp"

namespace emplace::app {

// Runs on rank 0; `world` is null unless the program was started under mpirun.
using Action = std::function<ExitCode(World* world)>;

struct Command {
  const char* name;
  const char* summary;
  // Adds arguments to `cli` and returns what to do once they are parsed.
  Action (*add)(CLI::App& cli);
  // What the other ranks do until rank 0 releases them; null: nothing. Returns their exit code.
  int (*work)(World& world) = nullptr;
};

std::span<const Command> commands();

struct ExitMeaning {
  ExitCode code;
  const char* says;
};
inline constexpr ExitMeaning exit_codes[] = {
    {ExitCode::done, "done"},
    {ExitCode::failure, "failure"},
    {ExitCode::bad_input, "bad input"},
    {ExitCode::infeasible, "nothing feasible found"},
    {ExitCode::interrupted, "stopped early on request (train: go on with --resume)"},
};

Action add_train(CLI::App& cli);
Action add_sweep(CLI::App& cli);
Action add_place(CLI::App& cli);
Action add_bound(CLI::App& cli);
Action add_simulate(CLI::App& cli);
Action add_cost(CLI::App& cli);
Action add_calibrate(CLI::App& cli);
Action add_convert(CLI::App& cli);
Action add_export(CLI::App& cli);
Action add_explain(CLI::App& cli);
Action add_compare(CLI::App& cli);
Action add_inspect(CLI::App& cli);
Action add_reproduce(CLI::App& cli);
Action add_report(CLI::App& cli);
Action add_doctor(CLI::App& cli);
Action add_list(CLI::App& cli);
Action add_completion(CLI::App& cli);
Action add_manual(CLI::App& cli);

// How the list of a recipe's keys begins in the help of `train`; the manual has it elsewhere.
inline constexpr const char* recipe_keys_title = "Keys of a recipe";

// What several commands say of the same argument.
inline constexpr const char* problem_help =
    "Problem JSON, published workload (FILE#instance), or GRAPH@MACHINE with GRAPH a model file or zoo:NAME?key=value";
inline constexpr const char* placement_help = "Placement JSON, or an expert split of dnn-partitioning";

// Arguments that several commands share. They are shared_ptr members of the command's captured state.

// --batch, --shape, --training, --fuse: how a GRAPH becomes a Problem.
struct GraphArguments {
  std::optional<std::int64_t> batch;
  std::vector<std::string> shapes;
  bool training = false;
  bool fuse = false;
  std::string optimizer;

  void add(CLI::App& cli, bool with_fuse = true);
  [[nodiscard]] SourceOptions options() const;
  [[nodiscard]] const char* given() const;  // the first one given, nullptr if none was
  // InputError if one was given: `file` is a `kind` ("problem"), and they are for models.
  void refuse(const std::string& file, const char* kind) const;
};

// --schedule
struct ScheduleArgument {
  std::string name;

  void add(CLI::App& cli);
  [[nodiscard]] std::optional<Schedule> get() const;
};

// --time-limit
struct TimeLimitArgument {
  std::string text;

  // `end`: how the command ends, as "with checkpoints and exit code 75".
  void add(CLI::App& cli, const std::string& end);
  // The moment before which to end; none where it is not given. InputError.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const;
};

// For options that are numbers, 0 or 1 the least: CLI11's own message has the largest double in 309 digits.
CLI::Validator at_least(std::int64_t least);

// For options that name a file: what is wrong with the text, "" if nothing.
std::string not_empty(const std::string& text);

// InputError where `output` (empty: standard output) is one of the files that these arguments name, which would be
// lost: FILE, FILE#instance, GRAPH@MACHINE, or a run's folder, for what a run keeps there.
void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs);

// Writes `text` to `file`, or to standard output where `file` is empty.
void write_output(const std::string& file, const std::string& text);

// A problem with its warnings said on standard error. InputError for options of a graph where there is none.
Problem load_problem_and_warn(const std::string& source, const GraphArguments& graph);
// The same with what else is known of it.
LoadedProblem load_all_and_warn(const std::string& source, const GraphArguments& graph);

// A placement and the schedule to simulate it under: the argument's, else the file's, else fifo. Warns of another
// problem's name; InputError where the schedule needs an order and the file has none.
struct ScheduledPlacement {
  Placement placement;
  Schedule schedule = Schedule::fifo;
};
ScheduledPlacement read_placement_and_warn(const std::string& file, const Problem& problem,
                                           const ScheduleArgument& schedule);

}  // namespace emplace::app
