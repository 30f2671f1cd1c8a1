// What the two canvases share: colours of the moment, sharp pixels, numbers in words, one step under both cursors.
export const KINDS = ["system", "user", "assistant", "reasoning", "tool_call", "tool_result", "summary"];
const CSS = { tool_call: "call", tool_result: "result" };

// Custom properties hold light-dark(); only a real element tells what they come to.
export function palette() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = { kinds: Object.fromEntries(KINDS.map((kind) => [kind, read(`k-${CSS[kind] ?? kind}`)])) };
  for (const name of ["line", "line-strong", "control", "text", "muted", "faint", "accent", "danger", "surface", "sunken", "warn"]) found[name] = read(name);
  found.summary = found.kinds.summary;
  probe.remove();
  return found;
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

export async function load(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
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
