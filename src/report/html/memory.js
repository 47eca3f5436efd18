"use strict";
// The bytes that each device holds over the step, and its capacity.
report.memory = (placement, stretch) => {
  const { memory, timeline, problem } = placement, element = report.element, most = 16;
  const share = (row) => row.capacity ? row.peak / row.capacity : 0;
  const held = memory.filter((row) => row.peak > 0);
  // If there are many devices: the fullest ones, in the problem's order.
  const shown = held.slice().sort((a, b) => d3.descending(share(a), share(b)) || d3.descending(a.peak, b.peak)).slice(0, most)
    .sort((a, b) => a.device - b.device);
  const plotHeight = shown.length <= 3 ? 84 : shown.length <= 6 ? 64 : 44, rowHeight = plotHeight + 30;
  const top = 6, bottom = top + rowHeight * shown.length;
  const nameOf = (row) => problem.devices[row.device].name;
  const isOver = (row) => row.capacity !== null && row.peak > row.capacity;
  // Devices of equal capacity share one scale. It includes the capacity if the peaks are then still high enough to see.
  const alike = (row) => d3.max(shown.filter((other) => other.capacity === row.capacity), (other) => other.peak);
  const sees = (row) => row.capacity !== null && row.capacity <= 8 * alike(row);
  const levelAt = (row, time) => row.bytes[Math.max(0, d3.bisectRight(row.times, time) - 1)];
  let scale = null;

  const draw = (box, width) => {
    const svg = report.svg(box, width, bottom + 24, "Memory of each device over the step");
    const plot = svg.append("g"), cursor = svg.append("line").attr("class", "at").attr("y1", top).attr("y2", bottom).attr("visibility", "hidden");
    const render = () => {
      scale = report.timeScale(stretch, width);
      plot.selectAll("*").remove();
      report.timeAxis(plot, stretch, scale, top, bottom);
      shown.forEach((row, i) => drawRow(plot, row, top + i * rowHeight + rowHeight - plotHeight, width));
    };
    box.render = render;
    render();
    svg.on("mousemove", () => {
      const [mx, my] = d3.mouse(svg.node()), row = shown[Math.floor((my - top) / rowHeight)];
      const points = row && mx >= scale.left && mx <= scale.right && !d3.event.buttons;
      cursor.attr("visibility", points ? "visible" : "hidden");
      if (!points) { report.noTip(); return; }
      const time = scale.x.invert(mx);
      cursor.attr("x1", mx).attr("x2", mx);
      const pair = (key, value) => [element("dt", {}, key), element("dd", {}, value)];
      report.tip(d3.event, element("b", {}, nameOf(row)), element("dl", {}, pair("at", report.ticksText(time, 5)),
        pair("holds", report.bytes(levelAt(row, time))), pair("peak", `${report.bytes(row.peak)} at ${report.ticksText(row.peak_at, 5)}`),
        pair("capacity", row.capacity === null ? "no limit" : report.bytes(row.capacity)), pair("peak: resident", report.bytes(row.resident)),
        pair("outputs", report.bytes(row.outputs)), pair("copies", report.bytes(row.copies)), pair("scratch", report.bytes(row.scratch))));
    }).on("mouseleave", () => { cursor.attr("visibility", "hidden"); report.noTip(); });
  };

  const drawRow = (group, row, from, width) => {
    const { x, left, right } = scale, foot = from + plotHeight - 8;
    const highest = Math.max(alike(row), sees(row) ? row.capacity : 0);
    const y = d3.scaleLinear().domain([0, highest]).range([foot, from]);
    const first = Math.max(0, d3.bisectRight(row.times, stretch.from) - 1), last = d3.bisectLeft(row.times, stretch.to);
    for (const tick of report.byteTicks(highest, plotHeight / 20)) {
      if (tick > 0) group.append("line").attr("class", "gridline").attr("x1", left).attr("x2", right).attr("y1", y(tick)).attr("y2", y(tick));
      group.append("text").attr("class", "soft tick").attr("x", right + 5).attr("y", y(tick)).attr("dy", "0.35em").text(tick > 0 ? report.bytes(tick) : "0");
    }
    const points = d3.range(first, last).map((i) => [Math.max(left, x(row.times[i])), y(row.bytes[i])]);
    if (points.length) points.push([Math.min(right, x(Math.min(timeline.end, stretch.to))), points[points.length - 1][1]]);
    const area = d3.area().x((p) => p[0]).y0(foot).y1((p) => p[1]).curve(d3.curveStepAfter);
    group.append("path").attr("class", `level ${report.colourOfDevice(row.device)}`).attr("d", area(points));
    group.append("line").attr("class", "rule").attr("x1", left).attr("x2", right).attr("y1", foot).attr("y2", foot);
    if (sees(row))
      group.append("line").attr("class", `capacity${isOver(row) ? " over" : ""}`).attr("x1", left).attr("x2", right)
        .attr("y1", y(row.capacity)).attr("y2", y(row.capacity));
    group.append("text").attr("class", "lane").attr("x", left - 8).attr("y", foot - 12).attr("text-anchor", "end")
      .text(report.fit(nameOf(row), left - 12)).append("title").text(nameOf(row));
    const of = row.capacity === null ? "no limit" : `${report.percent(share(row))} of ${report.bytes(row.capacity)}`;
    const text = `peak ${report.bytes(row.peak)} at ${report.ticksText(row.peak_at, 4)}, ${of}`;
    group.append("text").attr("class", isOver(row) ? "bad" : "soft").attr("x", left).attr("y", from - 7).text(report.fit(text, width - left - 4));
  };

  if (shown.length === 0) return report.card("Memory", "No device holds anything: the problem gives its ops and tensors no bytes.");
  const box = report.chart("memory", draw);
  stretch.onChange(() => { if (box.render) box.render(); });
  report.zoomable(box, stretch, () => scale);
  const over = held.filter(isOver), empty = memory.length - held.length;
  const card = report.card("Memory",
    "What each device holds over the same stretch of the step: resident bytes, outputs, copies and scratch." +
    (over.length ? ` Too small: ${over.map(nameOf).slice(0, 8).join(", ")}.` : "") +
    (held.length > shown.length ? ` Of ${held.length} devices the ${most} fullest are drawn.` : "") +
    (empty > 0 ? ` ${report.many(empty, "device")} hold${empty === 1 ? "s" : ""} nothing.` : "") +
    (held.some((row) => row.thinned) ? " Where changes are too short to see, the highest level is drawn." : ""), report.zoomButtons(stretch));
  const key = (name, text) => element("span", {}, element("i", { class: `line ${name}` }), text);
  card.append(box);
  const unseen = shown.some((row) => row.capacity !== null && !sees(row));
  if (shown.some(sees))
    card.append(element("span", { class: "legend" }, key("dashed ink", `capacity${unseen ? " (not drawn where no peak reaches an eighth of it)" : ""}`)));
  return card;
};
