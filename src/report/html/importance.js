"use strict";
// The share of variance that each parameter explains, as bars, with the share that shuffled objectives would give.
report.importance = (sweep) => {
  const rows = sweep.importances.slice().sort((a, b) => d3.descending(a.share, b.share));
  const compared = rows.filter((row) => row.groups >= 2 && row.trials >= 3);
  const card = report.card("Importance of each parameter",
    "Share of the differences between trials that a parameter explains by itself: the correlation ratio (η²) of the logarithm " +
    `of the ${sweep.measure} over groups of trials with about the same value, among the trials in which it is active. The ` +
    "bars leave out joint effects of several parameters, and if the strategy prefers good values they depend on what it tried.");
  if (compared.length === 0) {
    card.append(report.element("p", { class: "empty" },
      "Nothing to compare yet: at least three trials with a result are needed, with two values of a parameter among them."));
    return card;
  }
  const rowHeight = 40, margin = { top: 4, left: 14, right: 20, bottom: 40 };
  const most = Math.max(0.2, d3.max(compared, (row) => Math.max(row.share, row.noise)));
  card.append(report.chart("importance", (box, width) => {
    const height = margin.top + rowHeight * rows.length + margin.bottom;
    const svg = report.svg(box, width, height, "Importance of each parameter");
    const x = d3.scaleLinear().domain([0, Math.min(1, most * 1.05)]).range([margin.left, width - margin.right]);
    report.xAxis(svg, x, { bottom: height - margin.bottom, count: Math.min(8, width / 80),
      text: (share) => `${Math.round(100 * share)} %`, title: "share of variance explained", right: width });
    rows.forEach((row, i) => {
      const group = svg.append("g").attr("class", "importance").attr("transform", `translate(0,${margin.top + i * rowHeight})`);
      const known = row.groups >= 2 && row.trials >= 3;
      const value = known ? report.percent(row.share) : "too few trials to say";
      group.append("text").attr("x", 0).attr("y", 14).text(report.fit(row.key, width - 170, 12)).append("title").text(row.key);
      group.append("text").attr("class", "soft").attr("x", width).attr("y", 14).attr("text-anchor", "end")
        .text(known ? `${value} (${row.trials} trials)` : value);
      if (!known) return;
      group.append("rect").attr("class", row.share > row.noise ? "bar" : "bar weak").attr("x", x(0)).attr("y", 20).attr("height", 12)
        .attr("width", Math.max(1, x(row.share) - x(0)));
      for (const [kind, at] of [["backing", row.by_chance], ["chance", row.by_chance], ["backing", row.noise], ["noise", row.noise]])
        group.append("line").attr("class", kind).attr("x1", x(at)).attr("x2", x(at)).attr("y1", 20).attr("y2", 35);
    });
  }), report.element("span", { class: "legend" },
    report.element("span", {}, report.element("i", { style: "background: var(--accent)" }), "more than noise"),
    report.element("span", {}, report.element("i", { style: "background: var(--rule)" }), "could be noise"),
    report.element("span", {}, report.element("i", { style: "background: var(--soft); width: 3px; height: 14px" }), "mean by chance"),
    report.element("span", {}, report.element("i", { style: "background: var(--hot); width: 3px; height: 14px" }), "noise: 95 % of shuffles stay below")));
  return card;
};
