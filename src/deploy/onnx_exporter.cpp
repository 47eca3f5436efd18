#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/text.hpp"
#include "deploy/device_names.hpp"
#include "deploy/exporters.hpp"
#include "deploy/segments.hpp"
#include "emplace/base/error.hpp"
#include "formats/utf8.hpp"
#include "formats/writers.hpp"

namespace emplace::deploy {

namespace {

using Json = nlohmann::ordered_json;

// The device's name in a form for file names and for ONNX Runtime's settings, in which ( ) , ; and = have a meaning.
std::string plain(const std::string& device) {
  std::string name = device;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  return name;
}

// "cpu(=cpu_0); gpu:1(=gpu_1)": the value of session.layer_assignment_settings.
std::string layer_assignment(const std::vector<std::string>& devices, const DeviceNames& names) {
  std::vector<std::string> rules;
  for (const std::string& device : devices) rules.push_back(fmt::format("{}(={})", names.of(device), plain(device)));
  return join(rules, "; ");
}

class OnnxExport {
 public:
  explicit OnnxExport(const ExportRequest& request)
      : placement_(request.placement), output_(request.output), stop_(request.stop), devices_(placement_.devices()) {
    if (!output_.ends_with(ending)) throw InputError(output_, "should end in {}, like its parts", ending);
    if (!formats::is_utf8(output_)) throw InputError(output_, "should be UTF-8, because the list of its parts is JSON");
    if (devices_.empty()) throw InputError(placement_.file, "places no op of the model");
    // ONNX Runtime has one CPU device: all of our cpu:N get the name cpu there, but parts of their own.
    auto renamed = request.renamed;
    for (const std::string& device : devices_)
      if (device.starts_with("cpu:")) renamed.emplace(device, "cpu");
    const DeviceNames names({{"cpu", "cpu"}, {"gpu", "gpu:{}"}, {"npu", "npu"}}, std::move(renamed), "ONNX Runtime",
                            "_-.:");
    static_cast<void>(names.of(placement_.device_of_op));
    check_plain_names();
    assignment_ = layer_assignment(devices_, names);
  }

  Exported write() {
    cut();
    refuse_too_many_parts();
    const std::string list = stem() + ".segments.json";
    std::vector<std::string> outputs = {list};
    for (const formats::OnnxPart& part : parts_) outputs.push_back(part.file);
    placement_.refuse_to_replace(outputs);
    const std::vector<std::string> earlier = parts_of_list(list);
    const Graph without_sizes =
        formats::read_graph(placement_.model);  // with the shapes of the file, not those of --batch and --shape
    split_ = formats::write_onnx_parts(placement_.model, without_sizes, parts_, stop_);
    std::vector<std::string> written;  // removed again if a later file cannot be written
    for (const formats::OnnxPart& part : parts_) written.push_back(part.file);
    try {
      formats::check_onnx_parts(placement_.model, parts_, split_.passes);
      if (stop_ && stop_()) throw formats::WritingStopped("stopped on request");
      write_whole();
      written.push_back(output_);
      write_file(list, segments_json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    } catch (...) {
      remove(written);
      throw;
    }
    remove_stale(earlier);
    Exported exported{.files = {output_, list}, .notes = {}};
    for (const formats::OnnxPart& part : parts_) exported.files.push_back(part.file);
    exported.notes = {fmt::format("{} on {}; a check proved that together they equal the model{}",
                                  counted(parts_.size(), "part"), counted(devices_.size(), "device"), but_for_passes()),
                      fmt::format("ONNX Runtime places the nodes of {} by session.layer_assignment_settings = \"{}\"",
                                  output_, assignment_)};
    return exported;
  }

 private:
  static constexpr std::string_view ending = ".onnx";

  void refuse_too_many_parts() const {
    if (segments_.size() > formats::most_onnx_parts)
      throw InputError(placement_.file.empty() ? placement_.model : placement_.file,
                       "changes devices so often that the model falls into {} parts of one device each, and a file is "
                       "written for each part, at most {}; place again with fewer tensors between devices (`emplace "
                       "place` and `emplace auto`: --max-cuts 100; `emplace train`: max_cuts=100), or export --for "
                       "json, which writes the device of every op into one file",
                       segments_.size(), formats::most_onnx_parts);
  }

  // ", but for its outputs that are inputs of it ('x') and that are weights of it ('w')", or "".
  [[nodiscard]] std::string but_for_passes() const {
    std::vector<std::string> inputs, weights, kinds;
    for (const formats::OnnxPass& pass : split_.passes) (pass.is_weight ? weights : inputs).push_back(pass.output);
    if (!inputs.empty()) kinds.push_back(fmt::format("that are inputs of it ({})", listed(inputs)));
    if (!weights.empty()) kinds.push_back(fmt::format("that are weights of it ({})", listed(weights)));
    return kinds.empty() ? "" : ", but for its outputs " + join(kinds, " and ");
  }

  [[nodiscard]] std::string stem() const { return output_.substr(0, output_.size() - ending.size()); }

  // Throws InputError if two devices would have the same name in the settings.
  void check_plain_names() const {
    std::map<std::string, std::string> device_of;
    for (const std::string& device : devices_)
      if (const auto [known, is_new] = device_of.emplace(plain(device), device); !is_new)
        throw InputError(placement_.model, "the devices {} and {} would both be called {} in ONNX Runtime's settings",
                         quote(known->second), quote(device), known->first);
  }

  void cut() {
    // Ops without a device must be in a part too; any device is right for them.
    std::vector<std::string> device_of_op = placement_.device_of_op;
    std::ranges::replace(device_of_op, std::string(), devices_.front());
    segments_ = segments_of(placement_.graph, device_of_op, placement_.rank_of_op);
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      formats::OnnxPart part;
      part.file = part_file(i, segments_[i].device);
      for (const OpId op : segments_[i].ops) part.nodes.push_back(op.value);
      parts_.push_back(std::move(part));
    }
  }

