"use strict";
// What limits the step, and the single moves that would shorten it most.
report.limits = ({ limits, problem, time }) => {
  const element = report.element;
  const fills = limits.limits.some((each) => each.fills && each.kind !== "memory");
  const card = report.card("What limits the step",
    fills ? null : limits.limits.length ? "No device, link or chain of ops fills the step." : "Nothing: the step has no time.");
  const bar = (each) => element("td", { class: "bars", "aria-hidden": "true" },
    element("i", { class: each.fills ? "filling" : "", style: `width: ${(100 * Math.min(1, each.share)).toFixed(1)}%` }));
  card.append(element("div", { class: "scroll" }, element("table", { class: "baselines", "data-chart": "limits" },
    element("tbody", {}, limits.limits.map((each) => element("tr", {}, element("td", {}, each.kind), bar(each),
      element("td", { class: "text" }, report.sentence(each.sentence))))))));

  const tried = limits.moves_simulated === limits.moves_possible ? `all ${report.count(limits.moves_possible)} were tried`
    : `the ${report.count(limits.moves_simulated)} most promising of ${report.count(limits.moves_possible)} were tried`;
  if (limits.moves_simulated === 0) return card;
  if (limits.moves.length === 0) {
    card.append(element("p", { class: "note" }, `No single move of an op or a co-location group shortens the step (${tried}).`));
    return card;
  }
  const name = (device) => device === null ? "several" : problem.devices[device].name;
  const head = ["move", "from", "to", "step then", "gain"].map((text, i) => element("th", { scope: "col", class: i > 2 ? "number" : null }, text));
  const row = (move) => element("tr", {},
    element("td", { class: "text" }, move.ops > 1 ? `${move.name} (${report.many(move.ops, "op")})` : move.name),
    element("td", {}, name(move.from)), element("td", {}, name(move.to)),
    element("td", { class: "number" }, move.time === null ? "–" : report.ticksText(move.time, 5)),
    element("td", { class: "number" }, move.time === null || time === null ? "–" : report.percent(1 - move.time / time)));
  card.append(element("h3", { class: "below" }, `Single moves that help most (${tried})`),
    element("div", { class: "scroll" }, element("table", { "data-chart": "moves" },
      element("thead", {}, element("tr", {}, head)), element("tbody", {}, limits.moves.map(row)))));
  return card;
};
