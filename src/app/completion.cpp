// emplace completion bash|zsh|fish [-- WORD ...]
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "command.hpp"
#include "complete.hpp"
#include "emplace/base/text.hpp"
#include "shell/texts.hpp"

namespace emplace::app {

namespace {

constexpr const char* completion_help =
    "`cmake --install` and the Debian package put it where the shells look. Without them:\n\n"
    "  source <(emplace completion bash)                              # in ~/.bashrc\n"
    "  source <(emplace completion zsh)                               # in ~/.zshrc, after compinit\n"
    "  emplace completion fish > ~/.config/fish/completions/emplace.fish\n\n"
    "Behind -- stand the words of a command line so far, the last one as far as it is typed: what may stand there is\n"
    "printed, a word and its sentence a line, and `:files` where a file may.";

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

}  // namespace

Action add_completion(CLI::App& cli) {
  struct Arguments {
    std::string shell;
    std::vector<std::string> words;
  };
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("shell", arguments->shell, "The shell that is to load it")->type_name("bash|zsh|fish")->required();
  cli.add_option("words", arguments->words, "A command line to complete, for the shells");
  cli.footer(completion_help);
  return [arguments, &cli](World*) {
    const auto texts = shell_texts();
    const auto text = std::ranges::find(texts, "emplace." + arguments->shell, &ShellText::name);
    if (text == texts.end())
      throw InputError("completion", "unknown shell {}; there are: bash, zsh, fish", quote(arguments->shell));
    if (arguments->words.empty()) {
      fmt::print("{}", text->text);
      return ExitCode::done;
    }
    const Completion completion = complete(*cli.get_parent(), arguments->words);
    for (const Candidate& candidate : completion.candidates)
      fmt::print("{}\t{}\n", candidate.text, one_line(candidate.says));
    if (completion.file) fmt::print(":files\t{}\n", *completion.file);
    return ExitCode::done;
  };
}

}  // namespace emplace::app
