// The context map: rows are items (height = tokens), columns are steps. Hue = what an item is, texture = its fate.
import { chooseStep, compact, full, go, keepDrawn, load, pageOf, palette, sharpen, stepOfAddress, tellParts } from "./canvas.js";
import { paint, textures } from "./textures.js";

const canvas = document.getElementById("map");
const readout = document.getElementById("map-readout");
const LEFT = 54, RIGHT = 10, TOP = 4, BOTTOM = 18;
let data = null, total = 0, tops = [], at = null, drag = null, asked = null;

const REASONS = {
  max_items: "over the item limit", max_chars: "over the character limit", max_tokens: "over the token limit",
  tier1: "older than the results that are kept", tier2: "earlier reasoning is trimmed", pair_guard: "its call or result is not in the context",
  pinned_prefix: "part of the pinned beginning", pinned_by_person: "pinned by a person", system: "system items are always kept",
  compacted: "replaced by the summary of a compaction", micro_compacted: "cleared by the agent's micro-compaction",
  previewed: "the policy's micro-compaction left its beginning",
  provider_strips: "the provider leaves out reasoning of earlier turns", log_offloaded: "the agent stored the original in a file",
  abandoned_branch: "on a branch that was abandoned", context_cleared: "the context was cleared", rolled_back: "rolled back",
  earlier_file: "only in an earlier file", log_summary: "a summary that the log carries", ui_only: "shown to the person, never sent",
};
const spelled = (word) => word.replaceAll("_", " ");

function take(found) {
  data = found;
  // Heights grow with the tokens; a floor keeps small items findable where there is room for it.
  const sizes = data.bands.map((band) => band[3]);
  const sum = sizes.reduce((all, size) => all + size, 0) || 1;
  const floor = sum / Math.max(data.bands.length, 1) / 12;
  tops = [0];
  for (const size of sizes) tops.push(tops.at(-1) + Math.max(size, floor));
}

function frame() {
  const box = canvas.getBoundingClientRect();
  const [first, last] = data.steps, steps = last - first + 1, height = tops.at(-1) || 1;
  return {
    x: (step) => LEFT + ((step - first) / steps) * (box.width - LEFT - RIGHT),
    y: (band) => TOP + (tops[band] / height) * (box.height - TOP - BOTTOM),
    stepAt: (left) => first + Math.floor(((left - LEFT) / (box.width - LEFT - RIGHT)) * steps),
    bandAt: (top) => bandOf(((top - TOP) / (box.height - TOP - BOTTOM)) * height),
    first, last, width: box.width, height: box.height,
  };
}

function bandOf(token) {
  if (token < 0 || token >= tops.at(-1)) return -1;
  let low = 0, high = tops.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (tops[middle] <= token) low = middle; else high = middle;
  }
  return low;
}

function draw() {
  if (!data?.bands.length) return;
  const colours = palette(), view = frame();
  const { pen, width, height } = sharpen(canvas);
  const patterns = textures(pen, colours);
  pen.clearRect(0, 0, width, height);
  for (const [first, last, verdict, , begin, end] of data.rects) {
    const left = view.x(Math.max(begin, view.first)), right = view.x(Math.min(end, view.last + 1));
    let from = first;
    // A rectangle may span kinds: each run of one kind has its hue.
    while (from <= last) {
      const kind = data.kinds[data.bands[from][2]];
      let to = from;
      while (to < last && data.kinds[data.bands[to + 1][2]] === kind) to++;
      const top = view.y(from), bottom = view.y(to + 1);
      paint(pen, data.verdicts[verdict], kind, [left, top, Math.max(right - left, 0.7), Math.max(bottom - top - (bottom - top > 3 ? 0.5 : 0), 0.4)], colours, patterns);
      from = to + 1;
    }
  }
  lines(pen, view, colours);
}

