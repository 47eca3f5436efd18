// The user's own measurement: a program that reads a placement from standard input and prints the time of its step.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "emplace/formats/problem_json.hpp"
#include "evaluate/command/command_answer.hpp"
#include "evaluate/command/program_run.hpp"
#include "evaluate/evaluator_entries.hpp"
#include "problem/cuts.hpp"

namespace emplace::evaluate {

namespace {

constexpr const char* place = "command.run";

struct CommandOptions {
  std::vector<std::string> run;
  std::string folder;
  double seconds = 60;
  std::int64_t repeat = 3;
  std::int64_t warmup = 0;
  std::int64_t confirm = 0;
  std::int64_t retries = 1;
  bool keep = false;
};

void describe(CommandOptions& o, OptionVisitor& visit) {
  visit("run", o.run,
        {.help = "The program and its arguments. It gets a placement JSON on standard input, EMPLACE_RANK and "
                 "EMPLACE_PROBLEM in its environment, and prints a number of seconds or an object with \"seconds\"."});
  visit("folder", o.folder,
        {.help = "Folder in which the program runs and a relative path is looked up; by default the current one."});
  visit("seconds", o.seconds,
        {.min = 0,
         .max = 1e6,
         .above_min = true,
         .unit = "s",
         .help = "Time limit of one run, or with keep of one answer; then the program is killed."});
  visit("repeat", o.repeat,
        {.min = 1, .max = 1000, .help = "Timed runs per placement; the median of their times is its time."});
  visit("warmup", o.warmup,
        {.min = 0, .max = 1000, .help = "Warm-up runs per placement before the timed ones; their times are ignored."});
  visit(
      "confirm", o.confirm,
      {.min = 0,
       .max = 1000,
       .help = "How many more timed runs a placement gets that was faster than all others this rank has measured; the "
               "median of all its runs is its time, so that no lucky run stays the best."});
  visit("retries", o.retries,
        {.min = 0,
         .max = 1000,
         .help = "How many failed runs of a placement are repeated before it counts as infeasible."});
  visit(
      "keep", o.keep,
      {.help = "Whether the program keeps running: it gets a placement JSON on each line of standard input and answers "
               "each with a line. One is started for each problem and each rank that measures."});
}

CommandOptions read(const ConfigTable& table) {
  auto options = read_options<CommandOptions>(table);
  const std::string where = table.contains("run") ? table.place_of("run") : table.place();
  if (options.run.empty())
    throw InputError(where, "the evaluator 'command' needs command.run, a list of a program and its arguments");
  if (options.run.front().empty()) throw InputError(where, "command.run begins with an empty text, wanted a program");
  return options;
}

ConfigTable resolve(const ConfigTable& table) {
  CommandOptions options = read(table);
  options.folder =
      (options.folder.empty() ? std::filesystem::current_path() : std::filesystem::absolute(options.folder)).string();
  return echo_options(options);
}

class InputFile {
 public:
  explicit InputFile(const std::string& text) : fd_(input_file(text)) {}
  ~InputFile() { ::close(fd_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// The middle one of the sorted times, or the mean of the two in the middle.
Ticks median(std::vector<Ticks> times) {
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : times[half - 1] + (times[half] - times[half - 1]) / 2;
}

class CommandEvaluator final : public DirectEvaluator {
 public:
  CommandEvaluator(CommandOptions options, const EvaluatorSetup& setup)
      : options_(std::move(options)),
        problems_(setup.problems.begin(), setup.problems.end()),
        schedule_(setup.scoring.schedule) {
    if (!std::filesystem::is_directory(options_.folder))
      throw InputError("command.folder", "{} is not a folder", quote(options_.folder));
    program_.folder = options_.folder;
    program_.seconds = options_.seconds;
    program_.words = options_.run;
    program_.words.front() = find_program(options_.run.front(), options_.folder, place);
    program_.environment = environment_without_mpi();
    program_.environment.push_back(fmt::format("EMPLACE_RANK={}", setup.rank));
  }

  std::vector<Outcome> evaluate_now(std::span<const EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes;
    outcomes.reserve(jobs.size());
    for (const EvaluationJob& job : jobs) {
      EMPLACE_CHECK(job.problem < problems_.size() && job.placement != nullptr);
      if (job.starts != nullptr) job.starts->clear();
      std::string why;
      const Problem& problem = *problems_[job.problem];
      Outcome outcome;
      judge_cuts(problem, job.placement->device.data(), outcome);
      if (outcome.feasible()) outcome = measure(job.problem, *job.placement, why);
      outcomes.push_back(outcome);
      if (job.message != nullptr) *job.message = std::move(why);
    }
    return outcomes;
  }

 private:
  using Asked = std::function<CommandAnswer()>;

  // The runs of a placement.
  struct Runs {
    std::int64_t ignored = 0;  // warm-up runs that are still to be made
    std::int64_t failures = 0;
    std::vector<Ticks> times = {};
  };

  Outcome measure(std::uint32_t number, const Placement& placement, std::string& why) {
    const Asked asked = options_.keep ? asking_kept(number, placement) : starting(number, placement);
    Runs runs{.ignored = options_.warmup};
    if (!times(asked, options_.repeat, runs, why)) return infeasible();
    Ticks& fastest = fastest_.try_emplace(number, std::numeric_limits<Ticks>::max()).first->second;
    if (options_.confirm > 0 && median(runs.times) < fastest && !times(asked, options_.confirm, runs, why))
      return infeasible();
    Outcome outcome;
    outcome.makespan = median(std::move(runs.times));
    fastest = std::min(fastest, outcome.makespan);
    return outcome;
  }

  // Adds the times of this many more runs; false if they cannot be had, with the reason.
  bool times(const Asked& asked, std::int64_t more, Runs& runs, std::string& why) const {
    const auto wanted = runs.times.size() + static_cast<std::size_t>(more);
    while (runs.times.size() < wanted) {
      const CommandAnswer answer = asked();
      if (answer.infeasible) {
        why = answer.failure;
        return false;
      }
      if (!answer.failure.empty()) {
        if (++runs.failures <= options_.retries) continue;
        why = fmt::format("{}: {}", quote(program_.words.front()), answer.failure);
        return false;
      }
      if (runs.ignored > 0)
        --runs.ignored;
      else
        runs.times.push_back(ticks_of_seconds(answer.seconds));
    }
    return true;
  }

  // The program is started for each answer.
  [[nodiscard]] Asked starting(std::uint32_t number, const Placement& placement) const {
    const auto input = std::make_shared<const InputFile>(text_of(number, placement));
    return [program = program_for(number), input] { return answer_in(run_program(program, input->get())); };
  }

  // The program of the problem is asked, and started if it does not run.
  [[nodiscard]] Asked asking_kept(std::uint32_t number, const Placement& placement) {
    auto& kept = kept_[number];
    if (!kept) kept = std::make_unique<KeptProgram>(program_for(number));
    std::string line = text_of(number, placement);
    std::ranges::replace(line, '\n', ' ');
    return [&program = *kept, line = std::move(line)] {
      CommandAnswer answer = answer_in(program.ask(line));
      if (!answer.failure.empty() && !answer.reported) program.stop();  // what it prints next may be no answer either
      return answer;
    };
  }

  static CommandAnswer answer_in(const ProgramEnd& end) {
    return end.failure.empty() ? read_command_answer(end.output) : CommandAnswer{.failure = end.failure};
  }

  [[nodiscard]] std::string text_of(std::uint32_t number, const Placement& placement) const {
    return formats::write_placement_json(*problems_[number], placement, schedule_);
  }

  [[nodiscard]] ProgramToRun program_for(std::uint32_t number) const {
    ProgramToRun program = program_;
    program.environment.push_back("EMPLACE_PROBLEM=" + problems_[number]->name);
    return program;
  }

  static Outcome infeasible() {
    Outcome outcome;
    outcome.why = Infeasible::not_measured;
    return outcome;
  }

  const CommandOptions options_;
  const std::vector<const Problem*> problems_;
  const Schedule schedule_;
  ProgramToRun program_;
  std::map<std::uint32_t, std::unique_ptr<KeptProgram>> kept_;  // by the number of the problem
  std::map<std::uint32_t, Ticks> fastest_;  // of all placements measured, by the number of the problem
};

}  // namespace

EvaluatorEntry command_evaluator() {
  EvaluatorEntry entry;
  entry.name = "command";
  entry.summary = "A program of yours that measures a placement, several times, and prints how long a step took.";
  entry.measures = true;
  make_from_options<CommandEvaluator, CommandOptions>(entry, read);
  entry.resolve = resolve;
  return entry;
}

}  // namespace emplace::evaluate
