"use strict";
// A graph in layers from left to right (Sugiyama, Tagawa, Toda 1981): longest paths give the layers, means of
// neighbours the order within a layer. Nodes are numbered such that most edges [from, to, bytes] go to a higher number;
// the other edges are ignored here. The height of a node is proportional to its weight; the layer with the largest sum
// of weights is `wanted` pixels high. Returns each node's layer, y and height, and the height of the graph.
report.layers = (weights, edges, wanted) => {
  const count = weights.length, forward = edges.filter(([from, to]) => from < to).sort((a, b) => a[0] - b[0]);
  const layer = new Int32Array(count), neighbours = Array.from({ length: count }, () => []);
  const hasInput = new Uint8Array(count), reader = new Int32Array(count).fill(-1);
  for (const [from, to] of forward) {
    layer[to] = Math.max(layer[to], layer[from] + 1);
    hasInput[to] = 1;
    neighbours[from].push(to);
    neighbours[to].push(from);
  }
  // A node without inputs is put into the layer before its first reader, or without a reader into one by its number.
  for (const [from, to] of forward) reader[from] = reader[from] < 0 ? layer[to] : Math.min(reader[from], layer[to]);
  const deepest = d3.max(layer);
  for (let node = 0; node < count; ++node)
    if (!hasInput[node]) layer[node] = reader[node] < 0 ? Math.round(deepest * node / count) : reader[node] - 1;
  const rows = Array.from({ length: count ? d3.max(layer) + 1 : 0 }, () => []);
  for (let node = 0; node < count; ++node) rows[layer[node]].push(node);
  const room = 1.4 * wanted / (d3.max(rows, (row) => row.length) || 1);  // px for each node in the layer with most nodes
  const lowest = Math.max(2, Math.min(7, 0.6 * room)), gap = Math.max(1, Math.min(5, 0.4 * room));
  const highest = d3.max(rows, (row) => d3.sum(row, (node) => weights[node])) || 1;
  const heights = weights.map((weight) => Math.max(lowest, weight / highest * wanted));
  const heightOf = (row) => d3.sum(row, (node) => heights[node]) + gap * (row.length - 1);
  const height = d3.max(rows, heightOf) || 0;

  const y = new Float64Array(count);
  const place = (row) => {
    let at = (height - heightOf(row)) / 2;
    for (const node of row) { y[node] = at; at += heights[node] + gap; }
  };
  rows.forEach(place);
  const middle = (node) => y[node] + heights[node] / 2;
  for (let sweep = 0; sweep < 8; ++sweep) {
    const order = sweep % 2 === 0 ? rows : rows.slice().reverse();
    for (const row of order) {
      const before = (other, node) => sweep % 2 === 0 ? layer[other] < layer[node] : layer[other] > layer[node];
      const wish = new Map(row.map((node) => [node, d3.mean(neighbours[node].filter((other) => before(other, node)), middle)]));
      row.sort((a, b) => (wish.get(a) === undefined ? middle(a) : wish.get(a)) - (wish.get(b) === undefined ? middle(b) : wish.get(b)) || a - b);
      place(row);
    }
  }
  return { layer, layers: rows.length, y, heights, height };
};

// A name with scopes as lines in a box: all of it if it fits, else its end; at least its last part with a letter.
report.lines = (name, room, most, size) => {
  let rest = name, lines = report.wrap(rest, room, most, size);
  while (report.isCut(name, lines) && /[/.:].*\p{L}/u.test(rest)) {
    rest = rest.replace(/^[^/.:]*[/.:]+/, "");
    lines = report.wrap(rest, room, most, size);
  }
  return lines;
};
report.isCut = (name, lines) => !name.replace(/\s/g, "").endsWith(lines.join("").replace(/\s/g, ""));

