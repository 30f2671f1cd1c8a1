// The keyboard: base.html says how a page declares its keys. The hint bar shows those valid now.
const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Enter: "enter", Escape: "esc" };
const typing = (element) => element?.closest?.("input, textarea, select, [contenteditable]");
const visible = (element) => element.checkVisibility?.() ?? element.offsetParent !== null;
const rows = () => [...document.querySelectorAll("[data-rows] [data-row]")].filter(visible);

function move(by) {
  const list = rows();
  if (!list.length) return false;
  const at = list.findIndex((row) => row.classList.contains("sel"));
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
  select(next);
  (next.querySelector("a[data-open]") ?? next).focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function select(row) {
  for (const other of document.querySelectorAll("[data-row].sel")) other.classList.remove("sel");
  row.classList.add("sel");
}

function press(key) {
  const found = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((element) => visible(element) && !element.disabled);
  if (!found) return false;
  if ("keyFocus" in found.dataset) found.focus(); else found.click();
  return true;
}

const COMMON = {
  "/": () => { const field = document.getElementById("q"); field?.focus(); field?.select(); return Boolean(field); },
  "?": () => { document.getElementById("keys")?.showModal(); return true; },
  t: () => { document.dispatchEvent(new CustomEvent("lab:theme-next")); return true; },
  g: () => { location.assign("/"); return true; },
  j: () => move(1),
  k: () => move(-1),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (press(event.key) || COMMON[event.key]?.()) event.preventDefault();
});

// A row reached by Tab or by the pointer is the one that j and k go on from.
document.addEventListener("focusin", (event) => {
  const row = event.target.closest?.("[data-rows] [data-row]");
  if (row) select(row);
});

function hint(keys, words) {
  const span = document.createElement("span");
  for (const key of keys) {
    const cap = document.createElement("kbd");
    cap.textContent = NAMES[key] ?? key;
    span.append(cap, " ");
  }
  span.append(words);
  return span;
}

function showHints() {
  const bar = document.querySelector("[data-hints]");
  if (!bar) return;
  const groups = new Map();
  if (rows().length) groups.set("move", ["j", "k"]).set("open", ["Enter"]);
  for (const element of document.querySelectorAll("[data-key][data-hint]")) {
    if (!visible(element)) continue;
    const keys = groups.get(element.dataset.hint) ?? [];
    if (!keys.includes(element.dataset.key)) groups.set(element.dataset.hint, [...keys, element.dataset.key]);
  }
  groups.set("search", ["/"]);
  bar.replaceChildren(...[...groups].map(([words, keys]) => hint(keys, words)));
}

document.addEventListener("htmx:afterSettle", showHints);
document.addEventListener("lab:keys", showHints);
showHints();
