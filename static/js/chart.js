// The context window over the steps: one bar per step (or per bucket: its largest step), never a smoothed area.
import { KINDS, chooseStep, compact, full, go, keepDrawn, load, pageOf, palette, sharpen, stepOfAddress, tellParts, ticks } from "./canvas.js";

const canvas = document.getElementById("chart");
const recorded = canvas?.dataset.view === "recorded";
const LEFT = 54, RIGHT = 10, TOP = 22, BOTTOM = 18;
let data = null, at = -1, colours = null, labels = [];

const words = { compaction: "compaction", micro: "micro-compaction", clear: "context cleared", restart: "restart", would_fire: "compaction", hand: "compaction by hand", auto: "automatic compaction" };
const MADE = ["hand", "auto"];
const bucketOf = (step) => data.buckets.findIndex((bucket) => bucket.from <= step && step <= bucket.to);

function scale() {
  const tallest = Math.max(1, ...data.buckets.map((bucket) => Math.max(bucket.total, bucket.reported ?? 0)));
  const limits = data.buckets.map((bucket) => bucket.limit).filter((limit) => limit !== null);
  const limit = limits.length ? Math.max(...limits) : null;
  // A limit far above everything would press the bars flat: then it is only told.
  return { top: limit !== null && limit < tallest * 3 ? Math.max(limit * 1.04, tallest * 1.08) : tallest * 1.12, limit };
}

function draw() {
  if (!data) return;
  colours = palette();
  const { pen, width, height } = sharpen(canvas);
  const { top, limit } = scale();
  const count = data.buckets.length, room = width - LEFT - RIGHT;
  const x = (place) => LEFT + (place / count) * room;
  const y = (value) => height - BOTTOM - (value / top) * (height - BOTTOM - TOP);
  pen.clearRect(0, 0, width, height);
  grid(pen, width, height, top, y);
  bars(pen, x, y, room / count);
  reported(pen, x, y);
  limits(pen, x, y, width, limit, top);
  marks(pen, x, height, count);
  axis(pen, x, height, count);
  if (at >= 0) cursor(pen, x(at + 0.5), height);
}

function grid(pen, width, height, top, y) {
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const value of ticks(0, top, Math.max(2, height / 45))) {
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(LEFT, Math.round(y(value)) + 0.5);
    pen.lineTo(width - RIGHT, Math.round(y(value)) + 0.5);
    pen.stroke();
    pen.fillStyle = colours.muted;
    pen.fillText(compact(value), LEFT - 6, y(value));
  }
}

function bars(pen, x, y, pitch) {
  const wide = Math.max(pitch - (pitch > 3 ? 1 : pitch > 1.6 ? 0.5 : 0), 0.7);
  data.buckets.forEach((bucket, place) => {
    let sum = 0;
    KINDS.forEach((kind, code) => {
      const tokens = bucket.tokens[code] ?? 0;
      if (!tokens) return;
      pen.fillStyle = colours.kinds[kind];
      pen.fillRect(x(place), y(sum + tokens), wide, y(sum) - y(sum + tokens));
      sum += tokens;
    });
  });
}

// Reported input as a line of steps: it lies above the bars by what the log does not hold.
function reported(pen, x, y) {
  pen.strokeStyle = colours.text;
  pen.lineWidth = 1;
  pen.beginPath();
  let open = false;
  data.buckets.forEach((bucket, place) => {
    if (bucket.reported === null) { open = false; return; }
    const level = Math.round(y(bucket.reported)) + 0.5;
    if (open) pen.lineTo(x(place), level); else pen.moveTo(x(place), level);
    pen.lineTo(x(place + 1), level);
    open = true;
  });
  pen.stroke();
}

function limits(pen, x, y, width, limit, top) {
  if (limit === null) return;
  pen.fillStyle = pen.strokeStyle = colours.danger;
  pen.textAlign = "left";
  if (limit > top) {
    pen.fillText(`limit ${compact(limit)}, above this scale`, LEFT + 6, 8);
    return;
  }
  pen.setLineDash([4, 4]);
  pen.beginPath();
  let last = null;
  data.buckets.forEach((bucket, place) => {
    if (bucket.limit === null) { last = null; return; }
    const level = Math.round(y(bucket.limit)) + 0.5;
    if (last === null) pen.moveTo(x(place), level); else pen.lineTo(x(place), level);
    pen.lineTo(x(place + 1), level);
    last = bucket.limit;
  });
  pen.stroke();
  pen.setLineDash([]);
  const first = data.buckets.find((bucket) => bucket.limit !== null);
  pen.fillText(`limit ${compact(first.limit)}`, LEFT + 6, y(first.limit) + 9);
}

