// Noise on logits for exploration (docs/papers/hierarchical.md, section 2.7). It is drawn when a sample is drawn; later
// the same stream reproduces it, so that log-probabilities are those of the noisy logits.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "emplace/base/random.hpp"

namespace emplace::policy {

struct LogitNoise {
  enum class Kind : std::uint8_t { none, uniform, rms } kind = Kind::none;
  double size = 0;
  double share = 0;  // noise is on until this share of the training's budget is used

  [[nodiscard]] bool is_on(double progress) const { return kind != Kind::none && size > 0 && progress < share; }
  // The factor of a row's noise besides `size`: 1, or (rms) the root mean square of the row's logits. It is stored with
  // the sample, because the logits have changed when the noise is reproduced.
  [[nodiscard]] bool has_scale() const { return kind == Kind::rms; }
  [[nodiscard]] float scale_of(std::span<const float> logits) const {
    if (!has_scale()) return 1;
    double sum = 0;
    for (const float logit : logits) sum += static_cast<double>(logit) * logit;
    return static_cast<float>(std::sqrt(sum / static_cast<double>(logits.size())));
  }
  // uniform: in [-size, size]; rms: normal with standard deviation size * scale.
  void draw(Stream& stream, float scale, std::span<float> noise) const {
    for (float& value : noise) {
      value = static_cast<float>(kind == Kind::uniform ? size * (2 * static_cast<double>(stream.bits32()) * 0x1p-32 - 1)
                                                       : size * scale * stream.normal());
    }
  }
};

inline LogitNoise::Kind noise_kind_of(const std::string& name) {
  return name == "uniform" ? LogitNoise::Kind::uniform : name == "rms" ? LogitNoise::Kind::rms : LogitNoise::Kind::none;
}

}  // namespace emplace::policy
