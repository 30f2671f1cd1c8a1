// Sending logs: chosen or dropped files and folders, one request each, with one bar for all of them.
const form = document.querySelector("[data-upload]");
const panel = document.getElementById("uploads");
const errors = document.getElementById("upload-errors");
const dropzone = document.getElementById("dropzone");
// A folder holds all sorts of things; these may be logs (or, below tool-results/, what an agent stored beside one).
const LOGS = /\.(jsonl|ndjson|json|traj|zst|gz|log)$|\/tool-results\//i;
const REFRESH_EVERY = 1500;

const queue = [];
let sent = 0, total = 0, count = 0, done = 0, busy = false, request = null, refreshed = 0;

const token = () => JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
const megabytes = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`);

function refresh(now) {
  if (!now && performance.now() - refreshed < REFRESH_EVERY) return;
  refreshed = performance.now();
  ask();
}

// A panel that waits for an answer forgets what it is asked meanwhile: the answer puts another panel in its place.
function ask() {
  if (document.querySelector("#activity.htmx-request")) setTimeout(ask, 50);
  else document.body.dispatchEvent(new CustomEvent("lab:refresh"));
}

function complain(name, text) {
  const notice = document.createElement("div");
  notice.className = "notice danger";
  notice.setAttribute("role", "alert");
  const bold = document.createElement("b");
  bold.textContent = name;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn quiet";
  close.dataset.dismiss = ".notice";
  close.textContent = "Dismiss";
  notice.append(bold, ` ${text} `, close);
  errors.append(notice);
}

function show(loaded = 0) {
  panel.hidden = !busy;
  panel.querySelector("[data-upload-count]").textContent = `${done + 1} of ${count} · ${megabytes(sent + loaded)} of ${megabytes(total)}`;
  panel.querySelector("[data-upload-progress]").value = total ? (sent + loaded) / total : 0;
}

function send({ file, path }) {
  return new Promise((resolve) => {
    request = new XMLHttpRequest();
    request.open("POST", "/imports");
    request.setRequestHeader("X-CSRFToken", token());
    request.setRequestHeader("Accept", "application/json");
    request.upload.onprogress = (event) => show(Math.min(event.loaded, file.size));
    request.onload = () => resolve(request.status < 300 ? null : words(request));
    request.onerror = () => resolve("could not be sent: the server did not answer.");
    request.onabort = () => resolve(null);
    const body = new FormData();
    body.append("path", path);
    body.append("files", file);
    request.send(body);
  });
}

function words(answer) {
  try { return JSON.parse(answer.responseText).error; } catch { return answer.responseText.length < 300 ? answer.responseText : `was refused (${answer.status}).`; }
}

async function work() {
  if (busy) return;
  busy = true;
  while (queue.length) {
    const next = queue.shift();
    panel.querySelector("[data-upload-name]").textContent = next.path;
    show();
    const error = await send(next);
    if (error) complain(next.path, error);
    sent += next.file.size;
    done += 1;
    refresh(false);
  }
  busy = false;
  document.dispatchEvent(new CustomEvent("lab:say", { detail: `${done} files sent` }));
  sent = total = count = done = 0;
  show();
  refresh(true);
}

function add(files) {
  const limit = Number(form.dataset.limit);
  document.getElementById("add")?.close();
  for (const entry of files) {
    if (entry.file.size > limit) {
      complain(entry.path, `is too large: ${megabytes(entry.file.size)}, uploads end at ${form.dataset.limitWords}. “contextlab import ${entry.path}” has no limit.`);
    } else {
      queue.push(entry);
      total += entry.file.size;
      count += 1;
    }
  }
  if (queue.length) work();
}

// Chosen ------------------------------------------------------------------------------------------
document.addEventListener("change", (event) => {
  const input = event.target;
  if (!(input instanceof HTMLInputElement) || !("uploadFiles" in input.dataset)) return;
  const all = [...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
  const wanted = "uploadFolder" in input.dataset ? all.filter((entry) => LOGS.test(entry.path)) : all;
  if (all.length && !wanted.length) complain(all[0].path.split("/")[0], "holds no file that could be a log (.jsonl, .json, .zst …).");
  add(wanted);
  input.value = "";
});

// Dropped -----------------------------------------------------------------------------------------
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");

async function walk(entry, path, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject)).catch(() => null);
    if (file) found.push({ file, path: path + entry.name });
    return;
  }
  const reader = entry.createReader();
  // A reader gives a hundred entries at a time, and nothing when it is at the end.
  for (let batch; (batch = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])))).length;) {
    for (const child of batch) await walk(child, `${path}${entry.name}/`, found);
  }
}

async function dropped(items) {
  // All at once: what was dropped can be asked only until this event is over.
  const given = items.map((item) => ({ entry: item.webkitGetAsEntry?.(), file: item.getAsFile() }));
  const entries = given.map((each) => each.entry).filter(Boolean);
  const found = given.filter((each) => !each.entry && each.file).map(({ file }) => ({ file, path: file.name }));
  for (const entry of entries) {
    const inside = [];
    await walk(entry, "", inside);
    const wanted = entry.isDirectory ? inside.filter((each) => LOGS.test(each.path)) : inside;
    if (!wanted.length) complain(entry.name, "holds no file that could be a log (.jsonl, .json, .zst …).");
    found.push(...wanted);
  }
  add(found);
}

let depth = 0;
document.addEventListener("dragenter", (event) => { if (carriesFiles(event)) { depth += 1; dropzone.hidden = false; } });
document.addEventListener("dragleave", (event) => { if (carriesFiles(event) && (depth -= 1) <= 0) { depth = 0; dropzone.hidden = true; } });
document.addEventListener("dragover", (event) => { if (carriesFiles(event)) event.preventDefault(); });
document.addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  depth = 0;
  dropzone.hidden = true;
  dropped([...event.dataTransfer.items].filter((item) => item.kind === "file"));
});

panel.querySelector("[data-upload-stop]").addEventListener("click", () => { queue.length = 0; request?.abort(); });
addEventListener("beforeunload", (event) => { if (busy) event.preventDefault(); });
const reveal = () => { for (const hidden of document.querySelectorAll("[data-needs-script]")) hidden.hidden = false; };
document.addEventListener("htmx:afterSettle", reveal);
reveal();
