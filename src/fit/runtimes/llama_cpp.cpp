// llama.cpp gives the last -ngl layers, and the output as one more, to its devices in the order of -dev, in proportion
// to -ts (llama_model::load_tensors). -ot puts the weights whose names match a pattern, and what is computed with them,
// elsewhere; the KV cache stays with its layer.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

class LlamaLine {
 public:
  explicit LlamaLine(const Said& said) : said_(said), pieces_(pieces_of(said)) {
    for (const Piece& piece : pieces_)
      if (accelerator_number(said, piece.device) >= 0) {
        natural_output_ = piece.device;
        offloaded_ += piece.layers;
      }
    if (offloaded_ == 0) natural_output_ = device_of(said, UnitKind::input);
    add_moved();
  }

  Saying say() {
    std::string line = fmt::format("llama-server -m {} -c {}", shell_word(said_.file),
                                   said_.scenario.context * said_.scenario.sequences);
    // Without -np llama-server takes four slots and lets them share the cache.
    line += fmt::format(" -np {}", said_.scenario.sequences);
    if (said_.scenario.batch != 512) line += fmt::format(" -ub {}", said_.scenario.batch);
    if (said_.scenario.kv_type != "F16") {
      const std::string type = lower(said_.scenario.kv_type);
      line += fmt::format(" -ctk {} -ctv {}", type, type);
    }
    line += fmt::format(" -ngl {}", offloaded_ == 0 ? 0 : offloaded_ + 1);
    add_devices(line);
    for (const std::string& option : overrides()) line += " " + option;
    return {line + "\n", std::move(notes_)};
  }

 private:
  [[nodiscard]] std::string name_of_device(std::uint8_t d) const {
    const int number = accelerator_number(said_, d);
    return number < 0 ? "CPU" : fmt::format("CUDA{}", number);
  }

  // Units that are not where llama.cpp would put them, by kind and device.
  void add_moved() {
    std::uint8_t attention = 0;
    for (std::size_t u = 0; u < said_.chain.size(); ++u) {
      const Unit& unit = said_.chain.units[u];
      const std::uint8_t d = said_.assignment[u];
      if (unit.kind == UnitKind::attention) attention = d;
      if ((unit.kind == UnitKind::feed_forward || unit.kind == UnitKind::experts) && d != attention)
        moved_[{unit.kind, d}].push_back(unit.layer);
      if (unit.kind == UnitKind::output && d != natural_output_) moved_output_ = d;
    }
  }

  // The devices that hold anything: with layers in their order, then those with moved weights alone.
  void add_devices(std::string& line) {
    std::vector<std::uint8_t> used;
    std::vector<std::int64_t> shares;
    for (const Piece& piece : pieces_)
      if (accelerator_number(said_, piece.device) >= 0) {
        used.push_back(piece.device);
        shares.push_back(piece.layers);
      }
    if (!shares.empty()) ++shares.back();  // the output
    for (std::size_t u = 0; u < said_.chain.size(); ++u)
      if (const std::uint8_t d = said_.assignment[u];
          accelerator_number(said_, d) >= 0 && std::ranges::find(used, d) == used.end()) {
        used.push_back(d);
        shares.push_back(0);
      }
    std::vector<std::string> names;
    bool natural = true;
    for (std::size_t i = 0; i < used.size(); ++i) {
      names.push_back(name_of_device(used[i]));
      natural = natural && accelerator_number(said_, used[i]) == static_cast<int>(i);
    }
    std::size_t accelerators = 0;
    for (const std::string& kind : said_.kinds) accelerators += is_host_kind(kind) ? 0 : 1;
    if (!used.empty() && (!natural || used.size() < accelerators))
      line += fmt::format(" -dev {}", fmt::join(names, ","));
    if (used.size() > 1) line += fmt::format(" -ts {}", fmt::join(shares, ","));
  }

  // The layers of experts on the host are the first ones: --n-cpu-moe says that.
  [[nodiscard]] bool are_first_experts(const std::vector<std::int64_t>& layers) const {
    std::size_t i = 0;
    for (const Unit& unit : said_.chain.units) {
      if (unit.kind != UnitKind::experts || i == layers.size()) continue;
      if (unit.layer != layers[i]) return false;
      ++i;
    }
    return i == layers.size();
  }

  [[nodiscard]] std::vector<std::string> overrides() {
    std::vector<std::string> options;
    for (const auto& [key, layers] : moved_) {
      const auto& [kind, device] = key;
      if (kind == UnitKind::experts && accelerator_number(said_, device) < 0 && are_first_experts(layers)) {
        options.push_back(fmt::format("--n-cpu-moe {}", layers.back() + 1));
        continue;
      }
      const char* weights = kind == UnitKind::experts
                                ? "ffn_.*_exps"
                                : "(post_ffw.*|exp_probs.*|ffn_(norm|gate|up|down|gate_inp|.*_shexp))";
      options.push_back(
          fmt::format("-ot 'blk\\.({})\\.{}\\.={}'", fmt::join(layers, "|"), weights, name_of_device(device)));
    }
    if (moved_output_) {
      options.push_back(fmt::format("-ot '^output={}'", name_of_device(*moved_output_)));
      if (said_.model.is_tied())
        notes_.push_back(
            "the output uses the embedding's weights, which -ot cannot move: it stays with the last layer");
    }
    return options;
  }

  const Said& said_;
  std::vector<Piece> pieces_;
  std::int64_t offloaded_ = 0;  // layers on accelerators
  std::uint8_t natural_output_ = 0;
  std::map<std::pair<UnitKind, std::uint8_t>, std::vector<std::int64_t>> moved_;
  std::optional<std::uint8_t> moved_output_;
  std::vector<std::string> notes_;
};

Saying say_llama_cpp(const Said& said) {
  Saying saying = LlamaLine(said).say();
  if (saying.text.find("CUDA") != std::string::npos)
    saying.notes.emplace_back(
        "CUDA0 is the first GPU; `llama-server --list-devices` shows the names of other backends");
  return saying;
}

}  // namespace

RuntimeEntry llama_cpp_runtime() {
  RuntimeEntry entry;
  entry.name = "llama.cpp";
  entry.summary = "The options of llama-server and llama-cli: -ngl, -ts, -dev, -ot, --n-cpu-moe, -c.";
  entry.reference = "llama.cpp, src/llama-model.cpp";
  entry.rules = {.in_pieces = true, .input_on_host = true};
  entry.say = say_llama_cpp;
  return entry;
}

}  // namespace emplace::fit
