// emplace-measure-onnx: runs ONNX models and exported placements on the cores of this machine, with ONNX Runtime.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/shapes.hpp"
#include "base/statistics.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "measure/pipeline.hpp"

namespace emplace::measure {

namespace {

struct Arguments {
  std::string library, model, output;
  std::vector<std::string> shapes;
  std::size_t runs = 15, warm_up = 3;
};

void say_made_up(const Pipeline& pipeline) {
  for (const std::string& input : pipeline.made_up())
    fmt::print(stderr, "sizes of the input {} that the model does not fix are taken as 1 (--shape {}=...)\n",
               quote(input), printable(input));
}

void say_error(const std::string& message) { fmt::print(stderr, "error: {}\n", message); }

void run(const Arguments& arguments) {
  const OnnxRuntime runtime(arguments.library);
  Pipeline pipeline(runtime, read_segments(arguments.model), parse_shapes(arguments.shapes, "--shape"));
  say_made_up(pipeline);
  const std::vector<double> seconds = pipeline.run(arguments.warm_up, arguments.runs);
  const nlohmann::ordered_json result = {{"seconds", median(seconds)},
                                         {"least", *std::ranges::min_element(seconds)},
                                         {"runs", seconds.size()},
                                         {"devices", pipeline.devices()},
                                         {"onnxruntime", runtime.version()}};
  fmt::print("{}\n", result.dump());
}

// Throws InputError if the output is a file of the model.
void refuse_to_replace(const std::string& output, const std::string& model) {
  std::error_code none;
  if (!std::filesystem::exists(output, none)) return;
  for (const std::string& file : formats::files_of_model(model))
    if (std::filesystem::equivalent(file, output, none))
      throw InputError(output, "is {}, and would be lost",
                       file == model ? "the model itself" : "a file of the model's weights");
}

void optimize(const Arguments& arguments) {
  const OnnxRuntime runtime(arguments.library);
  static_cast<void>(read_segments(arguments.model));  // throws if it is not a file
  refuse_to_replace(arguments.output, arguments.model);
  std::error_code none;
  if (formats::files_of_model(arguments.model).size() > 1 &&
      !std::filesystem::equivalent(parent_folder(arguments.model), parent_folder(arguments.output), none))
    throw InputError(arguments.output, "should be in the folder of {}, whose weights are in files beside it",
                     arguments.model);
  FileWriter output(arguments.output);
  const TemporaryFolder folder("emplace-optimize");
  const std::string written = folder / "model.onnx";
  try {
    const Session session(runtime, arguments.model, {.basic_passes = true, .write_optimized = written});
  } catch (const InputError& error) {
    const Session readable(runtime, arguments.model, {.basic_passes = true});  // throws if the model is wrong
    throw EnvironmentError("{}: the optimized model cannot be written there: {}", written, error.what());
  }
  output.write(read_file(written));
  output.finish();
}

void profile(const Arguments& arguments) {
  const OnnxRuntime runtime(arguments.library);
  std::vector<SegmentFile> segments = read_segments(arguments.model);
  if (segments.size() != 1)
    throw InputError(arguments.model, "should be one model, found {} segments", segments.size());
  for (const std::string& read : {arguments.model, segments.front().file}) refuse_to_replace(arguments.output, read);
  FileWriter output(arguments.output);
  const TemporaryFolder folder("emplace-profile");
  Pipeline pipeline(runtime, segments, parse_shapes(arguments.shapes, "--shape"), folder.path() + "/trace");
  say_made_up(pipeline);
  static_cast<void>(pipeline.run(arguments.warm_up, arguments.runs));
  const std::string trace = pipeline.end_profile(), text = read_file(trace);
  if (!nlohmann::json::accept(text)) throw EnvironmentError("{}: the times of the ops cannot be written there", trace);
  output.write(text);
  output.finish();
}

int main_with(int argc, char** argv) {
  CLI::App app(
      "Runs ONNX models and placements that `emplace export --for onnx` wrote, with a pinned thread for each device.",
      "emplace-measure-onnx");
  app.require_subcommand(1);
  app.set_version_flag("--version", EMPLACE_VERSION);
  Arguments arguments;
  const char* library = std::getenv("ONNXRUNTIME_LIBRARY");
  arguments.library = library != nullptr ? library : "libonnxruntime.so.1";
  const auto add = [&](const char* name, const char* help, const char* file_help, void (*action)(const Arguments&)) {
    CLI::App* command = app.add_subcommand(name, help);
    command->add_option("file", arguments.model, file_help)->required();
    command->add_option("--library", arguments.library,
                        "ONNX Runtime's shared library; else that of $ONNXRUNTIME_LIBRARY, else the system's");
    command->callback([&arguments, action] { action(arguments); });
    return command;
  };
  const auto add_run_options = [&](CLI::App* command) {
    command->add_option("--runs", arguments.runs, "Timed runs")->check(CLI::Range(1, 1'000'000))->capture_default_str();
    command->add_option("--warm-up", arguments.warm_up, "Runs before the timed ones")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    command
        ->add_option("--shape", arguments.shapes,
                     "Sizes of an input that the model does not fix, as x=1x3x224x224; may be repeated")
        ->allow_extra_args(false);
  };
  add_run_options(add("run", "the median time of a run, as JSON", "FILE.segments.json, or a model", run));
  CLI::App* profiled =
      add("profile", "the time of each op on one core, for `emplace cost --profile`", "Model", profile);
  add_run_options(profiled);
  CLI::App* optimized =
      add("optimize", "write the model after ONNX Runtime's basic passes, to place this model", "Model", optimize);
  for (CLI::App* command : {profiled, optimized})
    command->add_option("-o,--output", arguments.output, "File to write")->required();
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::string command;
    for (const CLI::App* sub : app.get_subcommands()) command = sub->get_name() + " ";
    say_error(fmt::format("{} (see `emplace-measure-onnx {}--help`)", error.what(), command));
    return 2;
  } catch (const InputError& error) {
    say_error(error.what());
    return 2;
  } catch (const std::exception& error) {
    say_error(error.what());
    return 1;
  }
}

}  // namespace

}  // namespace emplace::measure

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` then fails with an error, like any other failed write
  return emplace::measure::main_with(argc, argv);
}
