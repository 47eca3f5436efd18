// emplace completion bash|zsh|fish [-- WORD ...]
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "app/command.hpp"
#include "app/complete.hpp"
#include "app/shell/texts.hpp"
#include "base/text.hpp"

namespace emplace::app {

namespace completion_command {

constexpr const char* completion_help =
    "`cmake --install` and the Debian package install the scripts where the shells look. Without them:\n\n"
    "  source <(emplace completion bash)                              # in ~/.bashrc\n"
    "  source <(emplace completion zsh)                               # in ~/.zshrc, after compinit\n"
    "  emplace completion fish > ~/.config/fish/completions/emplace.fish\n\n"
    "With -- and the words of a command line so far (the last one may be incomplete), the command prints what the "
    "last\n"
    "word can be: each line has a word, a tab and a sentence, and `:files` stands for names of files.";

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

}  // namespace completion_command

Action add_completion(CommandLine& cli) {
  using namespace completion_command;
  struct Arguments {
    std::string shell;
    std::vector<std::string> words;
  };
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("shell", arguments->shell, "The shell that will load the script")
      .type_name("bash|zsh|fish")
      .required();
  cli.add_option("words", arguments->words, "A command line to complete, for the shells");
  cli.footer(completion_help);
  return [arguments, cli](dist::World*) {
    const auto texts = shell_texts();
    const auto text = std::ranges::find(texts, "emplace." + arguments->shell, &ShellText::name);
    if (text == texts.end())
      throw InputError("completion", "unknown shell {}; there are: bash, zsh, fish", quote(arguments->shell));
    if (arguments->words.empty()) {
      fmt::print("{}", text->text);
      return ExitCode::done;
    }
    const Completion completion = complete(cli.program(), arguments->words);
    for (const Candidate& candidate : completion.candidates)
      fmt::print("{}\t{}\n", candidate.text, one_line(candidate.says));
    if (completion.file) fmt::print(":files\t{}\n", *completion.file);
    return ExitCode::done;
  };
}

}  // namespace emplace::app