function lines(pen, view, colours) {
  const bottom = view.height - BOTTOM;
  const crowded = (view.width - LEFT) / Math.max(data.marks.length, 1) < 24;
  pen.lineWidth = crowded ? 1 : 1.2;
  pen.globalAlpha = crowded ? 0.35 : 1;
  pen.strokeStyle = colours.summary;
  // Dashed: due, but not made, since it needs a model.
  for (const [step, , made] of data.marks) {
    pen.setLineDash(made ? [] : [2, 3]);
    stroke(pen, view.x(step), 2, view.x(step), bottom);
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
  pen.fillStyle = colours.muted;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  const pace = Math.max(1, Math.ceil((view.last - view.first + 1) / 10));
  for (let step = view.first; step <= view.last; step += pace) pen.fillText(full(step), view.x(step + 0.5), view.height - 7);
  pen.textAlign = "right";
  let free = -20;
  data.bands.forEach((band, place) => {
    const top = view.y(place) + 6;
    if (top < free || top > bottom) return;
    pen.fillText(`#${band[0]}`, LEFT - 6, top);
    free = top + Math.max(40, view.height / 7);
  });
  if (at) {
    pen.strokeStyle = colours.text;
    pen.lineWidth = 1;
    const x = Math.round(view.x(at.step + 0.5)) + 0.5, y = Math.round((view.y(at.band) + view.y(at.band + 1)) / 2) + 0.5;
    stroke(pen, x, 2, x, bottom);
    if (at.band >= 0) { pen.globalAlpha = 0.5; stroke(pen, LEFT, y, view.width - RIGHT, y); pen.globalAlpha = 1; }
  }
  if (drag?.moved) {
    pen.fillStyle = colours.accent;
    pen.globalAlpha = 0.15;
    pen.fillRect(Math.min(drag.from, drag.to), TOP, Math.abs(drag.to - drag.from), bottom - TOP);
    pen.globalAlpha = 1;
  }
}

function stroke(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function tell() {
  if (!data?.bands.length) return;
  const range = `steps ${full(data.steps[0])} to ${full(data.steps[1])} of ${full(total)}, items #${data.items[0]} to #${data.items[1]}`;
  if (!at || at.band < 0) {
    readout.textContent = `${range}${data.exact ? "" : " · neighbours are drawn together: zoom in to see each"} · drag over steps to zoom, click opens the step; with the map in focus: arrows, + and −, enter, i.`;
    return;
  }
  const [first, last, kind, tokens] = data.bands[at.band];
  const found = data.rects.find(([low, high, , , begin, end]) => low <= at.band && at.band <= high && begin <= at.step && at.step < end);
  const name = first === last ? `#${first} ${spelled(data.kinds[kind])}` : `#${first} to #${last}, mostly ${spelled(data.kinds[kind])}`;
  const reason = found ? data.reasons[found[3]] : "";
  const fate = found
    ? `${spelled(data.verdicts[found[2]])}${reason ? ` (${REASONS[reason] ?? spelled(reason)})` : ""}, steps ${full(found[4])} to ${full(found[5] - 1)}${found[5] - 1 >= data.steps[1] ? " or longer" : ""}`
    : "not in memory yet";
  const mark = data.marks.find(([step]) => step === at.step);
  const cut = mark && (mark[2] ? named(mark) : "compaction would fire here");
  // What is summarised stands in the summary of the compaction that began its rectangle.
  const into = reason === "compacted" && found[4] !== at.step && data.marks.find(([step]) => step === found[4]);
  tellParts(readout, [`step ${full(at.step)}`, cut, name, fate, into && named(into), `${compact(tokens)} tokens ${data.token_source}`]);
}

const named = ([, number]) => (canvas.dataset.compaction ? [`compaction #${number}`, pageOf(canvas.dataset.compaction, number)] : `compaction #${number}`);

function move(step, band, quiet = false) {
  if (!data?.bands.length) return;
  at = { step: Math.min(Math.max(step, data.steps[0]), data.steps[1]), band: Math.min(Math.max(band, 0), data.bands.length - 1) };
  if (!quiet) chooseStep(at.step, "map");
  tell();
  soon();
}

// Fetch the range anew: only the server knows what lies inside a rectangle that was put together.
async function zoom(from, to) {
  const first = Math.max(1, Math.round(from)), last = Math.min(total, Math.round(to));
  const address = new URL(canvas.dataset.url, location.href);
  if (first > 1 || last < total) { address.searchParams.set("from", first); address.searchParams.set("to", last); }
  const mine = (asked = {});
  try {
    const found = await load(address.href);
    if (asked !== mine) return;
    take(found);
    at = null;
    canvas.dataset.ready = "yes";
    tell();
    soon();
  } catch (error) {
    readout.textContent = `The map could not be loaded. ${error.message}`;
  }
}

function scaleBy(factor, centre) {
  if (!data?.bands.length) return;
  const [first, last] = data.steps, size = Math.max(5, Math.min((last - first + 1) * factor, total));
  const middle = centre ?? at?.step ?? (first + last) / 2, share = (middle - first) / Math.max(last - first, 1);
  const start = Math.min(Math.max(middle - size * share, 1), Math.max(total - size + 1, 1));
  zoom(start, start + size - 1);
}

const openStep = (event) => { if (at) go(pageOf(canvas.dataset.step, at.step, at.band >= 0 ? { item: data.bands[at.band][0] } : {}), event); };
const openItem = (event) => { if (at?.band >= 0) go(pageOf(canvas.dataset.item, data.bands[at.band][0]), event); };
const KEYS = {
  ArrowLeft: () => move((at?.step ?? data.steps[1]) - 1, at?.band ?? data.bands.length - 1),
  ArrowRight: () => move((at?.step ?? data.steps[0] - 1) + 1, at?.band ?? 0),
  ArrowUp: () => move(at?.step ?? data.steps[1], (at?.band ?? data.bands.length) - 1),
  ArrowDown: () => move(at?.step ?? data.steps[1], (at?.band ?? -1) + 1),
  Enter: openStep,
  i: openItem,
};
const BUTTONS = { in: () => scaleBy(0.5), out: () => scaleBy(2), all: () => zoom(1, total) };
const soon = canvas ? keepDrawn(canvas, draw) : () => {};

function listen() {
  canvas.addEventListener("pointerdown", (event) => { drag = { from: event.offsetX, to: event.offsetX, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    const view = frame();
    if (drag) { drag.to = event.offsetX; drag.moved ||= Math.abs(drag.to - drag.from) > 5; soon(); }
    if (event.offsetX >= LEFT) move(view.stepAt(event.offsetX), view.bandAt(event.offsetY), true);
  });
  canvas.addEventListener("pointerup", (event) => {
    const view = frame(), held = drag;
    drag = null;
    if (held?.moved) { zoom(view.stepAt(Math.min(held.from, held.to)), view.stepAt(Math.max(held.from, held.to))); return; }
    move(view.stepAt(event.offsetX), view.bandAt(event.offsetY));
    if (event.offsetX < LEFT) openItem(event); else openStep(event);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; soon(); });
  // The wheel scrolls the page, as everywhere; it zooms once the map has the focus, or with ctrl.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    scaleBy(event.deltaY > 0 ? 1.5 : 1 / 1.5, frame().stepAt(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key](event);
  });
  for (const button of document.querySelectorAll("[data-map]")) button.addEventListener("click", BUTTONS[button.dataset.map]);
  document.addEventListener("lab:step", ({ detail }) => {
    if (detail.from === "map" || detail.step < data.steps[0] || detail.step > data.steps[1]) return;
    at = { step: detail.step, band: at?.band ?? -1 };
    soon();
  });
}

async function start() {
  total = Infinity;
  await zoom(1, Infinity);
  if (!data?.bands.length) return;
  total = data.steps[1];
  const wanted = stepOfAddress();
  if (wanted !== null && wanted <= total) at = { step: wanted, band: -1 };
  listen();
  tell();
  soon();
}
if (canvas) start();
