#include "policy/placeto/network.hpp"

#include <numeric>

#include "emplace/base/error.hpp"
#include "policy/common/op_features.hpp"

namespace emplace::policy {

namespace {

// Repeats the rows of `lists` for each state, with the items shifted to the state's rows.
void repeat(const Lists& lists, std::size_t states, Lists& out) {
  out.begin.assign(1, 0);
  out.items.clear();
  const auto units = static_cast<std::uint32_t>(lists.rows());
  for (std::uint32_t b = 0; b < states; ++b)
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      for (const std::uint32_t other : lists[unit]) out.items.push_back(b * units + other);
      out.begin.push_back(static_cast<std::uint32_t>(out.items.size()));
    }
}

void itself_where_any(const Lists& lists, Lists& out) {
  out.begin.assign(1, 0);
  out.items.clear();
  for (std::uint32_t row = 0; row < lists.rows(); ++row) {
    if (!lists[row].empty()) out.items.push_back(row);
    out.begin.push_back(static_cast<std::uint32_t>(out.items.size()));
  }
}

void relatives(const Lists& lists, std::span<const std::uint32_t> current, PlacetoPool& out) {
  out.rows.clear();
  out.lists.begin.assign(1, 0);
  const auto units = static_cast<std::uint32_t>(lists.rows());
  for (std::uint32_t b = 0; b < current.size(); ++b) {
    for (const std::uint32_t other : lists[current[b]]) out.rows.push_back(b * units + other);
    out.lists.begin.push_back(static_cast<std::uint32_t>(out.rows.size()));
  }
  out.lists.items.resize(out.rows.size());
  std::iota(out.lists.items.begin(), out.lists.items.end(), 0u);
}

template <class T>
class Network {
 public:
  Network(nn::Tape<T>& tape, const PlacetoParameters& parameters) : tape_(tape), p_(parameters) {}

  PlacetoVars operator()(nn::Matrix<const T> states, const PlacetoBlock& block) {
    const nn::Var x = fnn(p_.node, tape_.constant(states), nn::Activation::none);
    const std::array both = {messages(p_.from_parents, x, block.parents, block.itself_if_parents),
                             messages(p_.from_children, x, block.children, block.itself_if_children)};
    const nn::Var h = nn::concat_columns<T>(tape_, both);
    const std::array around = {pool(p_.ancestors, h, block.ancestors), pool(p_.descendants, h, block.descendants),
                               pool(p_.rest, h, block.rest), nn::gather_rows(tape_, h, block.current), waves(block)};
    const std::size_t parts = around.size() - (p_.shape().position_waves == 0 ? 1 : 0);
    const nn::Var read = nn::concat_columns<T>(tape_, std::span(around).first(parts));
    return {h, fnn(p_.classifier, read, nn::Activation::none)};
  }

 private:
  nn::Var fnn(const PlacetoParameters::Fnn& layers, nn::Var x, nn::Activation last) {
    for (std::size_t i = 0; i < layers.weights.size(); ++i)
      x = nn::linear(tape_, x, tape_.parameter(layers.weights[i]), tape_.parameter(layers.biases[i]),
                     i + 1 < layers.weights.size() ? nn::Activation::relu : last);
    return x;
  }

  // y <- x + [has neighbours] relu(g(sum over neighbours of relu(f(y)))), k times, all units at once.
  nn::Var messages(const PlacetoParameters::Gather& by, nn::Var x, const Lists& neighbours, const Lists& if_any) {
    nn::Var y = x;
    for (int round = 0; round < p_.shape().message_rounds; ++round) {
      const nn::Var sent = fnn(by.before, y, nn::Activation::relu);
      const nn::Var got = fnn(by.after, nn::segment_sum(tape_, sent, neighbours), nn::Activation::relu);
      y = nn::add(tape_, x, nn::segment_sum(tape_, got, if_any));
    }
    return y;
  }

  // The three pools have no row in common, so together they process each row once.
  nn::Var pool(const PlacetoParameters::Gather& by, nn::Var h, const PlacetoPool& set) {
    const nn::Var each = fnn(by.before, nn::gather_rows(tape_, h, set.rows), nn::Activation::relu);
    const nn::Var all =
        p_.shape().normalize ? nn::segment_mean(tape_, each, set.lists) : nn::segment_sum(tape_, each, set.lists);
    return fnn(by.after, all, nn::Activation::relu);
  }

