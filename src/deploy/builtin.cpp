#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "deploy/exporters.hpp"

namespace emplace::deploy {

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) some.push_back(quote(names[i]));
  return join(some, ", ") + (names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

std::span<const ExportEntry> exporters() {
  static const std::vector<ExportEntry> entries = {onnx_exporter(), openvino_exporter(), tensorflow_exporter(),
                                                   pytorch_exporter(), json_exporter()};
  return entries;
}

}  // namespace emplace::deploy
