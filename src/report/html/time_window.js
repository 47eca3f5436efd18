"use strict";
// The time window of a step, in picoseconds, that several charts show together; wheel, drag and keys change it.
report.timeWindow = (end) => {
  const shortest = Math.min(end, 1000), listeners = [];
  let frame = null;
  const stretch = { from: 0, to: end, end, onChange: (listener) => listeners.push(listener) };
  stretch.set = (from, to) => {
    const span = Math.max(shortest, Math.min(end, to - from));
    stretch.from = Math.max(0, Math.min(end - span, from));
    stretch.to = stretch.from + span;
    if (frame === null) frame = requestAnimationFrame(() => { frame = null; for (const listener of listeners) listener(); });
  };
  // Makes the window `factor` times as long; the time `at` stays at its place on the screen.
  stretch.zoom = (factor, at = (stretch.from + stretch.to) / 2) => {
    const now = stretch.to - stretch.from, span = Math.max(shortest, Math.min(end, now * factor));
    const from = at - (at - stretch.from) / now * span;
    stretch.set(from, from + span);
  };
  stretch.move = (share) => {
    const by = share * (stretch.to - stretch.from);
    stretch.set(stretch.from + by, stretch.to + by);
  };
  stretch.all = () => stretch.set(0, end);
  stretch.isAll = () => stretch.to - stretch.from >= end;
  return stretch;
};

// Maps times to x in a chart of this width. The timeline and the memory chart lie below each other and share margins.
report.timeScale = (stretch, width) => {
  const left = Math.round(Math.max(64, Math.min(170, width * 0.15))), right = width - 62;
  return { left, right, x: d3.scaleLinear().domain([stretch.from, stretch.to]).range([left, right]) };
};

// Ticks at round numbers of the unit that fits what is shown.
report.timeAxis = (group, stretch, { left, right }, top, bottom) => {
  const [size, unit] = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"], [1, "ps"]].find(([each]) => stretch.to >= each) || [1, "ps"];
  const scale = d3.scaleLinear().domain([stretch.from / size, stretch.to / size]).range([left, right]);
  let count = Math.max(2, Math.min(10, (right - left) / 80));
  const widest = () => d3.max(scale.ticks(count), (tick) => report.width(scale.tickFormat(count)(tick))) + 14;
  while (count > 2 && widest() * scale.ticks(count).length > right - left) --count;
  const format = scale.tickFormat(count);
  for (const tick of scale.ticks(count)) {
    const at = scale(tick);
    group.append("line").attr("class", "gridline").attr("x1", at).attr("x2", at).attr("y1", top).attr("y2", bottom);
    if (at + report.width(format(tick)) / 2 < right + 16)
      group.append("text").attr("class", "soft").attr("x", at).attr("y", bottom + 15).attr("text-anchor", "middle").text(format(tick));
  }
  group.append("text").attr("class", "soft").attr("x", right + 48).attr("y", bottom + 15).attr("text-anchor", "end").text(unit);
};

// `box`: a chart; `scale`: returns the timeScale of its last drawing; `clicked`: called for a press without a drag. The
// wheel scrolls the page, and zooms only after a click into the chart or while Ctrl is held.
report.zoomable = (box, stretch, scale, clicked = () => {}) => {
  const at = (event) => scale().x.invert(event.clientX - box.getBoundingClientRect().left + box.scrollLeft);
  let pressed = null;
  box.setAttribute("tabindex", "0");
  box.classList.add("zoomable");
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== box) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) stretch.move(event.deltaX / 1000);
    else stretch.zoom(2 ** (event.deltaY / 250), at(event));
  }, { passive: false });
  box.addEventListener("mousedown", (event) => {
    if (event.button === 0) pressed = { x: event.clientX, from: stretch.from, to: stretch.to, moved: false };
  });
  addEventListener("mousemove", (event) => {
    if (!pressed) return;
    pressed.moved = pressed.moved || Math.abs(event.clientX - pressed.x) > 3;
    const { left, right } = scale(), by = (pressed.x - event.clientX) / (right - left) * (pressed.to - pressed.from);
    if (pressed.moved) stretch.set(pressed.from + by, pressed.to + by);
    box.classList.toggle("dragged", pressed.moved);
  });
  addEventListener("mouseup", (event) => {
    if (pressed && !pressed.moved && box.contains(event.target)) clicked(event);
    pressed = null;
    box.classList.remove("dragged");
  });
  box.addEventListener("dblclick", (event) => stretch.zoom(event.shiftKey ? 4 : 0.25, at(event)));
  box.addEventListener("keydown", (event) => {
    const act = { "+": () => stretch.zoom(0.5), "=": () => stretch.zoom(0.5), "-": () => stretch.zoom(2), "0": stretch.all,
      ArrowLeft: () => stretch.move(-0.2), ArrowRight: () => stretch.move(0.2), Home: stretch.all }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
};

// Buttons that do the same.
report.zoomButtons = (stretch) => {
  const button = (text, label, act) => report.element("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  return report.element("span", { class: "choice zoom" }, button("−", "Show more of the step", () => stretch.zoom(2)),
    button("All", "Show the whole step", stretch.all), button("+", "Show less of the step", () => stretch.zoom(0.5)));
};
