"use strict";
// The stretch of a step that charts show together, in picoseconds, and the hands that move it: wheel, drag, keys.
report.timeWindow = (end) => {
  const shortest = Math.min(end, 1000), listeners = [];
  let frame = null;
  const window_ = { from: 0, to: end, end, onChange: (listener) => listeners.push(listener) };
  window_.set = (from, to) => {
    const span = Math.max(shortest, Math.min(end, to - from));
    window_.from = Math.max(0, Math.min(end - span, from));
    window_.to = window_.from + span;
    if (frame === null) frame = requestAnimationFrame(() => { frame = null; for (const listener of listeners) listener(); });
  };
  // Shows `factor` times as much, with the instant `at` where it is.
  window_.zoom = (factor, at = (window_.from + window_.to) / 2) => {
    const now = window_.to - window_.from, span = Math.max(shortest, Math.min(end, now * factor));
    const from = at - (at - window_.from) / now * span;
    window_.set(from, from + span);
  };
  window_.move = (share) => {
    const by = share * (window_.to - window_.from);
    window_.set(window_.from + by, window_.to + by);
  };
  window_.all = () => window_.set(0, end);
  window_.isAll = () => window_.to - window_.from >= end;
  return window_;
};

// Where times are in a chart `width` wide: timelines and memory lie below one another and share their margins.
report.timeScale = (window_, width) => {
  const left = Math.round(Math.max(64, Math.min(170, width * 0.15))), right = width - 50;
  return { left, right, x: d3.scaleLinear().domain([window_.from, window_.to]).range([left, right]) };
};

// Ticks at round numbers of the unit that fits what is shown.
report.timeAxis = (group, window_, { left, right }, top, bottom) => {
  const [size, unit] = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"], [1, "ps"]].find(([each]) => window_.to >= each) || [1, "ps"];
  const scale = d3.scaleLinear().domain([window_.from / size, window_.to / size]).range([left, right]);
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

// `box`: a chart, `scale`: the timeScale it was drawn with last; `clicked`: a press that moved nothing. The wheel belongs to
// the page until somebody clicks into the chart, or holds Ctrl.
report.zoomable = (box, window_, scale, clicked = () => {}) => {
  const at = (event) => scale().x.invert(event.clientX - box.getBoundingClientRect().left + box.scrollLeft);
  let pressed = null;
  box.setAttribute("tabindex", "0");
  box.classList.add("zoomable");
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== box) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) window_.move(event.deltaX / 1000);
    else window_.zoom(2 ** (event.deltaY / 250), at(event));
  }, { passive: false });
  box.addEventListener("mousedown", (event) => {
    if (event.button === 0) pressed = { x: event.clientX, from: window_.from, to: window_.to, moved: false };
  });
  addEventListener("mousemove", (event) => {
    if (!pressed) return;
    pressed.moved = pressed.moved || Math.abs(event.clientX - pressed.x) > 3;
    const { left, right } = scale(), by = (pressed.x - event.clientX) / (right - left) * (pressed.to - pressed.from);
    if (pressed.moved) window_.set(pressed.from + by, pressed.to + by);
    box.classList.toggle("dragged", pressed.moved);
  });
  addEventListener("mouseup", (event) => {
    if (pressed && !pressed.moved && box.contains(event.target)) clicked(event);
    pressed = null;
    box.classList.remove("dragged");
  });
  box.addEventListener("dblclick", (event) => window_.zoom(event.shiftKey ? 4 : 0.25, at(event)));
  box.addEventListener("keydown", (event) => {
    const act = { "+": () => window_.zoom(0.5), "=": () => window_.zoom(0.5), "-": () => window_.zoom(2), "0": window_.all,
      ArrowLeft: () => window_.move(-0.2), ArrowRight: () => window_.move(0.2), Home: window_.all }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
};

// Buttons that do the same.
report.zoomButtons = (window_) => {
  const button = (text, label, act) => report.element("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  return report.element("span", { class: "choice zoom" }, button("−", "Show more of the step", () => window_.zoom(2)),
    button("All", "Show the whole step", window_.all), button("+", "Show less of the step", () => window_.zoom(0.5)));
};
