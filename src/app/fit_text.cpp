#include <fmt/core.h>

#include <algorithm>

#include "app/fit_output.hpp"
#include "base/text.hpp"
#include "fit/formation.hpp"

namespace emplace::app {

namespace {

using fit::DeviceUse;
using fit::Fit;

std::string speed(double tokens_per_s) { return fmt::format("{:.{}f}", tokens_per_s, tokens_per_s < 100 ? 2 : 0); }
std::string share_text(double part) { return fmt::format("{:.0f} %", 100 * part); }
std::string memory_text(Bytes bytes) { return bytes == no_memory_limit ? "unlimited" : human_bytes(bytes); }

std::string subject(const FitReport& report) {
  const fit::FitRequest& request = report.request;
  const language::Scenario& scenario = request.scenario;
  return fmt::format("{} ({}, {} layers, {} parameters, {} of weights) on {}\ncontext {}, {} sequence{}, KV cache {}\n",
                     printable(request.model.name), printable(request.model.architecture), request.model.layers.size(),
                     human_count(static_cast<double>(request.model.parameters())),
                     human_bytes(request.model.weight_bytes()), printable(request.machine.name), scenario.context,
                     scenario.sequences, scenario.sequences == 1 ? "" : "s", printable(scenario.kv_type));
}

std::string room_text(const Fit& fit) {
  std::vector<std::string> parts;
  for (const DeviceUse& use : fit.devices)
    if (use.units > 0 && use.memory != no_memory_limit)
      parts.push_back(fmt::format("{} left on {}", human_bytes(use.free()), printable(use.name)));
  return parts.empty() ? "yes" : "yes: " + join(parts, ", ");
}

std::string speed_text(const FitReport& report) {
  const Fit& fit = report.fit;
  std::string text = speed(fit.plan->tokens_per_s) + " tokens/s";
  if (report.request.scenario.sequences > 1)
    text += fmt::format(" in all, {} each",
                        speed(fit.plan->tokens_per_s / static_cast<double>(report.request.scenario.sequences)));
  return text + fmt::format("; first token of a prompt of {} after {}", report.request.prompt,
                            human_seconds(fit.first_token_s));
}

std::string limit_text(const Fit& fit) {
  constexpr std::size_t most = 2;
  std::vector<std::string> parts;
  for (const fit::TimeShare& share : fit.shares)
    if (parts.size() < most && share.share >= 0.05)
      parts.push_back(fmt::format("{} for {} of a step{}", printable(share.name), share_text(share.share),
                                  share.cause.empty() ? "" : " (" + share.cause + ")"));
  return join(parts, ", ");
}

std::string greedy_text(const Fit& fit) {
  std::vector<std::string> parts;
  for (const fit::GreedyResult& greedy : fit.greedy)
    parts.push_back(greedy.plan ? fmt::format("{} {} tokens/s ({:.2f} times as fast)", greedy.name,
                                              speed(greedy.plan->tokens_per_s),
                                              fit.plan->tokens_per_s / greedy.plan->tokens_per_s)
                                : greedy.name + " does not fit");
  return join(parts, ", ");
}

std::string bound_text(const FitReport& report) {
  const Fit& fit = report.fit;
  if (fit.bound_tokens_per_s <= 0) return "none was found";
  const double more = fit.bound_tokens_per_s / fit.plan->tokens_per_s - 1;
  if (fit.proved || more <= 0)
    return fmt::format("this is the best plan for {}: none passes more than {} tokens/s", report.request.runtime->name,
                       speed(fit.bound_tokens_per_s));
  return fmt::format("no plan for {} passes more than {} tokens/s: at most {:.1f} % more is possible",
                     report.request.runtime->name, speed(fit.bound_tokens_per_s), 100 * more);
}

std::string alternative_text(const fit::Alternative& alternative) {
  return fmt::format("{}: {}", fit::name_of(alternative.tensor, alternative.replicas),
                     alternative.tokens_per_s ? speed(*alternative.tokens_per_s) + " tokens/s" : "does not fit");
}

// The plan's way of using the devices, then the fastest others.
std::string parallel_text(const Fit& fit) {
  constexpr std::size_t most = 4;
  std::vector<fit::Alternative> list = fit.alternatives;
  if (list.size() < 2) return "";
  const auto is_taken = [&](const fit::Alternative& each) {
    return each.tensor == fit.parallel.tensor && each.replicas == fit.parallel.replicas;
  };
  std::ranges::stable_sort(list, [&](const fit::Alternative& a, const fit::Alternative& b) {
    if (is_taken(a) != is_taken(b)) return is_taken(a);
    return a.tokens_per_s.value_or(0) > b.tokens_per_s.value_or(0);
  });
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(most, list.size()); ++i) parts.push_back(alternative_text(list[i]));
  return join(parts, "; ");
}

// "4 attention, 3 feed_forward": the units of a device by kind. Of a layer it may have only a part.
std::string holds(const Fit& fit, std::size_t d) {
  std::vector<std::pair<fit::UnitKind, std::size_t>> counts;
  for (std::size_t u = 0; u < fit.chain.size(); ++u) {
    if (fit.devices[d].chain_device != fit.plan->assignment[u]) continue;
    const auto found =
        std::ranges::find(counts, fit.chain.units[u].kind, &std::pair<fit::UnitKind, std::size_t>::first);
    if (found == counts.end())
      counts.emplace_back(fit.chain.units[u].kind, 1);
    else
      ++found->second;
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : counts)
    parts.push_back(kind == fit::UnitKind::input || kind == fit::UnitKind::output
                        ? std::string(name_of(kind))
                        : fmt::format("{} {}", count, name_of(kind)));
  const std::string text = join(parts, ", ");
  return fit.parallel.tensor == 1 ? text : fmt::format("1/{} of {}", fit.parallel.tensor, text);
}

std::string device_table(const Fit& fit) {
  TextTable table({"device", "memory", "weights", "KV cache", "buffers", "reserved", "free", "holds"});
  std::size_t idle = 0;
  for (std::size_t d = 0; d < fit.devices.size(); ++d) {
    const DeviceUse& use = fit.devices[d];
    if (use.units == 0) {
      ++idle;
      continue;
    }
    table.add({printable(use.name), memory_text(use.memory), human_bytes(use.weights), human_bytes(use.cache),
               human_bytes(use.buffers), human_bytes(use.reserved), memory_text(use.free()), holds(fit, d)});
  }
  return table.str() + (idle == 0 ? "" : fmt::format("{} device{} nothing\n", idle, idle == 1 ? " holds" : "s hold"));
}

std::string what_if_table(const std::vector<WhatIf>& cells) {
  std::vector<std::int64_t> contexts;
  for (const WhatIf& cell : cells)
    if (std::ranges::find(contexts, cell.context) == contexts.end()) contexts.push_back(cell.context);
  std::vector<std::string> header = {"tokens/s at context"};
  for (const std::int64_t context : contexts) header.push_back(fmt::format("{}", context));
  TextTable table(header);
  for (std::size_t i = 0; i < cells.size(); i += contexts.size()) {
    std::vector<std::string> row = {
        fmt::format("{} sequence{}", cells[i].sequences, cells[i].sequences == 1 ? "" : "s")};
    for (std::size_t j = 0; j < contexts.size(); ++j)
      row.push_back(cells[i + j].tokens_per_s ? speed(*cells[i + j].tokens_per_s) : "does not fit");
    table.add(row);
  }
  return table.str();
}

}  // namespace

