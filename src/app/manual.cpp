// emplace manual: the man page emplace(1), made from the same records as --help
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "app/command.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cost/lower.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/recipe/recipe.hpp"
#include "learn/learner.hpp"

namespace emplace::app {

namespace {

// Escapes the characters that troff would take as commands.
std::string plain(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '\'' && !begins)
      out += "\\(aq";
    else
      out += c;
    begins = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

void item(const std::string& head, const std::string& says) { fmt::print(".TP\n{}\n{}\n", head, plain(says)); }
// Prints text whose line breaks are kept.
void laid_out(std::string_view text) { fmt::print(".nf\n{}\n.fi\n", plain(text)); }

// The command with its positional arguments: [ARGUMENT] if it is optional, ARGUMENT ... if it can be repeated.
std::string usage(const CLI::App& command) {
  std::string text = bold("emplace " + command.get_name());
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string word = option->get_name(true), dots = option->get_items_expected_max() > 1 ? " ..." : "";
    text +=
        option->get_required() ? fmt::format(" {}{}", italic(word), dots) : fmt::format(" [{}{}]", italic(word), dots);
  }
  return text + fmt::format(" [{} ...]", italic("option"));
}

// Without that of the whole program, which is in the manual once.
std::string own_footer(const CLI::App& command) {
  std::string footer = command.get_footer();
  if (const std::string common = command.get_parent()->get_footer(); footer.ends_with(common))
    footer.resize(footer.size() - common.size());
  return footer.substr(0, footer.find_last_not_of('\n') + 1);
}

void describe_command(const CLI::App& command) {
  fmt::print(".SS {}\n{}\n.PP\n{}.\n", plain(command.get_name()), usage(command), plain(command.get_description()));
  for (const CLI::Option* option : command.get_options()) {
    std::string head;
    if (option->get_positional()) {
      head = italic(option->get_name(true));
    } else {
      for (const std::string& name : option->get_snames()) head += bold("-" + name) + ", ";
      for (const std::string& name : option->get_lnames()) head += bold("--" + name) + ", ";
      head.resize(head.size() - 2);
    }
    if (option->get_items_expected_max() > 0) head += " " + italic(value_type(*option));
    item(head, option->get_description());
  }
  const std::string footer = own_footer(command);
  // The keys of train's footer are in the section RECIPES, with those of the methods.
  if (footer.empty() || footer.starts_with(recipe_keys_title)) return;
  fmt::print(".PP\n");
  laid_out(footer);
}

void describe_keys(const std::string& prefix, const std::vector<OptionInfo>& options) {
  for (const OptionInfo& option : options) {
    std::string says = option.help;
    if (!option.choices.empty()) says += fmt::format(" One of {}.", join(option.choices, ", "));
    if (!option.default_value.empty() && option.default_value != "[]")
      says += fmt::format(" Default {}{}{}.", option.default_value, option.unit.empty() ? "" : " ", option.unit);
    item(bold(prefix + option.name) + "=" + italic(option.type), says);
  }
}

template <class Entry>
void describe_entries(const char* kind, std::span<const Entry> entries, bool prefixed) {
  for (const Entry& entry : entries) {
    fmt::print(".SS {}\n{}", plain(fmt::format("{} {}", kind, entry.name)), plain(entry.summary));
    fmt::print("{}\n", entry.reference.empty() ? "" : plain(fmt::format(" Source: {}.", entry.reference)));
    describe_keys(prefixed ? entry.name + "." : "", entry.options());
  }
}

constexpr const char* files[][2] = {
    {"RUN/config.toml", "The recipe with all values filled in; it can be trained again unchanged."},
    {"RUN/checkpoint.h5, RUN/checkpoint.previous.h5", "Parameters, optimiser, learner and history, in HDF5."},
    {"RUN/metrics.csv, RUN/tensorboard/", "One row for each update; columns of measured seconds begin with wall_."},
    {"RUN/best.placement.json", "The best placement found."},
    {"RUN/log.txt, RUN/status", "The messages of the run, and how it ended."},
};

constexpr const char* examples =
    "  emplace cost model.onnx k40x2 --batch 8 -o problem.json\n"
    "  emplace place best problem.json --seconds 5 -o best.json\n"
    "  mpirun -np 4 emplace train recipe.toml problem=problem.json run=runs/mine\n"
    "  emplace train --resume runs/mine evaluations=40000\n"
    "  emplace simulate problem.json runs/mine/best.placement.json --trace trace.json\n"
    "  emplace doctor";

void print_manual(const CLI::App& program) {
  fmt::print(".TH EMPLACE 1 \"\" \"emplace {}\" \"User Commands\"\n", version());
  fmt::print(".SH NAME\nemplace \\- learns on which device every operation of a neural network should run\n");
  fmt::print(".SH SYNOPSIS\n{} {} [{} ...]\n.br\n{} {} {} {} [{} ...]\n", bold("emplace"), italic("command"),
             italic("argument"), bold("mpirun -np"), italic("ranks"), bold("emplace"), italic("command"),
             italic("argument"));
  fmt::print(
      ".SH DESCRIPTION\n{}\n{}\n", plain(program.get_description()),
      plain("Under mpirun rank 0 holds the policy and learns, and the other ranks evaluate the placements that it "
            "samples on a simulator of the machine. The same build, recipe and seed give the same bits on any "
            "number of ranks."));
  fmt::print(".SH COMMANDS\n");
  for (const CLI::App* command : program.get_subcommands({})) describe_command(*command);
  fmt::print(
      ".SH RECIPES\n{}\n",
      plain("A recipe is a TOML file of these keys, with a table for each method that it names; on the command line "
            "they are key=value and METHOD.key=value."));
  describe_keys("", list_options<experiment::RecipeOptions>());
  fmt::print(".SS cost model\nHow a model and a machine become a problem.\n");
  describe_keys("roofline.", list_options<cost::RooflineOptions>());
  describe_entries("policy", policy::policies(), true);
  describe_entries("learner", learn::learners(), true);
  describe_entries("evaluator", evaluate::evaluators(), true);
  fmt::print(".SH PLACERS\n{}\n", plain("The methods of emplace place, with the key=value options of each."));
  describe_entries("placer", search::placers(), false);
  fmt::print(".SH EXIT STATUS\n");
  for (const ExitMeaning& meaning : exit_codes)
    item(bold(fmt::format("{}", static_cast<int>(meaning.code))), meaning.says);
  fmt::print(".SH FILES\n");
  for (const auto& [path, says] : files) item(italic(path), says);
  fmt::print(".SH EXAMPLES\n");
  laid_out(examples);
  fmt::print(".SH SEE ALSO\n.BR mpirun (1)\n");
}

}  // namespace

Action add_manual(CommandLine& cli) {
  cli.footer("emplace manual > emplace.1; man -l emplace.1");
  return [cli](dist::World*) {
    print_manual(cli.program());
    return ExitCode::done;
  };
}

}  // namespace emplace::app