  nn::Var waves(const PlacetoBlock& block) {
    const nn::Matrix<T> values = tape_.matrix(block.current.size(), 2 * p_.shape().position_waves);
    EMPLACE_CHECK(values.all().size() == block.waves.size());
    std::ranges::copy(block.waves, values.all().begin());
    return tape_.constant(values);
  }

  nn::Tape<T>& tape_;
  const PlacetoParameters& p_;
};

}  // namespace

void fill_placeto_block(const PlacetoGraph& graph, const Grouping& grouping, std::span<const std::uint32_t> current,
                        std::size_t position_waves, PlacetoBlock& block) {
  if (block.states != current.size()) {
    block.states = current.size();
    repeat(graph.parents, block.states, block.parents);
    repeat(graph.children, block.states, block.children);
    itself_where_any(block.parents, block.itself_if_parents);
    itself_where_any(block.children, block.itself_if_children);
  }
  relatives(graph.ancestors, current, block.ancestors);
  relatives(graph.descendants, current, block.descendants);
  relatives(graph.rest, current, block.rest);
  block.current.clear();
  block.allowed.clear();
  block.waves.clear();
  const std::size_t waves = 2 * position_waves;
  if (block.waves_of_unit.empty()) {
    block.waves_of_unit.resize(graph.count() * waves);
    for (std::size_t unit = 0; unit < graph.count(); ++unit)
      set_position_waves(unit, graph.count(), std::span(block.waves_of_unit).subspan(unit * waves, waves));
  }
  for (std::size_t b = 0; b < current.size(); ++b) {
    block.current.push_back(static_cast<std::uint32_t>(b * graph.count() + current[b]));
    for (std::size_t d = 0; d < grouping.device_count(); ++d)
      block.allowed.push_back(grouping.allows(current[b], d) ? 1 : 0);
    const auto row = std::span(block.waves_of_unit).subspan(current[b] * waves, waves);
    block.waves.insert(block.waves.end(), row.begin(), row.end());
  }
}

PlacetoParameters::PlacetoParameters(const PlacetoShape& shape) : shape_(shape) {
  const std::size_t d = shape.features;
  node = shape.small ? fnn("node", {d, d, d}) : fnn("node", {d, d, d, d});
  from_parents = gather("from_parents", d);
  from_children = gather("from_children", d);
  ancestors = gather("ancestors", 2 * d);
  descendants = gather("descendants", 2 * d);
  rest = gather("rest", 2 * d);
  const std::size_t waves = 2 * shape.position_waves;
  classifier = shape.small ? fnn("classifier", {8 * d + waves, 8 * d, shape.devices})
                           : fnn("classifier", {8 * d + waves, 16 * d + waves, 8 * d, shape.devices});
}

PlacetoParameters::Fnn PlacetoParameters::fnn(const std::string& name, std::initializer_list<std::size_t> sizes) {
  Fnn layers;
  for (auto size = sizes.begin(); size + 1 != sizes.end(); ++size) {
    const std::string at = fmt::format("{}.{}.", name, layers.weights.size());
    layers.weights.push_back(layout_.add(at + "weight", size[0], size[1], nn::glorot_uniform()));
    layers.biases.push_back(layout_.add(at + "bias", 1, size[1], nn::zeros));
  }
  return layers;
}

PlacetoParameters::Gather PlacetoParameters::gather(const std::string& name, std::size_t width) {
  if (shape_.small) return {fnn(name + ".before", {width, width}), fnn(name + ".after", {width, width})};
  return {fnn(name + ".before", {width, width, width}), fnn(name + ".after", {width, width, width})};
}

template <class T>
PlacetoVars placeto_network(nn::Tape<T>& tape, const PlacetoParameters& parameters, nn::Matrix<const T> states,
                            const PlacetoBlock& block) {
  return Network<T>(tape, parameters)(states, block);
}

template PlacetoVars placeto_network(nn::Tape<float>&, const PlacetoParameters&, nn::Matrix<const float>,
                                     const PlacetoBlock&);
template PlacetoVars placeto_network(nn::Tape<double>&, const PlacetoParameters&, nn::Matrix<const double>,
                                     const PlacetoBlock&);

}  // namespace emplace::policy
