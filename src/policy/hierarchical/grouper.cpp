#include "policy/hierarchical/grouper.hpp"

#include <algorithm>
#include <map>

#include "policy/common/categorical_draw.hpp"
#include "policy/common/network_policy.hpp"

namespace emplace::policy {

namespace {

constexpr std::size_t chunk_rows = 256;

}  // namespace

template <class Visit>
void Grouper::for_each_chunk(const UnitTable& units, std::span<const float> parameters, std::span<float> gradient,
                             Visit&& visit) {
  const std::size_t width = network_.sizes.op_constants();
  for (std::size_t first = 0; first < units.count(); first += chunk_rows) {
    const std::size_t rows = std::min(chunk_rows, units.count() - first);
    chunk_types_.begin.assign(1, 0);
    chunk_types_.items.clear();
    for (std::size_t unit = first; unit < first + rows; ++unit) {
      for (const std::uint32_t type : units.first_type[unit]) chunk_types_.items.push_back(type);
      chunk_types_.begin.push_back(static_cast<std::uint32_t>(chunk_types_.items.size()));
    }
    tape_.begin(parameters, gradient);
    nn::Var logits =
        grouper_logits<float>(tape_, network_, chunk_types_, {units.first_op.data() + first * width, rows, width});
    if (network_.sizes.order_prior > 0)
      logits = add(tape_, logits, order_prior(std::span(units.order).subspan(first, rows)));
    require_finite(tape_.value(logits).all());
    visit(first, logits);
  }
}

nn::Var Grouper::order_prior(std::span<const float> order) {
  const std::size_t groups = network_.sizes.groups;
  const nn::Matrix<float> prior = tape_.matrix(order.size(), groups);
  const auto weight = static_cast<float>(network_.sizes.order_prior);
  for (std::size_t r = 0; r < order.size(); ++r)
    for (std::size_t g = 0; g < groups; ++g) {
      const float distance = order[r] * static_cast<float>(groups) - (static_cast<float>(g) + 0.5F);
      prior(r, g) = -weight * distance * distance;
    }
  return tape_.constant(prior);
}

double Grouper::bytes(double groupings) const {
  const HierarchicalSizes& sizes = network_.sizes;
  const auto floats = static_cast<double>(2 * (sizes.type_width + sizes.op_constants()) + 4 * sizes.grouper_hidden);
  constexpr double of_grouping = 7;  // noise, logits, probabilities, coefficients, gradient
  return sizeof(float) * static_cast<double>(chunk_rows) *
         (floats + (4 + of_grouping * groupings) * static_cast<double>(sizes.groups));
}

Stream Grouper::noise_stream(std::uint64_t update, std::uint32_t index) const {
  return Stream({.seed = seed_, .purpose = Purpose::grouper_noise, .update = update, .index = index});
}

void Grouper::draw(const UnitTable& units, std::span<const float> parameters, std::span<GroupingDraw> draws) {
  std::vector<Stream> streams, noises;
  for (GroupingDraw& each : draws) {
    streams.push_back(
        Stream({.seed = seed_, .purpose = Purpose::sample_grouping, .update = each.update, .index = each.index}));
    noises.push_back(noise_stream(each.update, each.index));
    each.groups.clear();
    each.scales.clear();
  }
  std::vector<float> row(network_.sizes.groups), noise(row.size()), weights(row.size());
  for_each_chunk(units, parameters, {}, [&](std::size_t, nn::Var logits) {
    const nn::Matrix<const float> values = tape_.value(logits);
    for (std::size_t i = 0; i < draws.size(); ++i)
      for (std::size_t r = 0; r < values.rows; ++r) {
        std::ranges::copy(values.row(r), row.begin());
        if (!draws[i].greedy && noise_.is_on(draws[i].progress)) {
          const float scale = noise_.scale_of(row);
          if (noise_.has_scale()) draws[i].scales.push_back(scale);
          noise_.draw(noises[i], scale, noise);
          for (std::size_t g = 0; g < row.size(); ++g) row[g] += noise[g];
        }
        draws[i].groups.push_back(draws[i].greedy ? likeliest<float>(row, {})
                                                  : emplace::policy::draw<float>(row, {}, streams[i], weights));
      }
  });
}

void Grouper::draw_uniformly(std::size_t units, GroupingDraw& draw) const {
  Stream stream({.seed = seed_, .purpose = Purpose::sample_grouping, .update = draw.update, .index = draw.index});
  draw.groups.resize(units);
  for (std::uint8_t& group : draw.groups)
    group = static_cast<std::uint8_t>(stream.below(static_cast<std::uint32_t>(network_.sizes.groups)));
}

std::vector<Grouper::Fold> Grouper::folds_of(std::span<const Rollout> rollouts,
                                             std::span<const std::size_t> members) const {
  std::vector<Fold> folds;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> known;
  for (const std::size_t s : members) {
    const bool is_noisy = noise_.is_on(rollouts[s].progress);
    const std::pair key(is_noisy ? rollouts[s].update : 0, is_noisy ? index_of(rollouts[s]) : 0);
    const auto [at, fresh] = known.try_emplace(key, folds.size());
    if (fresh) folds.push_back({is_noisy, noise_stream(key.first, key.second), {}});
    folds[at->second].members.push_back(s);
  }
  return folds;
}

nn::Var Grouper::with_noise(nn::Var logits, std::size_t first, Fold& fold, std::span<const Rollout> rollouts) {
  if (!fold.is_noisy) return logits;
  const nn::Matrix<float> noise = tape_.matrix(tape_.value(logits).rows, network_.sizes.groups);
  const Rollout& any = rollouts[fold.members.front()];
  for (std::size_t r = 0; r < noise.rows; ++r)
    noise_.draw(fold.noise, noise_.has_scale() ? any.observation.at(first + r) : 1.0F, noise.row(r));
  return add(tape_, logits, tape_.constant(noise));
}

void Grouper::forward(const UnitTable& units, std::span<const float> parameters, std::span<const Rollout> rollouts,
                      std::span<const std::size_t> members, LogProbabilities& log) {
  std::vector<Fold> folds = folds_of(rollouts, members);
  for_each_chunk(units, parameters, {}, [&](std::size_t first, nn::Var logits) {
    for (Fold& fold : folds) {
      const auto rows = nn::categorical<float>(tape_, with_noise(logits, first, fold, rollouts), {});
      double entropy = 0;
      for (const double each : rows.entropy) entropy += each;
      for (const std::size_t s : fold.members) {
        for (std::size_t r = 0; r < rows.scores.rows; ++r)
          log.value[log.begin[s] + first + r] = rows.log_probability(r, rollouts[s].actions[first + r]);
        log.entropy[s] += entropy_share_ * entropy;
      }
    }
  });
}

void Grouper::backward(const UnitTable& units, std::span<const float> parameters, std::span<float> gradient,
                       std::span<const Rollout> rollouts, std::span<const std::size_t> members,
                       std::span<const std::size_t> begin, std::span<const double> coefficients,
                       double entropy_weight) {
  std::vector<Fold> folds = folds_of(rollouts, members);
  for_each_chunk(units, parameters, gradient, [&](std::size_t first, nn::Var logits) {
    for (Fold& fold : folds) {
      const auto rows = nn::categorical<float>(tape_, with_noise(logits, first, fold, rollouts), {});
      const nn::Matrix<float> weight = tape_.matrix(rows.scores.rows, network_.sizes.groups);
      std::ranges::fill(weight.all(), 0.0F);
      for (const std::size_t s : fold.members)
        for (std::size_t r = 0; r < weight.rows; ++r)
          weight(r, rollouts[s].actions[first + r]) += static_cast<float>(coefficients[begin[s] + first + r]);
      nn::seed_folded<float>(tape_, rows, weight,
                             entropy_weight * entropy_share_ * static_cast<double>(fold.members.size()));
    }
    tape_.backward();
  });
}

}  // namespace emplace::policy
