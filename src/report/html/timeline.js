"use strict";
// The timeline of a step: a lane for each device and channel; a line above the items of the critical path marks them.

// The lanes with start and end of each of their items, and for each step of the critical path its start and its first
// lane.
report.lanesOf = ({ timeline, ops }) => {
  const places = { device: new Map(), channel: new Map() };  // from an op (a transfer) to {lane, start}
  const lanes = timeline.lanes.map((lane, number) => {
    const count = lane.items.length, starts = new Float64Array(count), ends = new Float64Array(count), reach = new Float64Array(count);
    const lasts = (lane.kind === "device" ? ops : timeline.transfers).lasts, place = places[lane.kind];
    let last = 0;
    lane.items.forEach((item, i) => {
      starts[i] = last + lane.gaps[i];
      last = ends[i] = starts[i] + lasts[item];
      reach[i] = Math.max(i ? reach[i - 1] : 0, last);  // needed because the ends of overlapping transfers are not sorted
      if (!place.has(item)) place.set(item, { lane: number, start: starts[i] });
    });
    return { ...lane, starts, ends, reach };
  });
  const onPath = { device: new Set(), channel: new Set() };
  const path = timeline.path.steps.map((step) => {
    const kind = step < 0 ? "channel" : "device", item = step < 0 ? -1 - step : step;
    onPath[kind].add(item);
    return places[kind].get(item) || null;  // null: the channel has no lane
  });
  for (const lane of lanes) lane.critical = Uint8Array.from(lane.items, (item) => onPath[lane.kind].has(item));
  return { lanes, path };
};

// SVG paths, by class, of shapes in order of time; shapes too narrow to see are merged with their neighbours.
report.strips = (visit, height) => {
  const paths = {};
  let open = null;
  const close = () => {
    if (!open) return;
    const width = Math.max(1, open.to - open.from - (open.alone ? 0.8 : 0));
    (paths[open.name] = paths[open.name] || []).push(`M${open.from.toFixed(2)},${open.y}h${width.toFixed(2)}v${height}h${(-width).toFixed(2)}z`);
    open = null;
  };
  visit((name, from, to, y) => {
    const joins = open && open.y === y && !open.alone && to - from < 3 && from - open.to < 0.5 && (open.name === name || to - open.from < 1);
    if (joins) { open.to = Math.max(open.to, to); return; }
    close();
    open = { name, from, to, y, alone: to - from >= 3 };
  });
  close();
  return paths;
};

