"use strict";
// The part of a page that shows one placement: its step, memory and graph, and the results of other placers.

// Eight colours, then the same eight lighter, then darker, then again from the first.
report.colourOfDevice = (device) => `c${device % 8}${["", " lighter", " darker"][Math.floor(device / 8) % 3]}`;

// `withHead`: the step time beside others comes first (for a page that does not have it elsewhere).
report.placement = (placement, run, withHead) => {
  const element = report.element, stack = element("div", { class: "stack" });
  const say = (text, bad) => element("section", { class: `card message${bad ? " bad" : ""}` }, element("p", {}, text));
  if (placement.missing !== null) {
    stack.append(say(`The placement cannot be shown. ${placement.missing}`, true));
    return stack;
  }
  const { problem, timeline } = placement;
  const { feasible, measured, number } = placement;
  const told = (run.columns.best_step_time || []).filter((value) => value !== null).pop(), now = placement.time / 1e12;
  if (told !== undefined && number === 0 && run.status === "finished" && feasible && !measured && Math.abs(now / told - 1) > 1e-5)
    stack.append(say(`The run recorded ${report.seconds(told, 6)} for this placement, but it now takes ${report.seconds(now, 6)}: ` +
      "the problem, the machine or the program has changed since.", true));
  if (!feasible) stack.append(say(`The best placement so far is not feasible: ${placement.reason}.`, true));
  for (const warning of problem.warnings.slice(0, 3)) stack.append(say(warning));
  if (measured)
    stack.append(say(`The run measured its placements (evaluator ${placement.evaluator}); the charts below are simulated.`));
  if (withHead && placement.head) {
    const card = report.card("How fast it is");
    card.append(report.head(placement.head));
    stack.append(card);
  }
  if (placement.limits) stack.append(report.limits(placement));
  const groups = report.groups(placement);
  if (timeline) {
    const stretch = report.timeWindow(timeline.end);
    stack.append(report.timeline(placement, { stretch, clicked: groups.openGroupOf }), report.memory(placement, stretch));
  } else if (placement.loads) {
    stack.append(report.loads(placement));
  }
  stack.append(groups.card);
  if (placement.baselines.some((row) => !row.learned)) stack.append(report.baselines(placement, run));
  return stack;
};

// For a pipeline: the load of each device for a sample.
report.loads = ({ loads, problem }) => {
  const element = report.element, most = d3.max(loads, (row) => row.compute + row.transfers) || 1;
  const heads = [["device", ""], ["compute", "number"], ["transfers", "number"], ["load", "number"], ["", "bars"]]
    .map(([name, type]) => element("th", { scope: "col", class: type || null }, name));
  const bar = (value, name) => element("i", { class: name, style: `width: ${(100 * value / most).toFixed(2)}%` });
  const row = (each) => element("tr", {}, element("td", {}, problem.devices[each.device].name),
    [each.compute, each.transfers, each.compute + each.transfers].map((value) => element("td", { class: "number" }, report.ticksText(value))),
    element("td", { class: "bars" }, bar(each.compute, report.colourOfDevice(each.device)), bar(each.transfers, "open")));
  const card = report.card("Load of each device",
    "The time that each device spends on a sample of the stream: the busiest device limits the throughput. A pipeline has no single step to draw.");
  card.append(element("div", { class: "scroll" }, element("table", { class: "baselines", "data-chart": "loads" },
    element("thead", {}, element("tr", {}, heads)), element("tbody", {}, loads.map(row)))));
  return card;
};
