"use strict";
// The head of a report: the step time beside those of one device, the expert, the best that is known and the bound;
// what that means in words; and the command to run next. `head` may be null.
report.head = (head) => {
  const element = report.element;
  if (!head) return null;
  const times = head.rows.map(([, time]) => time).filter((time) => time !== null);
  const longest = Math.min(d3.max(times) || 1, 4 * (d3.min(times) || 1)), own = head.rows.length ? head.rows[0][1] : null;
  const ratio = (time) => time === null || own === null || time === own ? "" : report.times(time / own);
  const bar = (time, i) => element("td", { class: "bars", "aria-hidden": "true" }, time === null ? null
    : element("i", { class: `${i === 0 ? "learned" : ""}${time > longest ? " cut" : ""}`, style: `width: ${(100 * Math.min(1, time / longest)).toFixed(2)}%` }));
  const row = ([name, time], i) => element("tr", { class: i === 0 ? "learned" : null }, element("td", {}, name),
    element("td", { class: "number" }, time === null ? "none" : report.ticksText(time, 4)),
    element("td", { class: "number" }, ratio(time)), bar(time, i));
  return element("div", { class: "verdict" },
    head.rows.length ? element("div", { class: "scroll" }, element("table", { class: "baselines", "data-chart": "verdict" },
      element("tbody", {}, head.rows.map(row)))) : null,
    head.sentences.length ? element("ul", { class: "sentences" }, head.sentences.map((text) => element("li", {}, report.sentence(text)))) : null,
    head.next ? element("div", { class: "commands" }, element("div", {}, element("h3", {}, "Next"), report.command(head.next))) : null);
};