// `clicked` is called with the position of the op that was clicked.
report.timeline = (placement, { stretch, clicked }) => {
  const { timeline, ops, groups, problem } = placement, element = report.element;
  const { lanes, path } = report.lanesOf(placement);
  const roomy = lanes.length <= 8, deviceHeight = roomy ? 34 : 25, channelHeight = roomy ? 22 : 17, between = 10, top = 8;
  let below = top;
  lanes.forEach((lane, i) => {
    if (lane.kind === "channel" && i > 0 && lanes[i - 1].kind === "device") below += between;
    lane.y = below;
    lane.height = lane.kind === "device" ? deviceHeight : channelHeight;
    below += lane.height;
  });

  // The types with most time get a colour each; the others share one.
  const timeOfType = new Float64Array(ops.type_names.length);
  ops.types.forEach((type, op) => { timeOfType[type] += ops.lasts[op]; });
  const ranked = d3.range(timeOfType.length).sort((a, b) => d3.descending(timeOfType[a], timeOfType[b]) || a - b);
  const rankOfType = new Map(ranked.map((type, rank) => [type, rank]));
  const palette = ["c0", "c1", "c2", "c3", "c4", "c5", "c7"];  // c6 is too similar to the colour of transfers
  const colourOfType = (type) => palette[rankOfType.get(type)] || "rest";
  const types = ranked.slice(0, palette.length).map((type, rank) => [palette[rank], ops.type_names[type] || "no type"])
    .concat(ranked.length > palette.length ? [["rest", report.many(ranked.length - palette.length, "other type")]] : []);

  let by = "device", scale = null, pointed = null;
  const nameOf = (lane, i) => {
    if (lane.kind === "device") return ops.names[lane.items[i]];
    const transfer = lane.items[i], output = timeline.transfers.outputs[transfer];
    return ops.names[timeline.transfers.ops[transfer]] + (output === null ? "" : `:${output}`);
  };
  const classOf = (lane, i) => lane.kind === "channel" ? "open" : by === "device" ? report.colourOfDevice(lane.id)
    : colourOfType(ops.types[lane.items[i]]);

  const drawLanes = (group) => {
    const { x, left, right } = scale, inside = (value) => Math.max(left, Math.min(right, value));
    const visible = (lane, visit) => {
      for (let i = d3.bisectRight(lane.reach, stretch.from); i < lane.starts.length && lane.starts[i] < stretch.to; ++i)
        if (lane.ends[i] > stretch.from) visit(i, inside(x(lane.starts[i])), inside(x(lane.ends[i])));
    };
    const add = (paths, name) => {
      for (const each of Object.keys(paths).sort()) group.append("path").attr("class", `${name} ${each}`).attr("d", paths[each].join(""));
    };
    for (const lane of lanes) {
      const bar = lane.height - 7;
      add(report.strips((put) => visible(lane, (i, from, to) => put(classOf(lane, i), from, to, lane.y + 5)), bar), "bars");
    }
    add(report.strips((put) => {
      for (const lane of lanes) visible(lane, (i, from, to) => { if (lane.critical[i]) put("on", from, to, lane.y + 1); });
    }, 3), "critical");
    drawHops(group);
    let labels = 0;
    for (const lane of lanes)
      if (lane.kind === "device")
        visible(lane, (i, from, to) => {
          if (to - from < 44 || ++labels > 300) return;
          group.append("text").attr("class", "inside").attr("x", from + 4).attr("y", lane.y + 5 + (lane.height - 7) / 2).attr("dy", "0.35em")
            .text(report.fitEnd(nameOf(lane, i), to - from - 9, 11));
        });
  };
  // Lines where the critical path goes from one lane to another; none if they are too many to tell apart.
  const drawHops = (group) => {
    const hops = [];
    for (let i = 1; i < path.length; ++i) {
      const [before, now] = [path[i - 1], path[i]];
      if (before && now && before.lane !== now.lane && now.start >= stretch.from && now.start <= stretch.to)
        hops.push([scale.x(now.start), lanes[before.lane].y + 2, lanes[now.lane].y + 2]);
    }
    if (hops.length > 0 && hops.length <= 200)
      group.append("path").attr("class", "hops").attr("d", hops.map(([px, from, to]) => `M${px.toFixed(2)},${from}V${to}`).join(""));
  };

  const draw = (box, width) => {
    const height = below + 26, svg = report.svg(box, width, height, "The step over time");
    const plot = svg.append("g"), mark = svg.append("rect").attr("class", "pointed").attr("visibility", "hidden");
    const render = () => {
      scale = report.timeScale(stretch, width);
      plot.selectAll("*").remove();
      mark.attr("visibility", "hidden");
      report.timeAxis(plot, stretch, scale, top - 4, below);
      for (const lane of lanes) {
        const middle = lane.y + lane.height / 2 + 1;
        plot.append("text").attr("class", lane.kind === "device" ? "lane" : "lane soft").attr("x", scale.left - 8).attr("y", middle)
          .attr("dy", "0.35em").attr("text-anchor", "end").text(report.fit(lane.name, scale.left - 12, 12)).append("title").text(lane.name);
        plot.append("text").attr("class", "soft").attr("x", width - 2).attr("y", middle).attr("dy", "0.35em").attr("text-anchor", "end")
          .text(report.percent(lane.busy / timeline.end));
      }
      drawLanes(plot);
    };
    box.render = render;
    render();
    const find = (event) => {
      const [mx, my] = d3.clientPoint(svg.node(), event);
      const lane = lanes.find((each) => my >= each.y && my < each.y + each.height);
      if (!lane || mx < scale.left || mx > scale.right) return null;
      let nearest = null, distance = 4;
      const time = scale.x.invert(mx), reach = scale.x.invert(mx + 4) - time;
      for (let i = d3.bisectRight(lane.reach, time - reach); i < lane.starts.length && lane.starts[i] <= time + reach; ++i) {
        const away = Math.max(scale.x(lane.starts[i]) - mx, mx - scale.x(lane.ends[i]), 0);
        if (away < distance) [nearest, distance] = [i, away];
      }
      return nearest === null ? null : { lane, i: nearest };
    };
    svg.on("mousemove", () => {
      pointed = d3.event.buttons ? null : find(d3.event);
      mark.attr("visibility", pointed ? "visible" : "hidden");
      if (!pointed) { report.noTip(); return; }
      const { lane, i } = pointed, from = Math.max(scale.left, scale.x(lane.starts[i])), to = Math.min(scale.right, scale.x(lane.ends[i]));
      mark.attr("x", from - 1).attr("width", Math.max(3, to - from + 1)).attr("y", lane.y + 4).attr("height", lane.height - 5);
      report.tip(d3.event, ...tell(lane, i));
    }).on("mouseleave", () => { mark.attr("visibility", "hidden"); report.noTip(); });
  };

  const tell = (lane, i) => {
    const pair = (key, value) => [element("dt", {}, key), element("dd", {}, value)], transfer = lane.items[i];
    const times = [...pair("starts", report.ticksText(lane.starts[i], 7)), ...pair("lasts", report.ticksText(lane.ends[i] - lane.starts[i], 7))];
    const critical = lane.critical[i] ? pair("critical path", "yes") : [];
    if (lane.kind === "device") {
      const op = lane.items[i];
      return [element("b", {}, ops.names[op]), element("dl", {}, pair("type", ops.type_names[ops.types[op]] || "–"), pair("on", lane.name),
        pair("group", groups.nodes[groups.of_ops[op]].name), times, pair("makes", report.bytes(ops.made[op])),
        ops.resident[op] ? pair("resident", report.bytes(ops.resident[op])) : [], critical)];
    }
    const { from, to, bytes } = timeline.transfers;
    const moves = `${problem.devices[from[transfer]].name} to ${problem.devices[to[transfer]].name}`;
    return [element("b", {}, nameOf(lane, i)), element("dl", {}, pair("moves", moves), pair("over", lane.name),
      pair("size", report.bytes(bytes[transfer])), times, critical)];
  };

  const box = report.chart("timeline", draw);
  const redraw = () => { if (box.render) box.render(); };
  stretch.onChange(redraw);
  report.zoomable(box, stretch, () => scale, () => { if (pointed && pointed.lane.kind === "device") clicked(pointed.lane.items[pointed.i]); });

  const legend = element("span", { class: "legend" });
  const key = (name, text, line) => element("span", {}, element("i", { class: `${name}${line ? " line" : ""}` }), text);
  const fill = () => legend.replaceChildren(key("ink", "critical path", true),
    ...(lanes.some((lane) => lane.kind === "channel") ? [key("open", "transfer")] : []),
    ...(by === "type" ? types.map(([name, text]) => key(name, text)) : []));
  fill();
  const share = (part) => report.percent(part / timeline.end), { computing, transferring, waiting } = timeline.path;
  const gone = [
    ops.total > ops.names.length ? `the ${report.count(ops.names.length)} longest of ${report.count(ops.total)} ops` : null,
    timeline.transfers_total > timeline.transfers.ops.length
      ? `the ${report.count(timeline.transfers.ops.length)} longest of ${report.count(timeline.transfers_total)} transfers` : null,
    timeline.channels > lanes.filter((lane) => lane.kind === "channel").length ? `the busiest of ${timeline.channels} channels in use` : null,
  ].filter((each) => each);
  const card = report.card("Timeline",
    `What each device and channel does in a step of ${report.ticksText(timeline.end, 6)}. The critical path, the chain that makes up the ` +
    `step time, computes for ${share(computing)} of it and moves tensors for ${share(transferring)}. For ${share(waiting)} it waits: the next step is ` +
    "ready, but other work comes first on its device or channel." +
    (timeline.idle.length ? ` Nothing runs on ${timeline.idle.slice(0, 8).join(", ")}${timeline.idle.length > 8 ? ", …" : ""}.` : "") +
    (gone.length ? ` Drawn are ${gone.join(", ")}, and all that is on the critical path.` : ""),
    element("span", { class: "screen hint" }, "Click, then wheel, drag or + − ← → 0"),
    ops.type_names.length > 1 ? report.choice({ device: "by device", type: "by type" }, by, (value) => { by = value; fill(); redraw(); }) : null,
    report.zoomButtons(stretch));
  card.append(box, legend);
  return card;
};