function marks(pen, x, height, count) {
  let free = 0;
  labels = [];
  const told = [];
  pen.textAlign = "left";
  // A crowd of lines would hide the bars: then each is faint.
  const crowded = (x(count) - x(0)) / Math.max(data.marks.length, 1) < 24;
  const leftOf = (mark) => { const place = bucketOf(mark.step); return place < 0 ? x(count) : x(place); };
  const heads = data.marks.filter((mark) => MADE.includes(mark.kind)).map(leftOf);
  for (const mark of data.marks) {
    const left = leftOf(mark);
    const whole = !["micro", "restart", ...MADE].includes(mark.kind);
    pen.strokeStyle = pen.fillStyle = mark.kind === "clear" ? colours.danger : mark.kind === "restart" ? colours.muted : colours.summary;
    pen.lineWidth = whole && !crowded ? 1.5 : 1;
    pen.globalAlpha = crowded ? 0.35 : 1;
    // Dashed: due, but not made, since it needs a model; or small; or made here, which the agent of the log never saw.
    pen.setLineDash((whole && mark.kind !== "would_fire") || (mark.kind === "auto" && !recorded) ? [] : [2, 3]);
    pen.beginPath();
    pen.moveTo(left, whole ? 4 : TOP);
    pen.lineTo(left, height - BOTTOM);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    if (MADE.includes(mark.kind)) headOf(pen, mark, left);
    const gap = MADE.includes(mark.kind) ? 9 : 5;
    const head = heads.find((other) => other > left + 1) ?? Infinity;
    const fitting = [label(mark), mark.label].find((text) => text && left + gap + pen.measureText(text).width < head - 8);
    const text = fitting ?? label(mark), wide = pen.measureText(text).width;
    const start = left + gap + wide > x(count) ? left - gap - wide : left + gap;
    if (["micro", "restart"].includes(mark.kind) || start < free || (!fitting && start > left)) continue;
    told.push({ text, start, wide, colour: pen.fillStyle });
    labels.push({ mark, left: start, right: start + wide });
    free = start + wide + 8;
  }
  // Over the lines of others, so that each can be read.
  for (const { text, start, wide, colour } of told) {
    pen.fillStyle = colours.surface;
    pen.fillRect(start - 2, 3, wide + 4, 14);
    pen.fillStyle = colour;
    pen.fillText(text, start, 10);
  }
}

// What was made here has a head: a diamond by hand, a disc by itself. The legend and the lists have the same shapes.
function headOf(pen, mark, left) {
  const middle = 10, size = 5;
  pen.beginPath();
  if (mark.kind === "auto") pen.arc(left, middle, size - 0.5, 0, 2 * Math.PI);
  else { pen.moveTo(left, middle - size); pen.lineTo(left + size, middle); pen.lineTo(left, middle + size); pen.lineTo(left - size, middle); pen.closePath(); }
  pen.fill();
  pen.beginPath();
  pen.moveTo(left, middle);
  pen.lineTo(left, TOP);
  pen.stroke();
  labels.push({ mark, left: left - size - 2, right: left + size + 2 });
}

function label(mark) {
  const sizes = mark.kind !== "would_fire" && (mark.pre !== null || mark.post !== null) ? `${compact(mark.pre)} → ${compact(mark.post)}` : "";
  if (mark.kind === "restart") return mark.trigger;
  if (MADE.includes(mark.kind)) return [mark.label, sizes].filter(Boolean).join("  ");
  const name = mark.kind === "clear" ? "cleared" : mark.kind === "would_fire" ? "would fire" : `#${mark.number}`;
  return [name, recorded || mark.kind !== "clear" ? sizes : "as it went", mark.trigger].filter(Boolean).join("  ");
}

function axis(pen, x, height, count) {
  pen.fillStyle = colours.muted;
  pen.textAlign = "center";
  const pace = Math.max(1, Math.round(count / 10));
  for (let place = 0; place < count; place += pace) pen.fillText(full(data.buckets[place].from), x(place + 0.5), height - 7);
}

function cursor(pen, left, height) {
  pen.strokeStyle = colours.text;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(Math.round(left) + 0.5, 2);
  pen.lineTo(Math.round(left) + 0.5, height - BOTTOM);
  pen.stroke();
}

