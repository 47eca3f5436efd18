#include "formats/onnx/external.hpp"

#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/load.hpp"

namespace emplace::formats {

namespace {

using Locations = std::set<std::string>;

void collect(const onnx::TensorProto& tensor, Locations& locations) {
  for (const auto& entry : tensor.external_data())
    if (entry.key() == "location") locations.insert(entry.value());
}

void collect(const onnx::GraphProto& graph, Locations& locations) {
  for (const auto& tensor : graph.initializer()) collect(tensor, locations);
  for (const auto& tensor : graph.sparse_initializer()) {
    collect(tensor.values(), locations);
    collect(tensor.indices(), locations);
  }
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute()) {
      collect(attribute.t(), locations);
      if (attribute.has_g()) collect(attribute.g(), locations);
      for (const auto& tensor : attribute.tensors()) collect(tensor, locations);
      for (const auto& inner : attribute.graphs()) collect(inner, locations);
    }
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

}  // namespace

std::vector<std::string> onnx_weights_beside(const std::string& model) {
  google::protobuf::Arena memory;
  Locations locations;
  collect(load_onnx_without_weights(model, memory).graph(), locations);
  std::vector<std::string> files;
  for (const std::string& location : locations) files.push_back(parent_folder(model) + "/" + location);
  return files;
}

void check_weights_stay_beside(const std::string& model, std::span<const std::string> outputs) {
  const std::vector<std::string> files = onnx_weights_beside(model);
  if (files.empty()) return;
  for (const std::string& output : outputs) {
    if (!same_file(parent_folder(model), parent_folder(output)))
      throw InputError(output, "should be in the folder of {}, whose weights lie in files beside it", model);
    for (const std::string& file : files)
      if (same_file(file, output)) throw InputError(output, "holds weights of {}, and would be lost", model);
  }
}

void check_external_data(const onnx::TensorProto& tensor, const std::string& model_file) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  const std::string place = fmt::format("{}: initializer {}", model_file, quote(tensor.name()));
  std::string location;
  std::int64_t offset = 0, length = 0;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    std::int64_t* const number = entry.key() == "offset" ? &offset : entry.key() == "length" ? &length : nullptr;
    if (number != nullptr && (!parse_number(entry.value(), *number) || *number < 0))
      throw InputError(place, "the {} of its external data should be a whole number, found {}", entry.key(),
                       quote(entry.value()));
  }
  if (location.empty()) {
    if (tensor.external_data().empty()) return;  // a weight that load_onnx_without_weights has dropped
    throw InputError(place, "its external data has no location, the name of the file that holds it");
  }
  const std::filesystem::path relative(location);
  bool leaves = relative.is_absolute();
  for (const auto& part : relative) leaves = leaves || part == "..";
  if (leaves)
    throw InputError(place, "its external data should be in the model's folder, found the location {}",
                     quote(location));
  std::error_code error;
  const auto size = std::filesystem::file_size(std::filesystem::path(model_file).parent_path() / relative, error);
  if (error) throw InputError(place, "its external data {} cannot be found: {}", quote(location), error.message());
  if (offset > total_limit - length || size < static_cast<std::uintmax_t>(offset + length))
    throw InputError(place, "its external data should be {} bytes from byte {} of {}, which has {}", length, offset,
                     quote(location), size);
}

}  // namespace emplace::formats