  [[nodiscard]] std::string part_file(std::size_t part, const std::string& device) const {
    return fmt::format("{}.{}.{}{}", stem(), part, plain(device), ending);
  }

  // The files of the parts of an earlier export to the same output, according to its list.
  [[nodiscard]] std::vector<std::string> parts_of_list(const std::string& list) const {
    std::vector<std::string> files;
    if (!file_exists(list)) return files;
    const Json json = Json::parse(read_file(list), nullptr, false);
    try {
      if (json.at("emplace") != "segments/1") return files;
      for (const Json& segment : json.at("segments")) {
        const std::string file = part_file(files.size(), segment.at("device").get<std::string>());
        if (segment.at("file") != std::filesystem::path(file).filename().string()) break;  // not ours
        files.push_back(file);
      }
    } catch (const Json::exception&) {  // not a list of this exporter
    }
    return files;
  }

  // Removes files of the earlier export that this one did not write, except the model and the placement that it read.
  void remove_stale(const std::vector<std::string>& earlier) const {
    std::error_code ignored;
    for (const std::string& file : earlier)
      if (std::ranges::find(parts_, file, &formats::OnnxPart::file) == parts_.end() &&
          !std::filesystem::equivalent(file, placement_.model, ignored) &&
          !std::filesystem::equivalent(file, placement_.file, ignored))
        std::filesystem::remove(file, ignored);
  }

  static void remove(const std::vector<std::string>& files) {
    std::error_code ignored;
    for (const std::string& file : files) std::filesystem::remove(file, ignored);
  }

  void write_whole() const {
    formats::OnnxAnnotations annotations;
    annotations.device_of_node = placement_.device_of_op;
    for (const std::string& device : placement_.device_of_op)
      annotations.layer_of_node.push_back(device.empty() ? "" : plain(device));
    if (!placement_.problem.empty()) annotations.metadata.emplace_back("emplace.problem", placement_.problem);
    if (!placement_.schedule.empty()) annotations.metadata.emplace_back("emplace.schedule", placement_.schedule);
    annotations.metadata.emplace_back("emplace.layer_assignment_settings", assignment_);
    formats::write_annotated_onnx(placement_.model, output_, annotations);
  }

  // {"emplace": "segments/1", "model", "layer_assignment_settings", "segments": [{"file", "device", "inputs",
  // "outputs"}], "passes": [{"output", "is": "input" or "weight"}]}. A segment can run when the segments that make its
  // inputs are done; they come before it in the list. The files are in the same folder. "passes" are outputs of the
  // model that no segment makes, because they are inputs or weights of the model.
  [[nodiscard]] Json segments_json() const {
    Json list = Json::array();
    for (std::size_t i = 0; i < segments_.size(); ++i)
      list.push_back({{"file", std::filesystem::path(parts_[i].file).filename().string()},
                      {"device", segments_[i].device},
                      {"inputs", split_.ends[i].inputs},
                      {"outputs", split_.ends[i].outputs}});
    Json passes = Json::array();
    for (const formats::OnnxPass& pass : split_.passes)
      passes.push_back({{"output", pass.output}, {"is", pass.is_weight ? "weight" : "input"}});
    return {{"emplace", "segments/1"},
            {"model", std::filesystem::path(placement_.model).filename().string()},
            {"layer_assignment_settings", assignment_},
            {"segments", std::move(list)},
            {"passes", std::move(passes)}};
  }

  const ModelPlacement& placement_;
  const std::string& output_;
  const std::function<bool()>& stop_;
  const std::vector<std::string> devices_;
  std::string assignment_;
  std::vector<Segment> segments_;
  std::vector<formats::OnnxPart> parts_;
  formats::OnnxSplit split_;
};

Exported write_onnx(const ExportRequest& request) { return OnnxExport(request).write(); }

}  // namespace

ExportEntry onnx_exporter() {
  ExportEntry entry;
  entry.name = "onnx";
  entry.summary =
      "The model with a device in each node's metadata, which ONNX Runtime reads, and a sub-model for each run of ops "
      "on one device (FILE.0.cpu.onnx, ...) with FILE.segments.json.";
  entry.reference = "ONNX IR, NodeProto.metadata_props; ONNX Runtime, layer_ann";
  entry.needs_file = true;
  entry.write = write_onnx;
  return entry;
}

}  // namespace emplace::deploy
