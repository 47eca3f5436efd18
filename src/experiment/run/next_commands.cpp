#include "experiment/run/next_commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/writers.hpp"
#include "problem/segments.hpp"

namespace emplace::experiment {

namespace {

// In the name of a placement that is to be better than another.
constexpr std::string_view better_mark = ".better";

// The words that are not empty, with blanks between.
std::string words(const std::vector<std::string>& all) {
  std::vector<std::string> some;
  std::ranges::copy_if(all, std::back_inserter(some), [](const std::string& word) { return !word.empty(); });
  return join(some, " ");
}

// A placement's file without its ending and what free_name() put before that.
std::string stem_of(std::string file) {
  for (const std::string_view ending : {".json", ".placement"})
    if (file.ends_with(ending)) file.erase(file.size() - ending.size());
  const std::size_t better = file.rfind(better_mark);
  const std::size_t end = better == file.npos ? file.npos : better + better_mark.size();
  return end != file.npos && file.find_first_not_of("-0123456789", end) == file.npos ? file.substr(0, better) : file;
}

// STEM + ending, or with -2, -3, ... between, whichever no file has.
std::string free_name(const std::string& stem, const std::string& ending) {
  std::error_code none;
  std::string name = stem + ending;
  for (int number = 2; std::filesystem::exists(name, none); ++number)
    name = fmt::format("{}-{}{}", stem, number, ending);
  return name;
}

// The name that ONNX Runtime has for a device that is not called cpu, gpu or npu: its kind, numbered among the devices
// of this kind.
std::string runtime_name(const Problem& problem, std::size_t device) {
  const std::string& kind = problem.devices[device].kind;
  if (kind != "gpu") return kind == "npu" ? kind : "cpu";
  std::size_t number = 0;
  for (std::size_t d = 0; d < device; ++d) number += problem.devices[d].kind == kind ? 1 : 0;
  return fmt::format("gpu:{}", number);
}

bool has_runtime_name(const std::string& device) {
  const std::size_t colon = device.find(':');
  const std::string kind = device.substr(0, colon), number = colon == device.npos ? "0" : device.substr(colon + 1);
  return (kind == "npu" && number == "0") ||
         ((kind == "cpu" || kind == "gpu") && !number.empty() && number.find_first_not_of("0123456789") == number.npos);
}

// The options --rename for the devices of the placement that ONNX Runtime has no name for.
std::string renames_for(const Problem& problem, const Placement& placement) {
  std::vector<std::string> options;
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const std::string& name = problem.devices[d].name;
    const bool is_used = std::ranges::find(placement.device, static_cast<std::uint8_t>(d)) != placement.device.end();
    if (is_used && !has_runtime_name(name))
      options.push_back("--rename " + shell_word(name + "=" + runtime_name(problem, d)));
  }
  return words(options);
}

class CommandMaker {
 public:
  explicit CommandMaker(const PlacedSubject& subject) : s_(subject), options_(arguments_of(subject.options)) {
    if (!source::is_graph_at_machine(s_.source)) options_ = "";
  }

  verdict::Commands make() {
    verdict::Commands commands;
    if (!s_.run.empty()) commands.resume = "emplace train --resume " + shell_word(s_.run);
    if (!s_.source.empty()) commands.keep = keep();
    if (s_.source.empty() || !options_) return commands;
    const std::string schedule =
        s_.schedule == Schedule::fifo ? "" : fmt::format("--schedule {}", name_of(s_.schedule));
    commands.search = words({"emplace place best", shell_word(s_.source), *options_,
                             emplace::arguments_of(s_.constraints), schedule, scoring()});
    if (!s_.file.empty()) commands.start = "--start " + shell_word(s_.file);
    commands.output = "-o " + shell_word(free_name(better_stem(), ".placement.json"));
    return commands;
  }

 private:
  [[nodiscard]] std::string scoring() const {
    return s_.objective == Objective::pipeline ? words({"--objective pipeline", s_.pipeline.overlap ? "--overlap" : "",
                                                        s_.pipeline.separate_phases ? "--separate-phases" : ""})
                                               : "";
  }
  [[nodiscard]] std::string better_stem() const {
    if (!s_.run.empty()) return without_slash(s_.run);
    return s_.file.empty() ? source::short_name(s_.source) : stem_of(s_.file) + std::string(better_mark);
  }
  static std::string without_slash(std::string folder) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    return folder;
  }

