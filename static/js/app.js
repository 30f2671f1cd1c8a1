// What every page needs: theme, dialogs, messages of failed requests, words for screen readers.
const root = document.documentElement;
const THEMES = ["", "light", "dark"];
const flash = () => document.getElementById("flash");

const store = (theme) => {
  try { theme ? localStorage.setItem("theme", theme) : localStorage.removeItem("theme"); } catch { /* refused: for this page only */ }
};
const nameTheme = () => {
  const name = root.dataset.theme || "auto";
  for (const button of document.querySelectorAll("[data-theme-toggle]")) button.textContent = `Theme: ${name}`;
};
const nextTheme = () => {
  const theme = THEMES[(THEMES.indexOf(root.dataset.theme || "") + 1) % THEMES.length];
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  store(theme);
  nameTheme();
  // Canvases are drawn with the colours of the moment.
  document.dispatchEvent(new CustomEvent("lab:theme", { detail: theme || "auto" }));
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new CustomEvent("lab:theme")));

const say = (text) => { document.getElementById("live").textContent = text; };
document.addEventListener("lab:say", (event) => say(event.detail));
document.addEventListener("lab:error", (event) => { flash().textContent = event.detail; });

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-theme-toggle], [data-open-dialog], [data-close-dialog], [data-dismiss]");
  if (!target) {
    openRow(event);
    return;
  }
  if ("themeToggle" in target.dataset) nextTheme();
  if (target.dataset.openDialog) document.getElementById(target.dataset.openDialog)?.showModal();
  if ("closeDialog" in target.dataset && target.closest("dialog")) {
    event.preventDefault();
    target.closest("dialog").close();
  }
  if ("dismiss" in target.dataset) target.closest(target.dataset.dismiss || ".notice")?.remove();
});
document.addEventListener("lab:theme-next", nextTheme);

// A click beside the link of a row opens it, too, unless text is being selected or something else was hit.
function openRow(event) {
  const row = event.target.closest("[data-row]");
  if (!row || event.target.closest("a, button, input, select, label, summary") || getSelection().toString()) return;
  const link = row.querySelector("a[data-open]");
  if (!link) return;
  if (event.ctrlKey || event.metaKey) window.open(link.href, "_blank", "noopener"); else link.click();
}

// A dialog closes by a click on what is behind it.
document.addEventListener("mousedown", (event) => {
  if (event.target instanceof HTMLDialogElement) event.target.close();
});

// A confirmation that must be typed enables its button: <input data-confirm="delete everything"> in the same form.
document.addEventListener("input", (event) => {
  const wanted = event.target.dataset?.confirm;
  if (wanted === undefined) return;
  const button = event.target.form?.querySelector("[data-confirmed]");
  if (button) button.disabled = event.target.value.trim().toLowerCase() !== wanted;
});
document.addEventListener("change", (event) => {
  if (event.target.dataset && "autosubmit" in event.target.dataset) event.target.form?.requestSubmit();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  // A poll must not wipe the message that a person is reading.
  if (event.detail.requestConfig.triggeringEvent?.type !== "load" && !event.target.dataset.poll) flash().replaceChildren();
});
document.addEventListener("htmx:sendError", () => { flash().textContent = "The server did not answer. Is ContextLab still running?"; });
document.addEventListener("htmx:timeout", () => { flash().textContent = "The server took too long to answer. Try again."; });
// A fragment asked for by a person as a question opens as a dialog.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id === "ask" && !event.target.open) event.target.showModal();
});
// What a dialog's form started is shown on the page behind it.
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful && event.target.closest?.("[data-closes-dialog]")) event.target.closest("dialog")?.close();
});
// A button is disabled while it waits for its answer, and loses the focus by that: it gets it back, or the one that
// came in its place does.
document.addEventListener("htmx:afterRequest", (event) => {
  const pressed = event.detail.requestConfig?.triggeringEvent?.submitter ?? event.detail.elt;
  if (document.activeElement !== document.body || !pressed.matches("button")) return;
  (pressed.isConnected ? pressed : document.getElementById(pressed.id))?.focus({ preventScroll: true });
});
document.addEventListener("htmx:afterSettle", (event) => {
  const words = event.target.closest?.("[data-say]") ?? event.target.querySelector?.("[data-say]");
  if (words) say(words.dataset.say);
});

nameTheme();
// All scripts of a page are deferred: when this fires they have run, and htmx has wired the page. Tests wait for it.
document.addEventListener("DOMContentLoaded", () => { root.dataset.ready = "yes"; });
