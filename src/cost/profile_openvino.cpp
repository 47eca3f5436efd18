// Parses the execution graph of OpenVINO (benchmark_app -pc -exec_graph_path FILE.xml, or the serialised runtime model
// of a model that was compiled with PERF_COUNT): kernels with their times, the layers of the model that each computes,
// and who reads whose results.
#include <pugixml.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

class ExecutionGraph {
 public:
  ExecutionGraph(std::string_view text, Profile& profile) : profile_(profile) {
    // pugixml takes a node for each element and an attribute for each equals sign; it expands no entities of a DTD.
    constexpr std::size_t most = 20'000'000;
    if (static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return c == '<' || c == '='; })) >
        most)
      throw InputError(profile.file, "is too large: more than {} elements and attributes", most);
    const pugi::xml_parse_result parsed =
        document_.load_buffer(text.data(), text.size(), pugi::parse_minimal | pugi::parse_escapes, pugi::encoding_utf8);
    if (!parsed)
      throw InputError(profile.file, "is not valid XML, or is truncated: {}, at byte {}", parsed.description(),
                       parsed.offset);
  }

  void read() {
    const pugi::xml_node net = document_.child("net");
    for (const pugi::xml_node& layer : net.child("layers").children("layer")) add_layer(layer);
    if (!timed_)
      throw InputError(profile_.file,
                       "is no execution graph of OpenVINO with times: no layer has execTimeMcs; compile the model with "
                       "PERF_COUNT (benchmark_app -pc) and run it");
    for (const pugi::xml_node& edge : net.child("edges").children("edge")) {
      const auto from = layer_of_.find(edge.attribute("from-layer").value());
      const auto to = layer_of_.find(edge.attribute("to-layer").value());
      if (from != layer_of_.end() && to != layer_of_.end()) readers_[from->second].push_back(to->second);
    }
    for (std::size_t i = 0; i < row_.size(); ++i)
      if (row_[i] != ProfileRow::none) profile_.rows[row_[i]].reader = row_that_reads(i);
  }

 private:
  void add_layer(const pugi::xml_node& layer) {
    const pugi::xml_node data = layer.child("data");
    const pugi::xml_attribute time = data.attribute("execTimeMcs");
    const std::string name = layer.attribute("name").value();
    layer_of_.emplace(layer.attribute("id").value(), row_.size());
    row_.push_back(ProfileRow::none);
    readers_.emplace_back();
    timed_ = timed_ || time;
    if (!time || std::string_view(time.value()) == "not_executed") return;
    double microseconds = -1;
    if (!parse_number(time.value(), microseconds) || !(microseconds >= 0 && microseconds * 1e-6 <= longest_op_s))
      throw InputError(fmt::format("{}: layer {}", profile_.file, quote(name)),
                       "execTimeMcs must be microseconds from 0 to {:g}, or not_executed, got {}", longest_op_s * 1e6,
                       quote(time.value()));
    if (name.empty()) throw InputError(profile_.file, "the layer at position {} has no name", row_.size() - 1);
    if (!named_.emplace(name, row_.size()).second)
      throw InputError(profile_.file, "two layers are called {}", quote(name));
    row_.back() = static_cast<std::uint32_t>(profile_.rows.size());
    ProfileRow& row = profile_.rows.emplace_back();
    row.op = name;
    row.seconds = {microseconds * 1e-6};
    for (std::string& part : split(data.attribute("originalLayersNames").value(), ','))
      if (!part.empty()) row.parts.push_back(std::move(part));
    row.fused = row.parts.size() > 1;
  }

  // The first executed kernel on the way of a layer's results; those in between cost nothing (Reshape).
  [[nodiscard]] std::uint32_t row_that_reads(std::size_t layer) const {
    constexpr int longest_way = 8;
    for (int step = 0; step < longest_way && !readers_[layer].empty(); ++step) {
      layer = readers_[layer].front();
      if (row_[layer] != ProfileRow::none) return row_[layer];
    }
    return ProfileRow::none;
  }

  Profile& profile_;
  pugi::xml_document document_;
  bool timed_ = false;
  std::unordered_map<std::string, std::size_t> layer_of_, named_;  // by id, by name
  std::vector<std::uint32_t> row_;                                 // per layer
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace

void parse_openvino_graph(std::string_view text, Profile& profile) {
  profile.devices = {""};
  profile.whole_run = profile.fused_run = true;
  ExecutionGraph(text, profile).read();
}

}  // namespace emplace::cost
