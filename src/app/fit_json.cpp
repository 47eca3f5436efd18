#include <fmt/core.h>

#include "app/fit_output.hpp"
#include "fit/formation.hpp"

namespace emplace::app {

namespace {

Json or_null(Bytes bytes) { return bytes == no_memory_limit ? Json() : Json(bytes); }

Json devices_json(const fit::Fit& fit) {
  Json devices = Json::array();
  for (std::size_t d = 0; d < fit.devices.size(); ++d) {
    const fit::DeviceUse& use = fit.devices[d];
    Json units = Json::array();
    if (fit.plan)
      for (std::size_t u = 0; u < fit.chain.size(); ++u)
        if (use.chain_device == fit.plan->assignment[u]) units.push_back(fit.chain.units[u].name);
    devices.push_back({{"name", use.name},
                       {"kind", use.kind},
                       {"memory_bytes", or_null(use.memory)},
                       {"weights_bytes", use.weights},
                       {"cache_bytes", use.cache},
                       {"buffers_bytes", use.buffers},
                       {"reserved_bytes", use.reserved},
                       {"free_bytes", or_null(use.free())},
                       {"units", std::move(units)}});
  }
  return devices;
}

Json alternatives_json(const fit::Fit& fit) {
  Json all = Json::array();
  for (const fit::Alternative& each : fit.alternatives)
    all.push_back({{"tensor_parallel", each.tensor},
                   {"replicas", each.replicas},
                   {"tokens_per_s", each.tokens_per_s ? Json(*each.tokens_per_s) : Json()}});
  return all;
}

// What each runtime reads for this plan, or why it cannot be told it.
Json runtimes_json(const FitReport& report) {
  Json all = Json::object();
  const fit::Fit& fit = report.fit;
  for (const fit::RuntimeEntry& runtime : fit::runtimes()) {
    const std::string why = fit::why_unsayable(runtime.rules, fit.chain, fit.kinds, fit.plan->assignment, fit.parallel);
    Json& said = all[runtime.name] = {{"text", nullptr}, {"reason", nullptr}};
    if (!why.empty()) {
      said["reason"] = why;
      continue;
    }
    said["text"] = runtime
                       .say({report.request.model, fit.chain, fit.plan->assignment, fit.plan->order, fit.kinds,
                             report.request.file, fit::of_one_replica(report.request.scenario, fit.parallel.replicas),
                             fit.parallel})
                       .text;
  }
  return all;
}

}  // namespace

Json to_json(const FitReport& report) {
  const fit::Fit& fit = report.fit;
  const fit::FitRequest& request = report.request;
  Json json{{"model", request.model.name},
            {"architecture", request.model.architecture},
            {"machine", request.machine.name},
            {"context", request.scenario.context},
            {"sequences", request.scenario.sequences},
            {"kv_type", request.scenario.kv_type},
            {"objective", request.aim == fit::Aim::latency ? "latency" : "throughput"},
            {"runtime", request.runtime->name},
            {"fits", fit.plan.has_value()},
            {"least_bytes", fit.least},
            {"available_bytes", or_null(fit.available)},
            {"tokens_per_s", nullptr},
            {"step_s", nullptr},
            {"first_token_s", nullptr},
            {"prompt", request.prompt},
            {"upper_bound_tokens_per_s", fit.bound_tokens_per_s > 0 ? Json(fit.bound_tokens_per_s) : Json()},
            {"proved_optimal", fit.proved},
            {"method", nullptr},
            {"tensor_parallel", fit.plan ? Json(fit.parallel.tensor) : Json()},
            {"replicas", fit.plan ? Json(fit.parallel.replicas) : Json()},
            {"alternatives", alternatives_json(fit)}};
  json["greedy"] = Json::object();
  for (const fit::GreedyResult& greedy : fit.greedy)
    json["greedy"][greedy.name] = greedy.plan ? Json(greedy.plan->tokens_per_s) : Json();
  json["limits"] = Json::array();
  for (const fit::TimeShare& share : fit.shares)
    json["limits"].push_back(
        {{"name", share.name}, {"share", share.share}, {"cause", share.cause.empty() ? Json() : Json(share.cause)}});
  json["devices"] = devices_json(fit);
  json["text"] = nullptr;
  json["notes"] = fit.saying.notes;
  json["runtimes"] = Json::object();
  json["reason"] = fit.plan ? Json() : Json(why_nothing_fits(report));
  json["longest_context"] = fit.plan ? Json() : Json(report.longest_context);
  if (fit.plan) {
    json["tokens_per_s"] = fit.plan->tokens_per_s;
    json["step_s"] = to_seconds(fit.plan->ticks);
    json["first_token_s"] = fit.first_token_s;
    json["method"] = fit.plan->method;
    json["text"] = fit.saying.text;
    json["runtimes"] = runtimes_json(report);
  }
  json["what_if"] = Json::array();
  for (const WhatIf& cell : report.what_if)
    json["what_if"].push_back({{"context", cell.context},
                               {"sequences", cell.sequences},
                               {"tokens_per_s", cell.tokens_per_s ? Json(*cell.tokens_per_s) : Json()}});
  return json;
}

}  // namespace emplace::app