std::string text_of(const FitReport& report) {
  const Fit& fit = report.fit;
  std::string text = subject(report);
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<11}{}\n", name, value);
  };
  if (!fit.plan) {
    line("fits", "no");
  } else {
    line("fits", room_text(fit));
    line("speed", speed_text(report));
    line("limit", limit_text(fit));
    line("parallel", parallel_text(fit));
    line("compared", greedy_text(fit));
    line("bound", bound_text(report));
    text += "\n" + device_table(fit) + "\n";
    text += fmt::format("for {}:\n{}", report.request.runtime->name, fit.saying.text);
    for (const std::string& note : fit.saying.notes) line("note", note);
  }
  if (!report.what_if.empty()) text += "\n" + what_if_table(report.what_if);
  if (fit.plan)
    line("\nnext", report.draws_timeline
                       ? "the line above\n"
                       : "the line above; --timeline token.svg draws how a token passes the devices\n");
  return text;
}

std::string why_nothing_fits(const FitReport& report) {
  const Fit& fit = report.fit;
  const std::string& file = report.request.file;
  const std::string need =
      fmt::format("a context of {} needs at least {}", report.request.scenario.context, human_bytes(fit.least));
  std::string text =
      fit.available != no_memory_limit && fit.available < fit.least
          ? fmt::format("{}: {}, and {} has {} for {}: {} are missing", file, need, report.request.machine_name,
                        human_bytes(fit.available), report.request.runtime->name,
                        human_bytes(fit.least - fit.available))
          : fmt::format("{}: {}, and no division of its layers among the devices of {} was found that has room", file,
                        need, report.request.machine_name);
  text +=
      report.longest_context > 0 ? fmt::format("; a context of {} fits", report.longest_context) : "; no context fits";
  return text;
}

}  // namespace emplace::app