  // The format of the model file; "" for problems and models of the zoo.
  [[nodiscard]] std::string format() const {
    if (!source::is_graph_at_machine(s_.source) || s_.source.starts_with("zoo:")) return {};
    const formats::ReaderEntry* const reader = formats::reader_of(source::file_of_model(model()));
    return reader == nullptr ? std::string() : reader->name;
  }
  [[nodiscard]] std::string model() const { return s_.source.substr(0, s_.source.rfind('@')); }

  [[nodiscard]] std::string keep() const {
    if (s_.file.empty()) return {};
    const std::string reader = format();
    if (!reader.empty()) return exported(reader == "onnx" && has_few_parts());
    if (s_.objective == Objective::pipeline)
      return options_ && !s_.is_simulated
                 ? words({"emplace simulate", shell_word(s_.source), shell_word(s_.file), *options_, scoring()})
                 : std::string();
    if (s_.has_page) return {};
    if (!s_.run.empty()) return "emplace report " + shell_word(s_.run);
    return options_ ? words({"emplace report", shell_word(s_.source), shell_word(s_.file), *options_}) : std::string();
  }

  // Whether `export --for onnx` surely writes the placement. The file's parts are not known here: it also has the ops
  // that were folded away before placing, which can double the number.
  [[nodiscard]] bool has_few_parts() const {
    return count_forward_segments(*s_.problem, *s_.placement) <= formats::most_onnx_parts / 2;
  }

  // For a machine of a file, which the problem's name does not say.
  [[nodiscard]] std::string problem() const {
    return file_exists(s_.source.substr(s_.source.rfind('@') + 1)) ? "--problem " + shell_word(s_.source) : "";
  }

  // A run's folder has the model and its options.
  [[nodiscard]] std::string exported(bool onnx) const {
    if (s_.run.empty() && !options_) return {};
    const std::string stem = s_.run.empty() ? stem_of(s_.file) : without_slash(s_.run);
    return words({"emplace export", shell_word(s_.run.empty() || s_.of_several ? s_.file : s_.run),
                  onnx ? "--for onnx" : "--for json", s_.run.empty() ? "--model " + shell_word(model()) : "",
                  s_.run.empty() ? *options_ : "", s_.run.empty() ? problem() : "",
                  onnx ? renames_for(*s_.problem, *s_.placement) : "", "-o",
                  shell_word(free_name(stem + ".placed", onnx ? ".onnx" : ".json"))});
  }

  const PlacedSubject& s_;
  std::optional<std::string> options_;
};

}  // namespace

std::optional<std::string> arguments_of(const source::SourceOptions& options) {
  const cost::RooflineOptions& given = options.roofline;
  // Those that the command line has.
  cost::RooflineOptions expressed;
  expressed.training = given.training;
  expressed.fuse = given.fuse;
  expressed.allow_unsized = given.allow_unsized;
  expressed.optimizer = given.optimizer;
  if (expressed != given) return std::nullopt;
  std::vector<std::string> list;
  if (options.read.batch) list.push_back(fmt::format("--batch {}", *options.read.batch));
  for (const auto& [input, sizes] : options.read.shapes) {
    std::vector<std::string> numbers;
    for (const std::int64_t size : sizes) numbers.push_back(fmt::format("{}", size));
    list.push_back("--shape " + shell_word(input + "=" + join(numbers, "x")));
  }
  if (given.training) list.emplace_back("--training");
  if (given.training && given.optimizer != cost::RooflineOptions().optimizer)
    list.push_back("--optimizer " + shell_word(given.optimizer));
  if (given.fuse) list.emplace_back("--fuse");
  if (given.allow_unsized) list.emplace_back("--allow-unsized");
  return words(list);
}

verdict::Commands next_commands(const PlacedSubject& subject) { return CommandMaker(subject).make(); }

}  // namespace emplace::experiment
