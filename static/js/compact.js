// The preview of a compaction and the form above it: what no longer fits the form cannot be pressed.
const form = document.getElementById("asking"), preview = document.getElementById("preview");
const typed = () => new URLSearchParams(new FormData(form)).toString();
let asked = typed();
let shown = asked; // what the preview that stands there was made of

function compare() {
  const changed = typed() !== shown && preview.querySelector("[data-changed]") !== null;
  preview.classList.toggle("changed", changed);
  for (const words of preview.querySelectorAll("[data-changed]")) words.hidden = !changed;
  for (const button of preview.querySelectorAll("button")) button.disabled = changed;
}
form.addEventListener("input", compare);

// Somebody may go on typing while the answer is on its way: it is about what was sent.
form.addEventListener("htmx:beforeRequest", (event) => { if (event.target === form) asked = typed(); });
preview.addEventListener("htmx:afterSwap", (event) => {
  if (event.target === preview) {
    shown = asked;
    // On a phone it stands below the form.
    if (preview.getBoundingClientRect().top > innerHeight / 2) preview.scrollIntoView();
  }
  compare();
});
// A refused form has no preview; what failed on the way says nothing about the form.
form.addEventListener("htmx:responseError", (event) => { if (event.target === form) preview.replaceChildren(); });
