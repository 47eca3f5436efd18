// One subcommand: its name, its one-sentence summary, and the function that adds its arguments. main() adds them all.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.hpp"
#include "emplace/base/error.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/source/load_problem.hpp"
#include "problem/constraints.hpp"

namespace emplace::app {

// Runs on rank 0; `world` is null unless the program was started under mpirun.
using Action = std::function<ExitCode(dist::World* world)>;

struct Command {
  const char* name;
  const char* summary;
  // Adds arguments to `cli` and returns the function to run once they are parsed.
  Action (*add)(CommandLine& cli);
  // What the other ranks do until rank 0 releases them; it returns their exit code. Null: they do nothing.
  int (*work)(dist::World& world) = nullptr;
  // Whether rank 0 ends with what it has when it is asked to stop (base/interrupt.hpp), although no other rank works.
  bool stops_alone = false;
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

Action add_auto(CommandLine& cli);
Action add_train(CommandLine& cli);
Action add_sweep(CommandLine& cli);
Action add_place(CommandLine& cli);
Action add_fit(CommandLine& cli);
Action add_bound(CommandLine& cli);
Action add_simulate(CommandLine& cli);
Action add_cost(CommandLine& cli);
Action add_calibrate(CommandLine& cli);
Action add_machine(CommandLine& cli);
Action add_convert(CommandLine& cli);
Action add_export(CommandLine& cli);
Action add_explain(CommandLine& cli);
Action add_compare(CommandLine& cli);
Action add_inspect(CommandLine& cli);
Action add_reproduce(CommandLine& cli);
Action add_report(CommandLine& cli);
Action add_doctor(CommandLine& cli);
Action add_list(CommandLine& cli);
Action add_completion(CommandLine& cli);
Action add_manual(CommandLine& cli);

// The first words of the list of recipe keys in the help of `train`. The manual leaves this list out of `train`,
// because it has a section of recipes.
inline constexpr const char* recipe_keys_title = "Keys of a recipe";

// Help sentences of arguments that several commands have.
inline constexpr const char* problem_help =
    "Problem JSON, published workload (FILE#instance), or GRAPH@MACHINE with GRAPH a model file, also FILE?key=value, "
    "or zoo:NAME?key=value";
inline constexpr const char* placement_help = "Placement JSON, or an expert split of dnn-partitioning";

// Arguments that several commands share. They are shared_ptr members of the command's captured state.

// --batch, --shape, --training, --fuse, --optimizer, --allow-unsized: how a GRAPH becomes a Problem.
struct GraphArguments {
  std::optional<std::int64_t> batch;
  std::vector<std::string> shapes;
  bool training = false;
  bool fuse = false;
  std::string optimizer;
  bool allow_unsized = false;

  void add(CommandLine& cli, bool with_fuse = true);
  [[nodiscard]] source::SourceOptions options() const;
  [[nodiscard]] const char* given() const;  // name of the first of them that was given, or nullptr
  // Throws InputError if one of them was given: they are for models, and `file` is a `kind` ("problem").
  void refuse(const std::string& file, const char* kind) const;
};

// --pin, --forbid, --together, --max-cuts: what the user demands of a placement (problem/constraints.hpp).
struct ConstraintArguments {
  Constraints constraints;

  void add(CommandLine& cli);
  // Changes the problem so that its feasible placements are those that meet the demands.
  void apply(Problem& problem) const { constrain(problem, constraints, "command line"); }
};

// --schedule
struct ScheduleArgument {
  std::string name;

  void add(CommandLine& cli);
  [[nodiscard]] std::optional<Schedule> get() const;
};

// --time-limit
struct TimeLimitArgument {
  std::string text;

  // `end` completes the help sentence: how the command ends, for example "with checkpoints and exit code 75".
  void add(CommandLine& cli, const std::string& end);
  // The moment before which the command must end; none if no limit was given. InputError for text that is not a
  // duration.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const;
};

// Throws InputError if writing `output` (empty: standard output) would replace an input. `inputs` are arguments of the
// command: FILE, FILE#instance, GRAPH@MACHINE, or a run's folder, which stands for the files that a run keeps there.
void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs);

// Throws InputError if two of a command's outputs, each an option and its file, name one file; the later one is named
// first. Empty files do not count.
void refuse_equal_outputs(std::initializer_list<std::pair<const char*, std::string>> outputs);

// Writes `text` to `file`, or to standard output where `file` is empty.
void write_output(const std::string& file, const std::string& text);

// Loads a problem and logs its warnings. InputError if options of a graph are given for a source without a graph.
Problem load_problem_and_warn(const std::string& source, const GraphArguments& graph);
// The same, with all that the source holds besides the problem.
source::LoadedProblem load_all_and_warn(const std::string& source, const GraphArguments& graph);

// A placement and the schedule to simulate it under: the argument's, else the file's, else fifo. Logs a warning if the
// file names another problem; throws InputError if the schedule needs an order and the file has none.
struct ScheduledPlacement {
  Placement placement;
  Schedule schedule = Schedule::fifo;
};
ScheduledPlacement read_placement_and_warn(const std::string& file, const Problem& problem,
                                           const ScheduleArgument& schedule);

}  // namespace emplace::app
