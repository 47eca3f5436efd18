"use strict";
// What was learned beside what other placers find, and the bound that none can beat.
report.baselines = (placement, { measure, nothing_to_draw: metricsMissing }) => {
  const { baselines, bound, bound_method } = placement, element = report.element;
  const rank = (row) => [!row.feasible, row.time === null ? Infinity : row.time];
  const rows = baselines.slice().sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return x[0] - y[0] || d3.ascending(x[1], y[1]) || b.learned - a.learned;
  });
  const times = rows.filter((row) => row.feasible && row.time !== null).map((row) => row.time);
  const longest = Math.min(d3.max(times) || 1, 4 * (d3.min(times) || 1));  // so that one bad row does not flatten the others
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
    `Each on the same problem and simulated by the same rules, made again with this page; no placement is faster than the bound. ` +
    (placement.measured ? "The run measured its placements: here they are simulated too."
      : metricsMissing ? "Nobody knows how many evaluations the run took, for its metrics are missing; placers that search get one."
      : "Placers that search get as many evaluations as the run, on large problems fewer: with more they may come further, and the run's own comparison may differ.") +
    (placement.few_baselines ? " On so large a problem only those that the recipe compares with are made." : ""));
  card.append(element("div", { class: "scroll" }, element("table", { class: "baselines", "data-chart": "baselines" },
    element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows.map(row), last))));
  return card;
};
