// Parses the command line, runs one subcommand on rank 0, and turns errors into exit codes and one sentence.
#include "emplace/app/program.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <vector>

#include "app/command.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "experiment/learned/learned_placer.hpp"
#include "experiment/recipe/recipe.hpp"
#include "fit/layer_placers.hpp"
#include "search/common/budget_clock.hpp"
#include "serving/stage_evaluator.hpp"

namespace emplace::app {

namespace {

int code(ExitCode exit) { return static_cast<int>(exit); }

void say_error(const std::string& message) {
  std::fflush(stdout);
  log::write(log::Level::error, message);
}

// Prints the message of the exception being handled and returns its exit code.
ExitCode explain_exception() {
  try {
    throw;
  } catch (const InputError& error) {
    say_error(error.what());
    return ExitCode::bad_input;
  } catch (const std::bad_alloc&) {
    say_error("out of memory");
    return ExitCode::failure;
  } catch (const std::exception& error) {
    say_error(error.what());
    return ExitCode::failure;
  } catch (...) {
    say_error("unknown exception");
    return ExitCode::failure;
  }
}

std::atomic<std::int64_t> first_interrupt{0};  // in ms of the monotonic clock; 0: none yet

// A second Ctrl-C ends the program at once. The terminal sends SIGINT to all processes of the job, and a launcher may
// forward it as well, so one Ctrl-C can arrive twice: all that arrive within one second count as one.
void stop_handler(int signal) {
  if (!has_work_to_save()) {
    constexpr std::string_view says = "\nstopped early on request, before there was anything to save\n";
    static_cast<void>(!::write(STDERR_FILENO, says.data(), says.size()));
    ::_exit(code(ExitCode::interrupted));
  }
  request_stop();
  if (signal != SIGINT) return;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // async-signal-safe, unlike <chrono>
  const std::int64_t milliseconds = 1 + std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  std::int64_t first = 0;
  if (first_interrupt.compare_exchange_strong(first, milliseconds) || milliseconds - first < 1000) return;
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

// On SIGUSR1 (forwarded by mpirun), SIGTERM and SIGINT, rank 0 writes its results so far and ends with code 75. The
// other ranks ignore these signals: they end when rank 0 releases them.
void catch_signals(bool master) {
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) std::signal(signal, master ? stop_handler : SIG_IGN);
}

bool is_command(std::string_view name) {
  return std::any_of(commands().begin(), commands().end(),
                     [&](const Command& command) { return command.name == name; });
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

std::string unknown_command(std::string_view name) {
  const std::vector<std::string> names = command_names();
  const std::string near = did_you_mean(name, names);
  return fmt::format("unknown command {}{}", quote(name), near.empty() ? "; there are: " + join(names, ", ") : near);
}

std::string exit_code_text() {
  std::vector<std::string> codes;
  for (const ExitMeaning& meaning : exit_codes) codes.push_back(fmt::format("{} {}", code(meaning.code), meaning.says));
  return join(codes, ", ");
}

// " (did you mean ...)" for a word that starts with -- and is a key of recipes, which `train` takes without the dashes;
// "" for others.
std::string near_recipe_key(std::string key) {
  key.erase(0, 2);
  std::ranges::replace(key, '-', '_');
  for (const OptionInfo& option : list_options<experiment::RecipeOptions>())
    if (option.name == key) return fmt::format(" (did you mean {}=VALUE, a key of the recipe?)", key);
  return "";
}

// A suggestion " (did you mean ...)" for the first argument that starts with -- and is not an option; "" if there is
// none.
std::string near_option(const CLI::App& cli, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* sub : cli.get_subcommands())
    for (const CLI::Option* option : sub->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!word.starts_with("--") || std::ranges::find(names, word) != names.end()) continue;
    const std::string near_key = argv[1] == std::string_view("train") ? near_recipe_key(word) : "";
    return near_key.empty() ? did_you_mean(word, names) : near_key;
  }
  return "";
}

// What the parser of the command line found, in the words of all other messages.
std::string parse_error_text(const CLI::App& cli, const CLI::ParseError& error) {
  constexpr std::string_view unconverted = "Could not convert: ", between = " = ";
  const std::string text = error.what();
  const std::size_t at = text.find(between);
  if (!text.starts_with(unconverted) || at == std::string::npos) return text;
  const std::string name = text.substr(unconverted.size(), at - unconverted.size());
  const bool is_flag = std::ranges::any_of(cli.get_subcommands(), [&](const CLI::App* command) {
    const CLI::Option* const option = command->get_option_no_throw(name);
    return option != nullptr && option->get_expected_max() == 0;
  });
  return fmt::format("{}: {}, found {}", name, is_flag ? "takes no value" : "wanted a number",
                     quote(text.substr(at + between.size())));
}

// `emplace MODEL MACHINE` is `emplace auto MODEL MACHINE`: the first argument is no command, but a model or a problem.
bool is_source(std::string_view word) {
  std::error_code none;
  return word.starts_with("zoo:") || std::filesystem::is_regular_file(word, none);
}

int run(int argc, char** argv, dist::World* world) {
  std::vector<char*> words(argv, argv + argc);
  static char auto_command[] = "auto";
  if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1]) && is_source(argv[1])) {
    words.insert(words.begin() + 1, auto_command);
    argv = words.data();
    ++argc;
  }
  const bool master = world == nullptr || world->is_master();
  CLI::App cli("emplace learns on which device every operation of a neural network should run.", "emplace");
  cli.require_subcommand(1);
  cli.set_version_flag("--version", version());
  cli.footer("Exit codes: " + exit_code_text() +
             ".\n`emplace COMMAND --help` explains a command, `man emplace` all of them; `emplace list` lists "
             "all names: placers, policies, machines, ...");
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : commands()) {
    CLI::App* sub = cli.add_subcommand(command.name, command.summary);
    CommandLine arguments(*sub);
    actions.emplace_back(sub, command.add(arguments));
  }

  try {
    if (argc == 1)
      throw InputError(
          fmt::format("a command is missing; there are: {} (see `emplace --help`)", join(command_names(), ", ")));
    if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1])) throw InputError(unknown_command(argv[1]));
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (!master) return 0;
    if (error.get_exit_code() == 0) return cli.exit(error);  // --help, --version
    const std::string near = near_option(cli, argc, argv);
    const std::string command = argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : "";
    say_error(parse_error_text(cli, error) + (near.empty() ? fmt::format(" (see `emplace {}--help`)", command) : near));
    return code(ExitCode::bad_input);
  } catch (const InputError& error) {
    if (!master) return 0;
    say_error(error.what());
    return code(ExitCode::bad_input);
  }

  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (!actions[i].first->parsed()) continue;
    const Command& command = commands()[i];
    if (command.work != nullptr || command.stops_alone) catch_signals(master);
    if (!master) return command.work != nullptr ? command.work(*world) : 0;
    try {
      search::check_clock(world == nullptr ? 1 : world->size());  // before the command says anything
      return code(actions[i].second(world));
    } catch (...) {
      return code(explain_exception());
    }
  }
  return code(ExitCode::bad_input);
}

}  // namespace

int run_program(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` then fails with an error, like any other failed write
  experiment::register_learned_placer();
  fit::register_layer_placers();
  serving::register_stage_evaluator();
  try {
    std::optional<dist::World> world;
    if (dist::started_by_mpi()) world.emplace(argc, argv);
    log::configure(log::Level::info, world && !world->is_master());
    return run(argc, argv, world ? &*world : nullptr);
  } catch (...) {
    return static_cast<int>(explain_exception());
  }
}

}  // namespace emplace::app
