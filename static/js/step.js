// The list of a context: texts open and close in place, and the address says which item is looked at.
const list = () => document.getElementById("context");

function remember(position) {
  const address = new URL(location.href);
  if (position === null) address.searchParams.delete("item"); else address.searchParams.set("item", position);
  history.replaceState(history.state, "", address);
}

// A filter swaps the list alone: links to other steps around it follow, so that the filter stays on the way.
document.addEventListener("htmx:pushedIntoHistory", () => {
  const show = new URL(location.href).searchParams.get("show");
  for (const link of document.querySelectorAll("a[data-step]")) {
    const address = new URL(link.href);
    if (show) address.searchParams.set("show", show); else address.searchParams.delete("show");
    link.href = address.href;
  }
});

// A second click closes what the first one opened, without asking the server again.
document.addEventListener("htmx:beforeRequest", (event) => {
  const link = event.target;
  if (!link.matches?.(".item a[aria-controls]")) return;
  const place = document.getElementById(link.getAttribute("aria-controls"));
  const position = place?.id.slice(1);
  if (place?.childNodes.length) {
    event.preventDefault();
    place.replaceChildren();
    link.setAttribute("aria-expanded", "false");
    remember(null);
    return;
  }
  link.setAttribute("aria-expanded", "true");
  remember(position);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-wrap]");
  if (!button) return;
  const text = button.closest(".opened, .texts")?.querySelector(".text");
  if (text) button.setAttribute("aria-pressed", String(text.classList.toggle("wrap")));
});

// Copying: the answer of an address, or the text beside the button.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-from], [data-copy-text]");
  if (!button) return;
  event.preventDefault();
  const words = button.textContent;
  try {
    const { text, said } = await wanted(button);
    await navigator.clipboard.writeText(text);
    button.textContent = said ? `Copied; ${said}` : "Copied";
  } catch (error) {
    document.dispatchEvent(new CustomEvent("lab:error", { detail: `Not copied: ${error.message}` }));
  }
  setTimeout(() => { button.textContent = words; }, 2600);
});

async function wanted(button) {
  const address = button.dataset.copyFrom;
  if (!address) return { text: button.closest(".opened, .texts").querySelector(".text:not(.gone)").textContent };
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(words(text));
  const repairs = Number(answer.headers.get("X-Repairs") ?? 0);
  if (repairs) document.dispatchEvent(new CustomEvent("lab:say", { detail: answer.headers.get("X-Repairs-Said") ?? "" }));
  return { text, said: repairs ? `${repairs} repair${repairs > 1 ? "s" : ""}` : "" };
}

function words(text) {
  try { return JSON.parse(text).error; } catch { return text.slice(0, 300); }
}

// A view that was being worked out is there now.
document.addEventListener("lab:run-done", () => location.reload());

// An item that the address names is brought into view once its row is there.
function reveal() {
  const item = new URL(location.href).searchParams.get("item");
  const row = /^\d+$/.test(item ?? "") ? document.getElementById(`i${item}`) : null;
  if (!row || row.dataset.revealed) return;
  row.dataset.revealed = "yes";
  row.scrollIntoView({ block: "center" });
  row.querySelector("a[aria-controls]")?.setAttribute("aria-expanded", "true");
}
document.addEventListener("htmx:afterSettle", reveal);
if (list()) reveal();

// On narrow screens the steps stand side by side and run out of sight: the one that is open begins in their middle.
const here = document.querySelector(".steps tr[aria-current]"), strip = here?.parentElement;
if (strip && strip.scrollWidth > strip.clientWidth) strip.scrollLeft = here.offsetLeft - strip.offsetLeft - (strip.clientWidth - here.clientWidth) / 2;
