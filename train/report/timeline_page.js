"use strict";
// The data are those of timeline_json (train/report/timeline.h). Names come from files, so they are set as text, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
// Okabe and Ito's colours, which people of all kinds of colour vision tell apart, and two greys; by category.
const colours = ["#56b4e9", "#0072b2", "#556677", "#999999", "#009e73", "#cc79a7", "#e69f00", "#d55e00", "#f0e442"];
const categories = data.categories.length;
const settings = data.settings.map(prepare);
const used = data.categories.map((_, k) => settings.some((s) => s.values.some((v) => v.category === k)));
const most = Math.max(...settings.map((s) => s.bytes), 1);
const state = { setting: settings.length - 1, step: null, value: null };  // step null: each setting's peak

/** Values as objects, and the bytes of each category that are needed at each step. */
function prepare(setting) {
  const steps = setting.ops.length;
  const live = data.categories.map(() => new Float64Array(steps + 1));
  const values = setting.values.map(([id, category, bytes, born, until, dies, offset]) => {
    const [name, layer, type] = id >= 0 ? data.vars[id] : ["workspace of " + setting.ops[born][0], "", ""];
    return { name, layer, type, category, bytes, born, until, dies, offset };
  });
  for (const v of values) {
    live[v.category][v.born] += v.bytes;
    live[v.category][v.until] -= v.bytes;
  }
  for (const row of live) for (let s = 1; s <= steps; s++) row[s] += row[s - 1];
  return { ...setting, steps, live, values, mapped: values.filter((v) => v.offset >= 0) };
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const units = [[1, "B"], [1024, "KiB"], [1048576, "MiB"], [1073741824, "GiB"]];

/** As the program prints it elsewhere: "8.3 MiB". */
function amount(bytes) {
  const [unit, name] = units[bytes < 1024 ? 0 : bytes < 1048576 / 10 ? 1 : 2];
  return (bytes / unit).toFixed(unit === 1 ? 0 : 1) + " " + name;
}

/** Short, for axes: "2 GiB". */
function tickText(bytes) {
  const [unit, name] = units.findLast(([unit]) => unit <= bytes) ?? units[0];
  return Number((bytes / unit).toFixed(2)) + " " + name;
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const stepOf = (setting) => clamp(state.step ?? setting.peak, 0, Math.max(setting.steps - 1, 0));
const opText = (setting, step) => `op ${step + 1} of ${setting.steps}, ${setting.ops[step][0]}` +
  (setting.ops[step][1] ? ` for ${setting.ops[step][1]}` : "");

// ---- drawing ------------------------------------------------------------------------------------------------------

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A cleared canvas with a frame for `steps` by `bytes`; its unit is the CSS pixel. */
function begin(canvas, steps, bytes) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  const left = 62, right = width - 8, top = 20, bottom = height - 22;
  const frame = {
    context, left, right, top, bottom, steps: Math.max(steps, 1), bytes: Math.max(bytes, 1),
    x: (step) => left + (right - left) * step / Math.max(steps, 1),
    y: (b) => bottom - (bottom - top) * b / Math.max(bytes, 1),
  };
  canvas.frame = frame;
  return frame;
}

/** A round number of bytes of which at most five make `bytes`. */
function tickStep(bytes) {
  let unit = 1;
  while (unit * 1024 <= bytes / 2) unit *= 1024;
  let tick = unit;
  for (let i = 0; bytes / tick > 5; i++) tick *= i % 3 === 1 ? 2.5 : 2;
  return tick;
}

function axes(frame, setting) {
  const { context: c, left, right, bottom } = frame;
  c.strokeStyle = style("--line");
  c.fillStyle = style("--quiet");
  c.lineWidth = 1;
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (let b = 0, tick = tickStep(frame.bytes); b <= frame.bytes; b += tick) {
    const y = Math.round(frame.y(b)) + .5;
    c.beginPath(), c.moveTo(left, y), c.lineTo(right, y), c.stroke();
    c.fillText(tickText(b), left - 6, y);
  }
  c.textBaseline = "bottom";
  c.textAlign = "left";
  const backward = setting.ops.findIndex((op) => op[2] === 1);
  c.fillText("forward", left, bottom + 19);
  if (backward > 0) {
    const x = Math.round(frame.x(backward)) + .5;
    c.fillText("backward and updates", Math.max(x + 3, left + 60), bottom + 19);
    c.beginPath(), c.moveTo(x, bottom), c.lineTo(x, bottom + 16), c.stroke();
  }
}

function upright(frame, step, bytes, dashes, colour) {
  const c = frame.context, x = frame.x(step + .5);
  c.save();
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.setLineDash(dashes);
  c.beginPath(), c.moveTo(x, frame.y(bytes)), c.lineTo(x, frame.bottom), c.stroke();
  c.restore();
}

/** The peak, the chosen step, and a bold line at what is held, with its text where the peak is not. */
function markers(frame, setting, held, text) {
  const c = frame.context, y = frame.y(held);
  upright(frame, setting.peak, held, [4, 3], style("--text"));
  if (state.step !== null) upright(frame, stepOf(setting), held, [], style("--accent"));
  c.strokeStyle = c.fillStyle = style("--text");
  c.lineWidth = 2;
  c.beginPath(), c.moveTo(frame.left, y), c.lineTo(frame.right, y), c.stroke();
  const atRight = setting.peak < setting.steps / 2;
  c.textAlign = atRight ? "right" : "left";
  c.textBaseline = "bottom";
  c.fillText(text, atRight ? frame.right : frame.left, y - 3);
}

function hatching(context) {
  const tile = element("canvas", { width: 8, height: 8 }), t = tile.getContext("2d");
  t.fillStyle = style("--idle"), t.fillRect(0, 0, 8, 8);
  t.strokeStyle = style("--hatch");
  t.beginPath();
  for (const at of [-8, 0, 8]) t.moveTo(at - 1, 9), t.lineTo(at + 9, -1);
  t.stroke();
  return context.createPattern(tile, "repeat");
}

function drawChart(canvas, setting) {
  const frame = begin(canvas, setting.steps, most * 1.04), c = frame.context;
  c.fillStyle = hatching(c);
  c.fillRect(frame.left, frame.y(setting.bytes), frame.right - frame.left, frame.bottom - frame.y(setting.bytes));
  axes(frame, setting);
  const floor = new Float64Array(setting.steps);
  for (let k = 0; k < categories; k++) {
    c.beginPath();
    for (let s = 0; s < setting.steps; s++) {
      const y = frame.y(floor[s] += setting.live[k][s]);
      c.lineTo(frame.x(s), y), c.lineTo(frame.x(s + 1), y);
    }
    for (let s = setting.steps - 1; s >= 0; s--) {
      const y = frame.y(floor[s] - setting.live[k][s]);
      c.lineTo(frame.x(s + 1), y), c.lineTo(frame.x(s), y);
    }
    c.fillStyle = colours[k];
    c.fill();
  }
  markers(frame, setting, setting.bytes, "held: " + amount(setting.bytes));
}

function drawMap() {
  const setting = settings[state.setting], canvas = document.getElementById("map");
  const frame = begin(canvas, setting.steps, setting.span), c = frame.context;
  c.fillStyle = style("--idle");
  c.fillRect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  axes(frame, setting);
  c.lineWidth = 1;
  c.textAlign = "left";
  c.textBaseline = "middle";
  for (const v of setting.mapped) {
    const x = frame.x(v.born), y = frame.y(v.offset + v.bytes);
    const width = frame.x(v.until) - x, height = frame.y(v.offset) - y;
    c.fillStyle = colours[v.category];
    c.fillRect(x, y, Math.max(width, .6), Math.max(height, .6));
    if (width > 6 && height > 6) c.strokeStyle = style("--page"), c.strokeRect(x, y, width, height);
    if (height > 13 && width > c.measureText(v.name).width + 8)
      c.fillStyle = "#000000", c.fillText(v.name, x + 4, y + height / 2);
  }
  markers(frame, setting, setting.span, "on the map: " + amount(setting.span));
  const v = state.value;
  if (!v) return;
  c.strokeStyle = style("--text");
  c.lineWidth = 3;
  c.strokeRect(frame.x(v.born), frame.y(v.offset + v.bytes), Math.max(frame.x(v.until) - frame.x(v.born), 2),
    Math.max(frame.y(v.offset) - frame.y(v.offset + v.bytes), 2));
}

// ---- text ---------------------------------------------------------------------------------------------------------

/** A row of a table: what it is, then cells. */
function rowOf(head, ...cells) {
  return element("tr", {}, element("th", { scope: "row" }, ...head), ...cells.map((text) => element("td", {}, text)));
}

function headOf(...texts) {
  return element("thead", {}, element("tr", {}, ...texts.map((text) => element("th", { scope: "col" }, text))));
}

function swatch(category) {
  const made = element("span", { className: category === undefined ? "swatch idle" : "swatch" });
  if (category !== undefined) made.style.background = colours[category];
  return made;
}

function showTable() {
  const [unit, name] = units[most < 1048576 ? 1 : 2];
  const figures = (bytes) => bytes.map((b) => !b ? "–" : b < .01 * unit ? "< 0.01" : (b / unit).toFixed(b < 10 * unit ? 2 : 1));
  const at = (setting, k) => setting.steps ? setting.live[k][stepOf(setting)] : 0;
  const rows = data.categories.flatMap((category, k) =>
    used[k] ? [rowOf([swatch(k), category], ...figures(settings.map((s) => at(s, k))))] : []);
  const needed = settings.map((s) => data.categories.reduce((sum, _, k) => sum + at(s, k), 0));
  rows.push(rowOf([swatch(), "held, not needed"], ...figures(settings.map((s, i) => s.bytes - needed[i]))));
  document.getElementById("legend").replaceChildren(
    headOf((state.step === null ? "at the peak, " : "at that op, ") + name, ...settings.map((s) => s.memopt)),
    element("tbody", {}, ...rows), element("tfoot", {}, rowOf(["held"], ...figures(settings.map((s) => s.bytes)))));
}

function showLargest() {
  const setting = settings[state.setting], step = stepOf(setting);
  const alive = setting.values.filter((v) => v.born <= step && step < v.until).sort((a, b) => b.bytes - a.bytes).slice(0, 9);
  document.getElementById("largest").replaceChildren(headOf("largest then, " + setting.memopt, ""),
    element("tbody", {}, ...alive.map((v) => rowOf([swatch(v.category), v.name], amount(v.bytes)))));
  document.getElementById("moment").textContent = !setting.steps ? "" :
    (state.step === null ? `The peak of ${setting.memopt}: ` : `${setting.memopt}: `) + opText(setting, step);
  document.getElementById("reset").hidden = state.step === null;
}

function showValue() {
  const v = state.value, setting = settings[state.setting];
  const facts = v ? [
    ["value", v.name], ["layer", v.layer || "–"], ["kind", data.categories[v.category] + (v.type ? ", " + v.type : "")],
    ["bytes", `${v.bytes.toLocaleString("en")} (${amount(v.bytes)}) from ${v.offset.toLocaleString("en")} on`],
    ["born", opText(setting, v.born)],
    ["last used", v.dies >= setting.steps ? "kept to the end" : opText(setting, v.dies - 1)],
  ] : [["value", "none chosen"]];
  document.getElementById("value").replaceChildren(
    ...facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
}

function show() {
  settings.forEach((s, i) => drawChart(s.canvas, s));
  drawMap();
  showTable();
  showLargest();
  showValue();
}

// ---- pointing and keys --------------------------------------------------------------------------------------------

function change(next) {
  Object.assign(state, next);
  settings.forEach((s, i) => s.radio.checked = i === state.setting);
  show();
}

const stepAt = (frame, event) =>
  clamp(Math.floor((event.offsetX - frame.left) / (frame.right - frame.left) * frame.steps), 0, frame.steps - 1);

/** The value under the pointer, else the nearest within a finger's reach. */
function valueAt(frame, setting, event) {
  let best = null, reach = event.pointerType === "touch" ? 14 : 4;
  for (const v of setting.mapped) {
    const dx = Math.max(frame.x(v.born) - event.offsetX, event.offsetX - frame.x(v.until), 0);
    const dy = Math.max(frame.y(v.offset + v.bytes) - event.offsetY, event.offsetY - frame.y(v.offset), 0);
    const distance = Math.hypot(dx, dy);
    if (distance < reach) best = v, reach = distance;
  }
  return best;
}

function stepKey(event, setting) {
  const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
  return by === undefined ? null : clamp(stepOf(setting) + by, 0, setting.steps - 1);
}

/** The value alive at the step that follows the chosen one upwards or downwards. */
function neighbour(setting, upwards) {
  const step = stepOf(setting);
  const alive = setting.mapped.filter((v) => v.born <= step && step < v.until).sort((a, b) => a.offset - b.offset);
  const at = alive.indexOf(state.value);
  return alive[at < 0 ? (upwards ? 0 : alive.length - 1) : clamp(at + (upwards ? 1 : -1), 0, alive.length - 1)] ?? null;
}

function listen(canvas, settingOf, atPointer, atKey) {
  const point = (event) => {
    const setting = settingOf();
    if (setting.steps) change(atPointer(setting, canvas.frame, event));
  };
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("keydown", (event) => {
    const setting = settingOf(), step = stepKey(event, setting);
    const next = event.key === "Escape" ? { step: null, value: null } : step === null ? atKey(setting, event.key) : { step };
    if (!next || !setting.steps) return;
    event.preventDefault();
    change(next);
  });
}

function addSetting(setting, index) {
  setting.canvas = element("canvas", { tabIndex: 0 });
  setting.canvas.setAttribute("role", "img");
  setting.canvas.setAttribute("aria-label", `Bytes held by category under ${setting.memopt}, ${amount(setting.bytes)} in all`);
  const saved = 100 * (1 - setting.bytes / Math.max(settings[0].bytes, 1));
  document.getElementById("charts").append(element("figure", {},
    element("figcaption", {}, element("strong", {}, setting.memopt),
      amount(setting.bytes) + (index ? ` (${saved < 0 ? "+" : "−"}${Math.abs(saved).toFixed(0)} %)` : ""), element("small", {}, setting.note)),
    setting.canvas));
  listen(setting.canvas, () => setting,
    (_, frame, event) => ({ setting: index, step: stepAt(frame, event), value: index === state.setting ? state.value : null }),
    () => null);
  setting.radio = element("input", { type: "radio", name: "setting", checked: index === state.setting });
  setting.radio.addEventListener("change", () => change({ setting: index, value: null }));
  document.getElementById("choice").append(element("label", {}, setting.radio, setting.memopt));
}

settings.forEach(addSetting);
document.getElementById("map").setAttribute("aria-label", "Map of values: ops to the right, bytes upwards");
listen(document.getElementById("map"), () => settings[state.setting],
  (setting, frame, event) => ({ step: stepAt(frame, event), value: valueAt(frame, setting, event) }),
  (setting, key) => key === "ArrowUp" || key === "ArrowDown" ? { value: neighbour(setting, key === "ArrowUp") } : null);
document.getElementById("reset").addEventListener("click", () => change({ step: null, value: null }));
new ResizeObserver(show).observe(document.body);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
