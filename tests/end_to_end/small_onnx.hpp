// The smallest ONNX model that has a weight: y = x + w, four numbers each, written byte by byte as onnx.proto says.
#pragma once

#include <string>

namespace emplace::test {

// `weights_beside`: a file beside the model, which has the 16 bytes of w; else the model has them.
inline std::string small_onnx(const std::string& weights_beside = "") {
  const auto text = [](int field, const std::string& value) {
    return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(value.size())} + value;
  };
  const auto number = [](int field, int value) {
    return std::string{static_cast<char>(field << 3), static_cast<char>(value)};
  };
  constexpr int of_floats = 1, external = 1;
  const std::string four_floats = text(1, number(1, of_floats) + text(2, text(1, number(1, 4))));
  const std::string bytes = weights_beside.empty()
                                ? text(9, std::string(16, '\0'))
                                : text(13, text(1, "location") + text(2, weights_beside)) + number(14, external);
  return number(1, 8) +
         text(7, text(1, text(1, "x") + text(1, "w") + text(2, "y") + text(3, "add") + text(4, "Add")) + text(2, "g") +
                     text(5, number(1, 4) + number(2, of_floats) + text(8, "w") + bytes) +
                     text(11, text(1, "x") + text(2, four_floats)) + text(12, text(1, "y") + text(2, four_floats))) +
         text(8, number(2, 13));
}

}  // namespace emplace::test
