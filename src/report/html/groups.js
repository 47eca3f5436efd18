"use strict";
// The graph by modules: a lane for each device, edges only between devices; a click opens a module.
report.groups = (placement) => {
  const { groups, ops, problem } = placement, { nodes, edges } = groups, element = report.element;
  const deviceName = (device) => device === null ? "several devices" : problem.devices[device].name;
  const classOf = (device) => device === null ? "open" : report.colourOfDevice(device);
  const pair = (key, value) => [element("dt", {}, key), element("dd", {}, value)];
  const total = d3.sum(nodes, (node) => node.lasts) || 1;
  let open = null;

  const lanes = [...new Set(nodes.map((node) => node.device))].sort((a, b) => (a === null) - (b === null) || a - b);
  const drawn = nodes.map((node) => ({
    name: node.name, lane: node.device, weight: node.lasts, class: classOf(node.device),
    tell: () => [element("b", {}, node.name), element("dl", {}, pair("ops", report.count(node.ops)), pair("on", deviceName(node.device)),
      pair("computes", `${report.ticksText(node.lasts)}, ${report.percent(node.lasts / total)} of all`),
      node.on_path ? pair("critical path", report.ticksText(node.on_path)) : [], pair("resident", report.bytes(node.resident)),
      pair("reads", `${report.bytes(node.reads)} from other devices`), pair("sends", `${report.bytes(node.sends)} to other devices`))],
  }));
  const box = report.chart("groups", (into, width) => report.drawLanes(into, width, {
    label: "The graph by modules", nodes: drawn, edges, lanes, laneName: deviceName, chosen: open,
    clicked: (i) => show(open === i ? null : i),
  }));

  const panel = element("div", { class: "opened", hidden: "" });
  const opsOf = (node) => node.members.map((op) => ({ op, lasts: ops.lasts[op] }));
  const detail = (node) => {
    const members = opsOf(node), drawnOps = members.map(({ op, lasts }) => ({
      name: ops.names[op], device: ops.devices[op], class: classOf(ops.devices[op]),
      tell: () => [element("b", {}, ops.names[op]), element("dl", {}, pair("type", ops.type_names[ops.types[op]] || "–"),
        pair("on", deviceName(ops.devices[op])), pair("lasts", report.ticksText(lasts)), pair("makes", report.bytes(ops.made[op])),
        pair("resident", report.bytes(ops.resident[op])))],
    }));
    const longest = members.slice().sort((a, b) => d3.descending(a.lasts, b.lasts) || a.op - b.op).slice(0, 10);
    const head = ["op", "type", "lasts", "makes", "resident"].map((name, i) => element("th", { scope: "col", class: i > 1 ? "number" : null }, name));
    const numbers = ({ op, lasts }) => [report.ticksText(lasts), report.bytes(ops.made[op]), report.bytes(ops.resident[op])];
    const row = (each) => element("tr", {}, element("td", { class: "text" }, ops.names[each.op]),
      element("td", {}, ops.type_names[ops.types[each.op]]), numbers(each).map((text) => element("td", { class: "number" }, text)));
    return [
      element("header", {}, element("h3", {}, `${node.name}: ${report.many(node.ops, "op")} on ${deviceName(node.device)}`),
        element("button", { type: "button", class: "plain", onclick: () => show(null) }, "Close")),
      node.ops > members.length ? element("p", { class: "note" }, `The ${report.count(members.length)} ops that last longest are drawn.`) : null,
      report.chart("ops", (into, width) => report.drawLayers(into, width, {
        label: `Ops of ${node.name}`, nodes: drawnOps, weights: members.map(({ lasts }) => lasts), edges: node.inside, wanted: 260, clicked: null,
      })),
      element("div", { class: "scroll" }, element("table", {},
        element("thead", {}, element("tr", {}, head)), element("tbody", {}, longest.map(row)))),
    ].filter((each) => each);
  };
  const show = (i) => {
    open = i;
    if (box.choose) box.choose(i);
    panel.hidden = i === null;
    panel.replaceChildren(...(i === null ? [] : detail(nodes[i])));
  };

  const what = groups.by_module ? "Each box is a module of the model, or the part of it that runs on one device"
    : nodes.length < groups.units
      ? `The ${report.count(groups.units)} units that the run placed, where neighbours on one device are merged, which gives ${nodes.length} boxes`
      : nodes.length === 1 ? "The one unit that the run placed" : `The ${report.count(nodes.length)} units that the run placed`;
  const card = report.card("Graph by modules",
    `${what}. There is a lane for each device, from inputs to outputs: the width of a box shows its compute time. ` +
    (edges.length === 0 ? "Nothing moves between devices."
      : "Lines are tensors that move between devices, in the colour of the device that sends; their width shows the square root of the bytes." +
        (groups.edges_total > edges.length ? ` The ${report.count(edges.length)} heaviest of ${report.count(groups.edges_total)} are drawn.` : "")),
    element("span", { class: "screen hint" }, "A click opens a box, another closes it"));
  card.append(box, panel);
  return { card, openGroupOf: (op) => show(groups.of_ops[op]) };
};
