// What the two canvases share: colours of the moment, sharp pixels, numbers in words, one step under both cursors.
export const KINDS = ["system", "user", "assistant", "reasoning", "tool_call", "tool_result", "summary"];
const CSS = { tool_call: "call", tool_result: "result" };

const NAMES = ["line", "line-strong", "control", "text", "muted", "faint", "accent", "danger", "surface", "sunken", "warn"];
let colours = null;
document.addEventListener("lab:theme", () => { colours = null; });

// Custom properties hold light-dark(); only a real element tells what they come to. All are put before the first is read:
// a style that changes between two readings would be worked out anew for each. They hold until the theme changes.
export function palette() {
  if (colours) return colours;
  const place = document.createElement("div");
  place.hidden = true;
  const probe = (name) => {
    const element = place.appendChild(document.createElement("span"));
    element.style.color = `var(--${name})`;
    return element;
  };
  const kinds = KINDS.map((kind) => probe(`k-${CSS[kind] ?? kind}`)), others = NAMES.map(probe);
  document.body.append(place);
  const read = (element) => getComputedStyle(element).color;
  const pairs = (names, elements) => Object.fromEntries(names.map((name, at) => [name, read(elements[at])]));
  colours = { ...pairs(NAMES, others), kinds: pairs(KINDS, kinds) };
  colours.summary = colours.kinds.summary;
  place.remove();
  return colours;
}

export function sharpen(canvas) {
  const box = canvas.getBoundingClientRect();
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.max(1, Math.round(box.width * ratio));
  canvas.height = Math.max(1, Math.round(box.height * ratio));
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "11px system-ui, sans-serif";
  return { pen, width: box.width, height: box.height };
}

export function compact(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "unknown";
  if (Math.abs(value) < 1000) return String(Math.round(value));
  const [divisor, unit] = Math.abs(value) < 999_950 ? [1000, "k"] : [1_000_000, "M"];
  return `${(value / divisor).toFixed(1).replace(/\.0$/, "")}${unit}`;
}
export const full = (value) => (value === null || value === undefined ? "unknown" : value.toLocaleString("en-US"));

// Round values for an axis: 1, 2 or 5 times a power of ten, about `wanted` of them.
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value);
  return found;
}

// Without headers of its own, so that it is met by what the page has preloaded (pages/session.html).
export async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.json();
}

// The address of a page whose number is still 0 in the template: /sessions/<uid>/steps/0?view=... with more state.
export function pageOf(template, number, state = {}) {
  const address = new URL(template, location.href);
  address.pathname = address.pathname.replace(/\/0$/, `/${number}`);
  for (const [name, value] of Object.entries(state)) if (value !== null && value !== undefined) address.searchParams.set(name, value);
  return address.href;
}

export function go(address, event) {
  if (event?.ctrlKey || event?.metaKey) window.open(address, "_blank", "noopener"); else location.assign(address);
}

// A readout of parts, each a text or [text, address]; what is empty is left out.
export function tellParts(place, parts) {
  const nodes = parts.filter(Boolean).map((part) => {
    if (!Array.isArray(part)) return part;
    const link = document.createElement("a");
    [link.textContent, link.href] = part;
    link.className = "link";
    return link;
  });
  place.replaceChildren(...nodes.flatMap((node, at) => (at ? [" · ", node] : [node])));
}

// Redraw when the size or the theme changes, at most once a frame.
export function keepDrawn(canvas, draw) {
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };
  new ResizeObserver(soon).observe(canvas);
  document.addEventListener("lab:theme", soon);
  return soon;
}

// The step both cursors stand at; the address remembers it.
export function chooseStep(step, from) {
  const address = new URL(location.href);
  address.searchParams.set("step", step);
  history.replaceState(history.state, "", address);
  document.dispatchEvent(new CustomEvent("lab:step", { detail: { step, from } }));
}
export function stepOfAddress() {
  const said = new URL(location.href).searchParams.get("step");
  return /^\d{1,9}$/.test(said ?? "") ? Number(said) : null;
}