// The label of a box `wide` x `high`, in lines of 11 px: across it, or else turned upwards; null if neither has room.
report.labelOf = (name, wide, high) => {
  const fitting = (room, across) => {
    const most = Math.floor((across - 2) / 13), lines = most < 1 || room < 12 ? null : report.lines(name, room, most, 11);
    return lines === null || report.isCut(name, lines) ? null : lines;
  };
  const lines = fitting(wide - 8, Math.min(high, 43)), turned = lines === null ? fitting(high - 8, wide) : null;
  return lines === null && turned === null ? null : { lines: lines || turned, turned: lines === null };
};

// Draws such a graph. `nodes`: {name, device, class, tell (returns the tooltip)}; `clicked`: called with the number of
// the node that was clicked, or null.
report.drawLayers = (box, room, { label, nodes, weights, edges, wanted, clicked, chosen }) => {
  const plan = report.layers(weights, edges, wanted);
  const margin = { left: 4, right: 4, top: 10, bottom: edges.some(([from, to]) => from >= to) ? 24 : 8 };
  const pitch = Math.max(20, Math.min(190, (room - margin.left - margin.right) / Math.max(1, plan.layers)));
  const thick = pitch < 60 ? Math.max(9, pitch * 0.55) : Math.min(pitch - 24, 130);
  const width = Math.max(room, Math.ceil(margin.left + margin.right + pitch * plan.layers)), height = margin.top + plan.height + margin.bottom;
  const svg = report.svg(box, width, height, label);
  const first = (width - pitch * plan.layers) / 2, x = (node) => first + pitch * plan.layer[node] + (pitch - thick) / 2;
  const y = (node) => margin.top + plan.y[node], middle = (node) => y(node) + plan.heights[node] / 2;

  const heaviest = d3.max(edges, (edge) => edge[2]) || 1;
  const route = ([from, to]) => {
    const [x0, y0, x1, y1] = [x(from) + thick, middle(from), x(to), middle(to)];
    if (x1 > x0) return `M${x0},${y0}C${(x0 + x1) / 2},${y0} ${(x0 + x1) / 2},${y1} ${x1},${y1}`;
    const low = margin.top + plan.height + margin.bottom - 6;  // an edge backwards passes below all nodes
    return `M${x0},${y0}C${x0 + pitch},${low} ${x1 - pitch},${low} ${x1},${y1}`;
  };
  const classOf = ([from, to]) => nodes[from].device === nodes[to].device ? nodes[from].class : "crossing";
  const lines = svg.append("g").selectAll("path").data(edges).enter().append("path")
    .attr("class", (edge) => `edge ${classOf(edge)}${x(edge[1]) > x(edge[0]) ? "" : " back"}`)
    .attr("stroke-width", (edge) => 0.8 + 5 * Math.sqrt(edge[2] / heaviest)).attr("d", route);

  const groups = svg.append("g").selectAll("g").data(nodes).enter().append("g").attr("class", clicked ? "node button" : "node");
  groups.append("rect").attr("class", (node) => `shape ${node.class}`).attr("rx", Math.min(3, thick / 4))
    .attr("x", (_, i) => x(i)).attr("y", (_, i) => y(i)).attr("width", thick).attr("height", (_, i) => plan.heights[i]);
  groups.each(function (node, i) {
    const tall = plan.heights[i], text = d3.select(this);
    if (thick >= 44 && tall >= 13) {
      const lines = report.lines(node.name, thick - 10, Math.min(4, Math.max(1, Math.floor((tall - 4) / 13))), 11);
      lines.forEach((line, k) => text.append("text").attr("class", "inside").attr("x", x(i) + 5)
        .attr("y", middle(i) + 13 * (k - (lines.length - 1) / 2)).attr("dy", "0.35em").text(line));
    }
    else if (thick >= 12 && tall >= 56)
      text.append("text").attr("class", "inside").attr("transform", `translate(${x(i) + thick / 2},${y(i) + tall - 5})rotate(-90)`)
        .attr("dy", "0.35em").text(report.fitEnd(node.name, tall - 10, 11));
  });
  report.pickNodes({box, svg, groups, lines, clicked, chosen});
};