function tell() {
  const place = document.getElementById("chart-readout");
  const bucket = data?.buckets[at];
  if (!bucket) { place.textContent = "Point at a bar, or use ← and → with the chart in focus; enter opens the step."; return; }
  const parts = KINDS.map((kind, code) => [kind.replace("_", " "), bucket.tokens[code] ?? 0]).filter(([, tokens]) => tokens);
  const size = bucket.reported ?? bucket.calibrated ?? bucket.total;
  tellParts(place, [
    bucket.from === bucket.to ? `step ${full(bucket.step)}` : `step ${full(bucket.step)}, the largest of ${full(bucket.from)} to ${full(bucket.to)}`,
    `in context ${full(bucket.total)} ${data.token_source} (${parts.map(([kind, tokens]) => `${kind} ${compact(tokens)}`).join(", ")})`,
    bucket.reported === null ? "no usage reported" : `reported ${full(bucket.reported)}`,
    bucket.limit === null ? "limit unknown" : `limit ${compact(bucket.limit)}, ${Math.round((size / bucket.limit) * 100)} % full`,
    ...marksAt(bucket).map((mark) => [`${words[mark.kind]} ${label(mark)}`, pageOfMark(mark)]).map(([text, page]) => (page ? [text, page] : text)),
  ]);
}

function move(place, { quiet = false } = {}) {
  at = Math.min(Math.max(place, 0), data.buckets.length - 1);
  if (!quiet) chooseStep(data.buckets[at].step, "chart");
  tell();
  soon();
}

function placeAt(event) {
  const box = canvas.getBoundingClientRect();
  const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
  return share < 0 || share >= 1 ? -1 : Math.floor(share * data.buckets.length);
}

// Those of the log and those made here have a page of their own.
function pageOfMark(mark) {
  if (mark?.run) return pageOf(canvas.dataset.run, mark.run);
  return canvas.dataset.compaction && mark?.kind === "compaction" ? pageOf(canvas.dataset.compaction, mark.number) : null;
}
// What stands behind the last step belongs to the last bar.
const stepOfMark = (mark) => Math.min(mark.step, data.steps_total);
const marksAt = (bucket) => data.marks.filter((mark) => bucket.from <= stepOfMark(mark) && stepOfMark(mark) <= bucket.to);
const labelAt = (event) => (event.offsetY < TOP ? labels.find(({ left, right }) => left <= event.offsetX && event.offsetX <= right)?.mark : undefined);

function openMark(event) {
  const bucket = data?.buckets[at];
  const page = bucket && marksAt(bucket).map(pageOfMark).find(Boolean);
  if (page) go(page, event);
}

function nextMark(by) {
  const here = data.buckets[at]?.step ?? (by > 0 ? 0 : Infinity);
  const steps = data.marks.filter((mark) => ["compaction", "would_fire", ...MADE].includes(mark.kind)).map(stepOfMark);
  const step = by > 0 ? steps.find((one) => one > here) : steps.findLast((one) => one < here);
  const place = step === undefined ? -1 : bucketOf(step);
  if (place >= 0) move(place);
}

const open = (event) => { if (data?.buckets[at]) go(pageOf(canvas.dataset.step, data.buckets[at].step), event); };
const acts = { previous: () => move(at < 0 ? data.buckets.length - 1 : at - 1), next: () => move(at + 1), "next-mark": () => nextMark(1), "previous-mark": () => nextMark(-1), "open-mark": openMark, open };
const soon = canvas ? keepDrawn(canvas, draw) : () => {};

function listen() {
  canvas.addEventListener("pointermove", (event) => { const place = placeAt(event); canvas.style.cursor = pageOfMark(labelAt(event)) ? "pointer" : ""; if (place >= 0) move(place, { quiet: true }); });
  canvas.addEventListener("click", (event) => {
    const page = pageOfMark(labelAt(event));
    if (page) { go(page, event); return; }
    const place = placeAt(event); if (place >= 0) { move(place); open(event); }
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || at < 0) return;
    event.preventDefault();
    open(event);
  });
  for (const button of document.querySelectorAll("[data-chart]")) button.addEventListener("click", (event) => acts[button.dataset.chart](event));
  document.addEventListener("lab:step", ({ detail }) => { if (detail.from !== "chart") move(bucketOf(detail.step), { quiet: true }); });
}

async function start() {
  try {
    data = await load(canvas.dataset.url);
  } catch (error) {
    document.getElementById("chart-readout").textContent = `The chart could not be loaded. ${error.message}`;
    return;
  }
  if (!data.buckets.length) return;
  const source = document.querySelector("[data-chart-source]");
  const lumped = data.buckets.some((bucket) => bucket.from !== bucket.to);
  source.textContent = `bars: tokens per step, ${data.token_source}${lumped ? "; each bar the largest step of its range" : ""} · line: reported input${recorded ? "" : " of the session as it went"}`;
  const wanted = stepOfAddress();
  if (wanted !== null) at = bucketOf(wanted);
  listen();
  tell();
  canvas.dataset.ready = "yes";
  soon();
}
if (canvas) start();
