// An open page says that its log has grown, and leaves it to the reader when to look (panels/fresh.html).
const EVERY = 3000;
const plural = (count, word) => `${count.toLocaleString("en")} new ${word}${count === 1 ? "" : "s"}`;

function tell(element, text) {
  const words = element.querySelector("[data-live-text]");
  if (words.textContent === text) return;
  // Said once, not with every step: a screen reader would never come to rest.
  if (element.hidden) document.dispatchEvent(new CustomEvent("lab:say", { detail: text }));
  words.textContent = text;
  element.hidden = false;
}

function compare(element, now) {
  const { steps, items, revision } = element.dataset; // texts, or undefined where the page does not show them
  if (revision && now.revision !== Number(revision)) return tell(element, "The log was changed and has been read anew.");
  if (now.steps > Number(steps)) return tell(element, plural(now.steps - Number(steps), "step"));
  if (items && now.items > Number(items)) return tell(element, plural(now.items - Number(items), "item"));
  return undefined;
}

async function ask(element) {
  const answer = await fetch(element.dataset.live, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (answer.status === 404) {
    element.querySelector("[data-live-link]")?.remove();
    tell(element, "This session has been deleted.");
    return false;
  }
  if (answer.ok) compare(element, await answer.json());
  return true;
}

async function watch(element) {
  let there = true;
  while (there && element.isConnected) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    if (document.visibilityState === "visible" && element.isConnected) there = await ask(element).catch(() => true);
  }
}

const watched = new WeakSet();
function start() {
  for (const element of document.querySelectorAll("[data-live]")) {
    if (watched.has(element)) continue;
    watched.add(element);
    watch(element);
  }
}
document.addEventListener("htmx:afterSettle", start);
start();
