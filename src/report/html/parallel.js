"use strict";
// Trials in parallel coordinates (Inselberg 1985): an axis for each parameter, and the objective as the last axis. A
// line is a trial. It passes below the axis of a parameter that is not active in it, and ends above the last axis if it
// failed.
report.parallel = (sweep) => {
  const height = 330, inactive = 26, failed = -20, titleLines = 4, titleSize = 12, titleHeight = 15;
  const margin = { bottom: inactive + 16, left: 68, right: 78 };
  const narrowest = 88;  // px between axes: the least at which their texts can be read
  const shown = sweep.trials.filter((trial) => trial.values.length > 0 && (trial.objective !== null || trial.status === "failed"));
  // The best trial is drawn last, on top of the others.
  const order = (trial) => trial.objective === null ? Infinity : trial.objective;
  const drawn = shown.slice().sort((a, b) => d3.descending(order(a), order(b)) || d3.descending(a.trial, b.trial)).slice(-2000);
  const measured = sweep.measureOf(shown);
  const intervals = new Map();  // number of an axis -> the interval [low, high] that the user selected on it, in pixels

  const dimensions = sweep.parameters.map((parameter, i) => ({
    title: parameter.scale === "log" ? `${parameter.key} (log)` : parameter.key,
    hint: parameter.when ? `${parameter.key}, where ${parameter.when}` : parameter.key,
    value: (trial) => trial.values[i],
    outside: inactive,
    scale: () => {
      if (parameter.scale === "choices")
        return d3.scaleLinear().domain([-0.5, parameter.choices.length - 0.5]).range([height, 0]);
      return report.scale([parameter.low, parameter.high], [height, 0], parameter.scale === "log");
    },
    ticks: (scale) => {
      if (parameter.scale === "choices") {
        const every = Math.ceil(parameter.choices.length / (height / 16));
        return parameter.choices.map((text, at) => ({ at, text })).filter(({ at }) => at % every === 0);
      }
      const few = parameter.whole && parameter.high - parameter.low < 9;
      const values = few ? d3.range(parameter.low, parameter.high + 1) : report.ticks(scale, 7);
      const kept = values.filter((value) => !parameter.whole || Number.isInteger(value));
      return kept.filter((value, k) => k === 0 || k === kept.length - 1 || Math.abs(scale(value) - scale(kept[k - 1])) >= 13)
        .map((at) => ({ at, text: report.number(at) }));
    },
  }));
  const ofObjective = () => report.scale(measured.values.length ? measured.values : [1], [height, 0]);
  dimensions.push({
    title: `${sweep.measure} (${measured.unit}${ofObjective().log ? ", log" : ""})`, hint: `${sweep.measure}: lower is better`, last: true,
    value: (trial) => trial.objective, outside: failed,
    scale: ofObjective,
    ticks: (scale) => measured.values.length ? report.ticks(scale, 7).map((at) => ({ at, text: measured.tick(at) })) : [],
  });

  const status = report.element("span", { class: "screen", "data-role": "filter" });
  const clear = report.element("button", { type: "button", class: "plain", hidden: "", onclick: () => {
    intervals.clear();
    report.filter(null);
    box.redraw();
  } }, "Show all");
  const tell = () => {
    clear.hidden = intervals.size === 0;
    const left = shown.filter((trial) => report.isLeft(trial.trial)).length;
    status.textContent = intervals.size === 0 ? "Drag along an axis to filter"
      : `${report.count(left)} of ${report.count(shown.length)} trials`;
  };

  const draw = (box, room) => {
    const width = Math.max(room, margin.left + margin.right + narrowest * (dimensions.length - 1));
    const step = dimensions.length > 1 ? (width - margin.left - margin.right) / (dimensions.length - 1) : 0;
    const titles = dimensions.map((dimension) => report.wrap(dimension.title, Math.min(step || 140, 150) - 8, titleLines, titleSize, 600));
    const top = 38 + titleHeight * d3.max(titles, (lines) => lines.length);
    const svg = report.svg(box, width, top + height + margin.bottom, "Trials in parallel coordinates");
    const plot = svg.append("g").attr("transform", `translate(${margin.left},${top})`);
    const scales = dimensions.map((dimension) => dimension.scale());
    const at = (trial, d) => {
      const value = dimensions[d].value(trial);
      return value === null ? height * !dimensions[d].last + dimensions[d].outside : scales[d](value);
    };
    const points = new Map(drawn.map((trial) => [trial.trial, dimensions.map((_, d) => [d * step, at(trial, d)])]));

    plot.append("g").selectAll("path").data(drawn).enter().append("path")
      .attr("class", (trial) => `mark ${sweep.colour(trial)}${trial.trial === sweep.best ? " top" : ""}`)
      .attr("data-trial", (trial) => trial.trial)
      .attr("d", (trial) => d3.line()(points.get(trial.trial)));

    const axes = plot.selectAll(".dimension").data(dimensions).enter().append("g").attr("class", "dimension")
      .attr("transform", (_, d) => `translate(${d * step},0)`);
    axes.append("line").attr("class", "rule").attr("y2", height);
    axes.each(function (dimension, d) {
      const axis = d3.select(this);
      const title = axis.append("text").attr("class", "title").attr("text-anchor", "middle");
      title.append("title").text(dimension.hint);
      titles[d].forEach((line, i) => title.append("tspan").attr("x", 0).attr("y", -36 - titleHeight * (titles[d].length - 1 - i)).text(line));
      const wide = dimension.last ? margin.right - 10 : step - 14;
      const label = (y, text, soft) => {
        axis.append("text").attr("class", `halo tick${soft ? " soft" : ""}`).attr("x", 8).attr("y", y).attr("dy", "0.35em")
          .text(report.fit(text, wide)).append("title").text(text);
      };
      for (const tick of dimension.ticks(scales[d])) {
        axis.append("line").attr("class", "rule").attr("x2", 5).attr("y1", scales[d](tick.at)).attr("y2", scales[d](tick.at));
        label(scales[d](tick.at), tick.text, false);
      }
      if (shown.some((trial) => dimension.value(trial) === null))
        label(height * !dimension.last + dimension.outside, dimension.last ? "failed" : "inactive", true);
    });

    let frame = null;
    const select = () => {
      const inside = (trial) => [...intervals].every(([d, [low, high]]) => {
        const y = at(trial, d);
        return y >= low && y <= high;
      });
      report.filter(intervals.size === 0 ? null : new Set(shown.filter(inside).map((trial) => trial.trial)));
      tell();
    };
    axes.each(function (_, d) {
      const brush = d3.brushY().extent([[-13, failed - 10], [13, height + inactive + 10]]).on("brush end", () => {
        if (!d3.event.sourceEvent) return;  // the brush was moved by the code below, not by the user
        if (d3.event.selection) intervals.set(d, d3.event.selection); else intervals.delete(d);
        if (frame === null) frame = requestAnimationFrame(() => { frame = null; select(); });  // at most once a frame: mouse events may come faster
      });
      const group = d3.select(this).append("g").attr("class", "brush").call(brush);
      if (intervals.has(d)) group.call(brush.move, intervals.get(d));
    });

    // Lines are thin, so the mouse selects the nearest line within some pixels.
    svg.on("mousemove", () => {
      const [x, y] = d3.mouse(plot.node());
      if (d3.event.buttons) { sweep.pointAt(null); return; }
      const position = step > 0 ? Math.min(Math.max(x / step, 0), dimensions.length - 1) : 0;
      const d = Math.min(Math.floor(position), Math.max(0, dimensions.length - 2));
      let nearest = null, distance = 12;
      for (const trial of drawn) {
        if (!report.isLeft(trial.trial)) continue;
        const line = points.get(trial.trial), next = line[Math.min(d + 1, line.length - 1)];
        const away = Math.abs(line[d][1] + (next[1] - line[d][1]) * (position - d) - y);
        if (away <= distance) [nearest, distance] = [trial, away];
      }
      sweep.pointAt(nearest, d3.event);
    }).on("mouseleave", () => sweep.pointAt(null));
    tell();
  };

  const legend = report.element("span", { class: "legend" },
    report.element("span", {}, "best", report.element("span", { class: "ramp" }, d3.range(7).map((i) => report.element("i", { class: `r${i}` }))), "worst, by rank"),
    drawn.some((trial) => trial.status === "failed") ? report.element("span", {}, report.element("i", { class: "line dashed failed" }), "failed") : null);
  const card = report.card("Trials", `One line for each trial, from its values to its ${sweep.measure}, where lower is better.` +
    (shown.length > drawn.length ? ` The ${report.count(drawn.length)} best of ${report.count(shown.length)} trials are drawn.` : ""), status, clear);
  const box = report.chart("parallel", draw);
  card.append(box, legend);
  return card;
};
