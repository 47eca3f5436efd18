"use strict";
// Lines over the budget spent: updates, evaluations or seconds. A line is {name, class, x: {key: [...]}, y: [...],
// step, trial}.
report.spent = { update: "updates", evaluations: "evaluations", wall_seconds: "wall clock (s)" };

// The entries of `report.spent` for which every line has values.
report.spentOf = (lines) => Object.fromEntries(Object.entries(report.spent).filter(([key]) => lines.length && lines.every((line) => line.x[key])));

// options: label, title (of the axis), kind ("seconds", "share" or ""), lines, by (returns the key of x), height, zero
// (the axis begins at 0), levels ({name, value, class}, drawn as horizontal lines and named in a legend), bands ({class,
// x, low, high}, drawn behind the lines), and pointed (optional: called with the
// line under the mouse, or null, and the event, instead of showing the line's name).
report.lineChart = (options) => {
  const height = options.height || 280, margin = { top: 30, right: 22, bottom: 42 };
  const bands = options.bands || [], levels = options.levels || [];
  const values = options.lines.map((line) => line.y).concat(bands.map((band) => band.low), bands.map((band) => band.high), levels.map((level) => level.value)).flat()
    .filter((value) => value !== null);
  const measured = report.measure(options.kind, values);
  return report.chart(options.label, (box, width) => {
    const svg = report.svg(box, width, height, options.title);
    const by = options.by();
    const y = report.scale(options.zero ? values.concat(0) : values, [height - margin.bottom - 4, margin.top + 4], options.kind === "seconds" ? undefined : false);
    const ticks = report.ticks(y, Math.max(3, Math.min(6, height / 45)));
    const left = 14 + d3.max(ticks.concat(0), (tick) => report.width(measured.tick(tick)));
    const points = options.lines.map((line) => d3.zip(line.x[by], line.y).filter(([, value]) => value !== null));
    const ends = points.flatMap((line) => line.length ? [line[0][0], line[line.length - 1][0]] : []);
    // The last tick may be at the end of the axis: half of its text is beyond.
    const right = width - Math.max(margin.right, report.width(report.count(Math.round(d3.max(ends) || 1))) / 2 + 6);
    const x = d3.scaleLinear().domain([Math.min(0, d3.min(ends) || 0), d3.max(ends) || 1]).range([left, right]);

    const title = options.title + report.axisUnit(measured, y);
    report.yAxis(svg, y, { ticks, text: measured.tick, title, left, right });
    report.xAxis(svg, x, { bottom: height - margin.bottom, count: Math.min(9, width / 90), text: report.count,
      title: report.spent[by], right });

    for (const level of levels)
      svg.append("line").attr("class", `reference ${level.class}`).attr("x1", left).attr("x2", right).attr("y1", y(level.value)).attr("y2", y(level.value));
    for (const band of bands) {
      const area = d3.area().defined((p) => p[1] !== null && p[2] !== null).x((p) => x(p[0])).y0((p) => y(p[1])).y1((p) => y(p[2]));
      svg.append("path").attr("class", `band ${band.class}`).attr("d", area(d3.zip(band.x[by], band.low, band.high)));
    }
    options.lines.forEach((line, i) => {
      if (points[i].length === 0) return;
      const path = d3.line().x((p) => x(p[0])).y((p) => y(p[1])).curve(line.step ? d3.curveStepAfter : d3.curveLinear);
      const drawn = svg.append("path").attr("class", `mark ${line.class}`).attr("d", path(points[i].length > 1 ? points[i] : [[x.domain()[0], points[i][0][1]], points[i][0]]));
      if (line.trial !== undefined) drawn.attr("data-trial", line.trial);
    });

    const cursor = svg.append("circle").attr("class", "cursor").attr("r", 4.5).attr("visibility", "hidden");
    const bisect = d3.bisector((p) => p[0]);
    svg.on("mousemove", () => {
      const [mx, my] = d3.mouse(svg.node());
      let nearest = null, distance = 22, where = null;
      options.lines.forEach((line, i) => {
        if (points[i].length === 0 || (line.trial !== undefined && !report.isLeft(line.trial))) return;
        const right = bisect.right(points[i], x.invert(mx));
        const candidates = line.step ? [points[i][Math.max(0, right - 1)]] : [points[i][Math.max(0, right - 1)], points[i][Math.min(points[i].length - 1, right)]];
        const point = d3.least(candidates, (a, b) => d3.ascending(Math.abs(x(a[0]) - mx), Math.abs(x(b[0]) - mx)));
        if (mx < x(points[i][0][0]) - 22 || mx > x(points[i][points[i].length - 1][0]) + 22) return;
        const away = Math.abs(y(point[1]) - my);
        if (away < distance) [nearest, distance, where] = [line, away, point];
      });
      cursor.attr("visibility", nearest ? "visible" : "hidden");
      if (nearest) cursor.attr("cx", nearest.step ? Math.max(x(where[0]), mx) : x(where[0])).attr("cy", y(where[1]));
      if (options.pointed) options.pointed(nearest, d3.event);
      else if (nearest)
        report.tip(d3.event, report.element("b", {}, nearest.name), report.element("dl", {},
          report.element("dt", {}, report.spent[by]), report.element("dd", {}, report.count(Number(where[0].toPrecision(6)))),
          report.element("dt", {}, options.title), report.element("dd", {}, measured.text(where[1]))));
      else report.noTip();
    }).on("mouseleave", () => {
      cursor.attr("visibility", "hidden");
      if (options.pointed) options.pointed(null); else report.noTip();
    });
  });
};

// Whether nothing would be seen but horizontal lines at one height: every value of every line is the same.
report.isFlat = (lines) => {
  const values = lines.flatMap((line) => line.y).filter((value) => value !== null);
  return values.every((value) => value === values[0]);
};
