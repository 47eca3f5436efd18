"use strict";
// A table of the placements of other placers, of the training after as many evaluations as these have, and of the lower
// bound. The whole training stands above it, without a rank, if it had more evaluations than the placers.
report.baselines = (placement, { measure, nothing_to_draw: metricsMissing }) => {
  const { baselines, bound, bound_method } = placement, element = report.element;
  const rank = (row) => [!row.feasible, row.time === null ? Infinity : row.time];
  const part = baselines.find((row) => row.part), whole = baselines.find((row) => row.learned && !row.part);
  const rows = baselines.filter((row) => !part || row !== whole).sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return x[0] - y[0] || d3.ascending(x[1], y[1]) || b.learned - a.learned;
  });
  const times = baselines.filter((row) => row.feasible && row.time !== null).map((row) => row.time);
  const longest = Math.min(d3.max(times) || 1, 4 * (d3.min(times) || 1));  // longer bars are cut, so that one slow placement does not make all other bars short
  const bar = (time, name) => element("td", { class: "bars", "aria-hidden": "true" }, time === null ? null
    : element("i", { class: name + (time > longest ? " cut" : ""), style: `width: ${(100 * Math.min(1, time / longest)).toFixed(2)}%` }));
  const measured = report.measure("seconds", times.map((time) => time / 1e12));
  const timeText = (time) => time === null ? "–" : measured.tick(time / 1e12);
  const number = (text, name = "number") => element("td", { class: name }, text);
  // What the training had at the same point, in bold where it was better.
  const then = (row, time) => row.learned ? number("") : number(timeText(time),
    `number${time !== null && (!row.feasible || row.time === null || time < row.time) ? " ahead" : ""}`);
  const nameOf = (row) => !row.learned ? row.method
    : row === whole && part ? `${row.method} (learned), all of it` : `${row.method} (learned)`;
  const line = (row, place) => element("tr", { class: row.learned ? "learned" : row.feasible ? null : "infeasible" },
    number(place), element("td", {}, nameOf(row)), number(timeText(row.time)),
    number(row.time === null || bound <= 0 ? "–" : row.time === bound ? "0 %" : `+${report.percent(row.time / bound - 1)}`),
    bar(row.feasible ? row.time : null, row.learned ? "learned" : ""),
    number(row.learned && metricsMissing ? "–" : report.count(row.evaluations)), number(row.seconds === null ? "–" : report.duration(row.seconds)),
    then(row, row.learned_at_evaluations), then(row, row.learned_at_seconds),
    element("td", { class: "text" }, row.feasible ? "yes" : `no: ${row.reason || "no answer"}`));
  const last = element("tr", { class: "bound" }, number(""), element("td", {}, "lower bound"), number(timeText(bound)), number("0 %"),
    bar(bound, "bound"), number(""), number(""), number(""), number(""), element("td", { class: "text" }, `certified: ${bound_method}`));
  const unit = ` (${measured.unit})`;
  const heads = [["", "number"], ["placer", ""], [measure + unit, "number"], ["over the bound", "number"], ["", "bars"], ["evaluations", "number"], ["time", "number"],
    [`learned, same evaluations${unit}`, "number"], [`learned, same time${unit}`, "number"], ["feasible", ""]]
    .map(([name, type]) => element("th", { scope: "col", class: type || null }, name));
  const places = (row) => !row.feasible || row.time === null ? "" : String(1 + rows.filter((each) => each.feasible && each.time !== null && each.time < row.time).length);
  const card = report.card("Beside other placers",
    "All on the same problem, simulated by the same rules, and made again for this page; no placement is faster than the bound. " +
    (placement.measured ? "The run measured its placements; this table has their simulated times. " : "") +
    (metricsMissing ? "The metrics of the run are missing, so its number of evaluations is unknown; placers that search get one."
      : part ? `Ranked are results of at most ${report.many(part.evaluations, "evaluation")}, which the searches have here; the whole training had ` +
        `${report.count(whole.evaluations)} and has no rank.`
      : "Searches get as many evaluations as the training had.") +
    (metricsMissing ? "" : " Two columns show what the training had after as many evaluations as the placer, and after as much time, bold where that was better.") +
    (placement.few_baselines ? " The problem is large, so only the placers that the recipe names in compare are run." : ""));
  card.append(element("div", { class: "scroll" }, element("table", { class: "baselines", "data-chart": "baselines" },
    element("thead", {}, element("tr", {}, heads)),
    part ? element("tbody", { class: "unranked" }, line(whole, "")) : null,
    element("tbody", { class: "ranked" }, rows.map((row) => line(row, places(row))), last))));
  return card;
};
