// Reads archives of torch.export.save (.pt2): a zip archive in which models/NAME.json is the program, in the schema of
// torch/_export/serde/schema.py. Weights are not read.
#include "formats/pytorch/pytorch.hpp"

#include <map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/json/json.hpp"
#include "formats/pytorch/archive.hpp"
#include "formats/pytorch/graph.hpp"

namespace emplace::formats {

namespace {

constexpr std::uint64_t largest_program = std::uint64_t{1} << 30;

// The programs of an archive; before PyTorch 2.8 there was one, under another name.
std::vector<std::string> programs_in(const ZipArchive& archive) {
  std::vector<std::string> found;
  for (const std::string& name : archive.names()) {
    const std::vector<std::string> parts = split(name, '/');
    const bool is_model = parts.size() >= 2 && parts[parts.size() - 2] == "models" && name.ends_with(".json");
    if (is_model || parts.back() == "serialized_exported_program.json") found.push_back(name);
  }
  return found;
}

std::string program_in(const ZipArchive& archive, const std::string& path) {
  const std::vector<std::string> found = programs_in(archive);
  if (found.size() > 1)
    throw InputError(path, "holds {} programs ({}); an archive with one is read", found.size(), join(found, ", "));
  if (!found.empty()) return found[0];
  for (const std::string& name : archive.names())
    if (name.ends_with("data.pkl"))
      throw InputError(path, "holds weights or a pickled model (torch.save); save the model with torch.export.save");
  throw InputError(path, "is a zip archive, but holds no program of torch.export (models/NAME.json)");
}

// {"config": {"layers.0.weight": {"path_name": "weight_0", ...}}}: tied weights have the same file.
std::map<std::string, std::string, std::less<>> storage_of_weights(const ZipArchive& archive, const std::string& path) {
  std::map<std::string, std::string, std::less<>> storage;
  for (const std::string& name : archive.names()) {
    if (!name.ends_with("weights_config.json")) continue;
    const std::string where = path + ": " + name;
    const json::Document document = json::parse(archive.read(name, largest_program), where);
    const json::Place place(where), config(place, "config");
    need_member(document.root(), place, "config").each_member(config, [&](std::string_view weight, json::Value facts) {
      const json::Place at(config, weight);
      if (const auto file = find_member(facts, at, "path_name"))
        storage.emplace(weight, file->text(json::Place(at, "path_name")));
    });
  }
  return storage;
}

Graph read_program(const std::string& path, const ReadOptions& options) {
  const ZipArchive archive(path);
  const std::string text = archive.read(program_in(archive, path), largest_program);
  const json::Document document = json::parse(text, path);
  const auto storage = storage_of_weights(archive, path);
  return GraphFromProgram(document.root(), storage, path, options).build();
}

}  // namespace

ReaderEntry pytorch_reader() {
  ReaderEntry entry;
  entry.name = "pytorch";
  entry.summary = "Programs of torch.export.save (.pt2), PyTorch 2.6 and later; the weights are not read.";
  entry.reference = "PyTorch, torch.export and its PT2 archive";
  entry.recognises = [](const std::string& path, std::string_view head) {
    return head.starts_with("PK\x03\x04") || path.ends_with(".pt2");
  };
  entry.read = read_program;
  return entry;
}

}  // namespace emplace::formats
