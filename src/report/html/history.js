"use strict";
// The objective of each trial, one after the other, and the best so far.
report.history = (sweep) => {
  const height = 370, margin = { top: 34, right: 26, bottom: 44 };
  const ended = sweep.trials.filter((trial) => trial.objective !== null || trial.status === "failed");
  const measured = sweep.measureOf(ended);
  let by = ended.every((trial) => trial.ended !== null) ? "ended" : "trial";
  const names = { ended: "order of ending", trial: "trial number" };
  const tools = by === "ended" ? [report.choice(names, by, (value) => { by = value; box.redraw(); })] : [];
  const card = report.card("The search", `The result of each trial, and the best ${sweep.measure} so far.`, ...tools);

  const box = report.chart("history", (into, width) => {
    const svg = report.svg(into, width, height, "Objective of each trial and the best so far");
    const hasFailed = ended.some((trial) => trial.objective === null);
    const top = margin.top + (hasFailed ? 22 : 0), bottom = height - margin.bottom;
    const y = report.scale(measured.values.length ? measured.values : [1], [bottom - 6, top + 6]);
    const ticks = measured.values.length ? report.ticks(y, 6) : [];
    const left = 14 + d3.max([...ticks.map((tick) => report.width(measured.tick(tick))), hasFailed ? report.width("failed") : 0, 20]);
    const right = width - margin.right;
    const at = (trial) => by === "ended" ? trial.ended : trial.trial;
    const x = d3.scaleLinear().domain(d3.extent(ended, at)).range([left + 8, right - 8]);
    if (ended.length === 1) x.domain([at(ended[0]) - 1, at(ended[0]) + 1]);
    report.yAxis(svg, y, { ticks, text: measured.tick, title: sweep.measure + report.axisUnit(measured, y), left, right });
    if (hasFailed) report.yText(svg, left, margin.top + 4, "failed");
    report.xAxis(svg, x, { bottom, count: Math.min(10, ended.length, width / 70),
      text: (value) => Number.isInteger(value) ? value : "", title: names[by], right });

    const inOrder = ended.slice().sort((a, b) => d3.ascending(at(a), at(b)));
    const sofar = [];
    for (const trial of inOrder)
      if (trial.objective !== null) sofar.push([at(trial), Math.min(trial.objective, sofar.length ? sofar[sofar.length - 1][1] : Infinity)]);
    if (sofar.length) {
      sofar.push([x.domain()[1], sofar[sofar.length - 1][1]]);
      svg.append("path").attr("class", "sofar").attr("d", d3.line().x((p) => x(p[0])).y((p) => y(p[1])).curve(d3.curveStepAfter)(sofar));
    }
    const place = (trial) => [x(at(trial)), trial.objective === null ? margin.top + 4 : y(trial.objective)];
    for (const trial of inOrder) {
      const [cx, cy] = place(trial);
      if (trial.objective === null)
        svg.append("path").attr("class", "mark cross failed").attr("data-trial", trial.trial).attr("d", `M${cx - 3.5},${cy - 3.5}l7,7m0,-7l-7,7`);
      else
        svg.append("circle").attr("class", `mark ${sweep.colour(trial)}${trial.share < 1 ? " partly" : ""}`).attr("data-trial", trial.trial)
          .attr("cx", cx).attr("cy", cy).attr("r", trial.trial === sweep.best ? 6 : 4);
    }
    svg.on("mousemove", () => {
      const [mx, my] = d3.mouse(svg.node());
      let nearest = null, distance = 16;
      for (const trial of inOrder) {
        if (!report.isLeft(trial.trial)) continue;
        const [cx, cy] = place(trial), away = Math.hypot(cx - mx, cy - my);
        if (away < distance) [nearest, distance] = [trial, away];
      }
      sweep.pointAt(nearest, d3.event);
    }).on("mouseleave", () => sweep.pointAt(null));
  });
  card.append(box, report.element("span", { class: "legend" },
    report.element("span", {}, report.element("i", { class: "line", style: "--mark: var(--accent)" }), "best so far"),
    ended.some((trial) => trial.objective !== null && trial.share < 1) ? report.element("span", {}, "○ not trained to the end") : null,
    ended.some((trial) => trial.objective === null) ? report.element("span", {}, "× failed") : null));
  return card;
};
