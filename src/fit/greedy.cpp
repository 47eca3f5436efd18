#include "fit/greedy.hpp"

#include <algorithm>
#include <array>

namespace emplace::fit {

namespace {

// Whole layers and the output, in the order of the chain. The first `on_hosts` of them are on hosts.
class LayerRule {
 public:
  explicit LayerRule(const GreedyRequest& request) : request_(request), chain_(request.chain) {
    for (std::size_t u = 0; u < chain_.size(); ++u) {
      if (chain_.units[u].kind == UnitKind::input) continue;
      if (items_.empty() || chain_.units[u].layer < 0 || chain_.units[u].layer != chain_.units[items_.back()[0]].layer)
        items_.emplace_back();
      items_.back().push_back(u);
    }
  }

  [[nodiscard]] std::size_t size() const { return items_.size(); }

  // Starts again with the first items on the hosts; false if they do not fit there.
  bool begin(std::size_t on_hosts) {
    assignment_.assign(chain_.size(), 0);
    free_ = chain_.room;
    if (on_hosts > 0 && request_.hosts.empty()) return false;
    if (request_.input_on_host && !put_input(request_.hosts.empty() ? request_.accelerators[0] : request_.hosts[0]))
      return false;
    std::size_t host = 0;
    for (std::size_t i = 0; i < on_hosts; ++i) {
      while (host < request_.hosts.size() && !put(i, request_.hosts[host])) ++host;
      if (host == request_.hosts.size()) return false;
    }
    return true;
  }

  bool put(std::size_t item, std::size_t device) {
    const bool with_input = item == 0 && !request_.input_on_host;
    Bytes bytes = with_input ? input_bytes() : 0;
    for (const std::size_t u : items_[item]) {
      bytes += chain_.units[u].bytes();
      if (chain_.time_on(u, device) == cannot_run) return false;
    }
    if (bytes > free_[device]) return false;
    if (with_input && !put_input(device)) return false;
    for (const std::size_t u : items_[item]) take(u, device);
    return true;
  }

  [[nodiscard]] const Assignment& assignment() const { return assignment_; }

 private:
  [[nodiscard]] bool has_input() const { return chain_.units[0].kind == UnitKind::input; }
  [[nodiscard]] Bytes input_bytes() const { return has_input() ? chain_.units[0].bytes() : 0; }

  bool put_input(std::size_t device) {
    if (!has_input()) return true;
    if (chain_.units[0].bytes() > free_[device] || chain_.time_on(0, device) == cannot_run) return false;
    take(0, device);
    return true;
  }

  void take(std::size_t u, std::size_t device) {
    assignment_[u] = static_cast<std::uint8_t>(device);
    if (free_[device] != no_memory_limit) free_[device] -= chain_.units[u].bytes();
  }

  const GreedyRequest& request_;
  const Chain& chain_;
  std::vector<std::vector<std::size_t>> items_;
  Assignment assignment_;
  std::vector<Bytes> free_;
};

// As many layers as fit are on the accelerators, each of which is filled before the next gets any.
std::optional<Assignment> fill_in_order(const GreedyRequest& request) {
  LayerRule rule(request);
  for (std::size_t on_hosts = 0; on_hosts <= rule.size(); ++on_hosts) {
    if (!rule.begin(on_hosts)) continue;
    std::size_t next = 0, item = on_hosts;
    for (; item < rule.size(); ++item) {
      while (next < request.accelerators.size() && !rule.put(item, request.accelerators[next])) ++next;
      if (next == request.accelerators.size()) break;
    }
    if (item == rule.size()) return rule.assignment();
  }
  return std::nullopt;
}

// As many layers as fit are on the accelerators, divided by their memory as llama.cpp's --tensor-split does by default:
// layer i of n goes to the first device whose cumulative share is above i / n (llama_model::load_tensors).
std::optional<Assignment> proportional(const GreedyRequest& request) {
  std::vector<double> share;
  double sum = 0;
  for (const std::uint8_t d : request.accelerators) {
    const Bytes room = request.chain.room[d];
    sum += room == no_memory_limit ? 1e15 : static_cast<double>(room);
    share.push_back(sum);
  }
  LayerRule rule(request);
  for (std::size_t on_hosts = 0; on_hosts <= rule.size(); ++on_hosts) {
    if (!rule.begin(on_hosts)) continue;
    const std::size_t n = rule.size() - on_hosts;
    std::size_t i = 0;
    for (; i < n && sum > 0; ++i) {
      const double at = static_cast<double>(i) / static_cast<double>(n) * sum;
      const auto device = static_cast<std::size_t>(std::ranges::upper_bound(share, at) - share.begin());
      if (!rule.put(on_hosts + i, request.accelerators[std::min(device, share.size() - 1)])) break;
    }
    if (i == n) return rule.assignment();
  }
  return std::nullopt;
}

}  // namespace

std::span<const GreedyRule> greedy_rules() {
  static constexpr std::array rules = {
      GreedyRule{"fill-in-order", "whole layers, each device filled before the next; what is left on the host",
                 fill_in_order},
      GreedyRule{"proportional", "whole layers, divided by the devices' memory; what does not fit on the host",
                 proportional}};
  return rules;
}

}  // namespace emplace::fit
