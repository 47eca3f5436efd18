"use strict";
// A table of the learned placement, the placements of other placers, and the lower bound.
report.baselines = (placement, { measure, nothing_to_draw: metricsMissing }) => {
  const { baselines, bound, bound_method } = placement, element = report.element;
  const rank = (row) => [!row.feasible, row.time === null ? Infinity : row.time];
  const rows = baselines.slice().sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return x[0] - y[0] || d3.ascending(x[1], y[1]) || b.learned - a.learned;
  });
  const times = rows.filter((row) => row.feasible && row.time !== null).map((row) => row.time);
  const longest = Math.min(d3.max(times) || 1, 4 * (d3.min(times) || 1));  // longer bars are cut, so that one slow placement does not make all other bars short
  const bar = (time, name) => element("td", { class: "bars", "aria-hidden": "true" }, time === null ? null
    : element("i", { class: name + (time > longest ? " cut" : ""), style: `width: ${(100 * Math.min(1, time / longest)).toFixed(2)}%` }));
  const measured = report.measure("seconds", times.map((time) => time / 1e12));
  const timeText = (time) => time === null ? "–" : measured.tick(time / 1e12);
  const number = (text, name = "number") => element("td", { class: name }, text);
  const row = (each) => element("tr", { class: each.learned ? "learned" : each.feasible ? null : "infeasible" },
    element("td", {}, each.learned ? `${each.method} (learned)` : each.method),
    number(timeText(each.time)),
    number(each.time === null || bound <= 0 ? "–" : each.time === bound ? "0 %" : `+${report.percent(each.time / bound - 1)}`),
    bar(each.feasible ? each.time : null, each.learned ? "learned" : ""),
    element("td", { class: "text" }, each.feasible ? "yes" : `no: ${each.reason || "no answer"}`),
    number(each.learned && metricsMissing ? "–" : report.count(each.evaluations)));
  const last = element("tr", { class: "bound" }, element("td", {}, "lower bound"), number(timeText(bound)), number("0 %"),
    bar(bound, "bound"), element("td", { class: "text" }, `certified: ${bound_method}`), number(""));
  const heads = [["placer", ""], [`${measure} (${measured.unit})`, "number"], ["over the bound", "number"], ["", "bars"], ["feasible", ""],
    ["evaluations", "number"]].map(([name, type]) => element("th", { scope: "col", class: type || null }, name));
  const card = report.card("Beside other placers",
    `All on the same problem, simulated by the same rules, and made again for this page; no placement is faster than the bound. ` +
    (placement.measured ? "The run measured its placements; this table has their simulated times."
      : metricsMissing ? "The metrics of the run are missing, so its number of evaluations is unknown; placers that search get one."
      : "Placers that search get as many evaluations as the run, on large problems fewer: with more they may find better placements, and the comparison that the run printed may differ.") +
    (placement.few_baselines ? " The problem is large, so only the placers that the recipe names in compare are run." : ""));
  card.append(element("div", { class: "scroll" }, element("table", { class: "baselines", "data-chart": "baselines" },
    element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows.map(row), last))));
  return card;
};
