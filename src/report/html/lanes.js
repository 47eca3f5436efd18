"use strict";
// A graph in lanes: a lane for each device, with its nodes from left to right in the order of `nodes`; edges go only
// between lanes. The width of a node is proportional to its weight, but never below a few pixels; a lane that is too
// long for the width continues in another row. Returns the x, y, width and row of each node, and the height.
report.laneRows = (nodes, lanes, left, right, rowHeight, gap) => {
  const places = [], rows = [], smallest = 7, between = 2, room = right - left;
  const nodesOf = lanes.map((lane) => d3.range(nodes.length).filter((i) => nodes[i].lane === lane));
  const widthOf = (node, scale) => Math.min(room, Math.max(smallest, nodes[node].weight * scale));
  const lengthOf = (own, scale) => d3.sum(own, (node) => widthOf(node, scale) + between);
  // The largest scale at which every lane fits; 0 if a lane has too many nodes.
  let [fits, tooLarge] = [0, room / (d3.max(nodesOf, (own) => d3.sum(own, (node) => nodes[node].weight)) || 1)];
  for (let i = 0; i < 40; ++i) {
    const middle = (fits + tooLarge) / 2;
    if (nodesOf.every((own) => lengthOf(own, middle) <= room)) fits = middle; else tooLarge = middle;
  }
  let y = 10;
  lanes.forEach((lane, k) => {
    let x = left;
    const first = y;
    for (const node of nodesOf[k]) {
      const width = widthOf(node, fits);
      if (x > left && x + width > right + 0.5) { x = left; y += rowHeight + 4; }
      places[node] = { x, y, width };
      x += width + between;
    }
    rows.push({ lane, from: first, to: y + rowHeight });
    y += rowHeight + gap;
  });
  return { places, rows, height: y - gap + 10 };
};

// Draws such a graph. `nodes`: {name, lane, weight, class, tell (returns the tooltip)}; `edges`: [from, to, bytes];
// `laneName` returns the name of a lane.
report.drawLanes = (box, width, { label, nodes, edges, lanes, laneName, clicked, chosen }) => {
  const rowHeight = lanes.length <= 4 ? 72 : 44, gap = Math.max(34, Math.min(64, 420 / lanes.length));
  const left = Math.round(Math.max(64, Math.min(150, d3.max(lanes, (lane) => report.width(laneName(lane))) + 14))), right = width - 8;
  const plan = report.laneRows(nodes, lanes, left, right, rowHeight, gap);
  const svg = report.svg(box, width, plan.height, label), place = (i) => plan.places[i];
  for (const row of plan.rows) {
    svg.append("rect").attr("class", "lane-back").attr("x", left - 4).attr("y", row.from - 4).attr("width", right - left + 8).attr("height", row.to - row.from + 8).attr("rx", 4);
    svg.append("text").attr("class", "lane").attr("x", left - 12).attr("y", (row.from + row.to) / 2).attr("dy", "0.35em").attr("text-anchor", "end")
      .text(report.fit(laneName(row.lane), left - 16)).append("title").text(laneName(row.lane));
  }
  const heaviest = d3.max(edges, (edge) => edge[2]) || 1;
  const route = ([from, to]) => {
    const [a, b] = [place(from), place(to)], down = b.y > a.y;
    const [x0, y0, x1, y1] = [a.x + a.width / 2, a.y + (down ? rowHeight : 0), b.x + b.width / 2, b.y + (down ? 0 : rowHeight)];
    return `M${x0},${y0}C${x0},${(y0 + y1) / 2} ${x1},${(y0 + y1) / 2} ${x1},${y1}`;
  };
  const lines = svg.append("g").selectAll("path").data(edges).enter().append("path")
    .attr("class", (edge) => `edge crossing ${nodes[edge[0]].class}`)
    .attr("stroke-width", (edge) => 1 + 5 * Math.sqrt(edge[2] / heaviest)).attr("d", route);
  const groups = svg.append("g").selectAll("g").data(nodes).enter().append("g").attr("class", clicked ? "node button" : "node");
  groups.append("rect").attr("class", (node) => `shape ${node.class}`).attr("rx", 3)
    .attr("x", (_, i) => place(i).x).attr("y", (_, i) => place(i).y).attr("width", (_, i) => place(i).width).attr("height", rowHeight);
  groups.each(function (node, i) {
    const { x, y, width: wide } = place(i);
    const label = report.labelOf(node.name, wide, rowHeight);
    if (label === null) return;
    label.lines.forEach((line, k) => {
      const off = 13 * (k - (label.lines.length - 1) / 2), text = d3.select(this).append("text").attr("class", "inside").attr("dy", "0.35em").text(line);
      if (label.turned) text.attr("transform", `translate(${x + wide / 2 + off},${y + rowHeight - 4})rotate(-90)`);
      else text.attr("x", x + 4).attr("y", y + rowHeight / 2 + off);
    });
  });
  lines.on("mousemove", ([from, to, bytes]) => report.tip(d3.event, report.element("b", {}, `${nodes[from].name} to ${nodes[to].name}`),
    report.element("dl", {}, report.element("dt", {}, "moves"), report.element("dd", {}, report.bytes(bytes))))).on("mouseleave", report.noTip);
  report.pickNodes({box, svg, groups, lines, clicked, chosen});
};
