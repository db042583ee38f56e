"use strict";
// The desk: it asks for panels and pictures, posts what the editor does, and listens for changes. No library.
const choice = document.getElementById("choice"), panel = document.getElementById("panel"), notes = document.getElementById("notes");
const picture = document.getElementById("picture"), wrong = document.getElementById("wrong"), said = document.getElementById("said");
const ui = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
let open = { name: "stories", more: {} }, story = "", asked = 0;

const query = (more = {}) => new URLSearchParams({ day: choice.day.value, lang: choice.lang.value, ui, ...more });
const say = (words) => { said.textContent = words; };

// What is wrong with the files stands until they are mended; what is wrong with a request until the next one that is not.
const trouble = { files: "", request: "" };
function complain(words, about = "request") {
  trouble[about] = words;
  wrong.textContent = [trouble.files, trouble.request].filter(Boolean).join("\n\n");
  wrong.hidden = !wrong.textContent;
}

// Whoever asks again meanwhile is no more interested in what this answer complains of.
async function ask(address, options, isWanted = () => true) {
  const answer = await fetch(address, options);
  if (answer.ok || !isWanted()) return answer;
  const body = await answer.text();
  let words = body;
  try { words = JSON.parse(body).complaint || body; } catch { /* plain words */ }
  complain(words);
  throw new Error(words);
}

// A place shows what was asked for last, however late the answer to an earlier question comes.
async function fill(place, name, more) {
  const asking = place.asking = {};
  place.setAttribute("aria-busy", "true");
  const isWanted = () => place.asking === asking;
  let text;
  try {
    text = await (await ask(`/panel/${name}?${query(more)}`, undefined, isWanted)).text();
  } finally {
    if (isWanted()) place.setAttribute("aria-busy", "false");
  }
  if (!isWanted()) return;
  const focused = document.activeElement && place.contains(document.activeElement) ? selectorOf(document.activeElement) : "";
  const top = place.scrollTop, outer = place.parentElement.scrollTop;
  place.innerHTML = text;
  place.scrollTop = top;
  place.parentElement.scrollTop = outer;
  if (focused) place.querySelector(focused)?.focus();
}

function selectorOf(element) {
  const data = Object.entries(element.dataset).filter(([name]) => name !== "on").map(([name, value]) => `[data-${name}="${CSS.escape(value)}"]`).join("");
  const own = element.closest("[data-story]");
  const around = own && own !== element ? `[data-story="${CSS.escape(own.dataset.story)}"] ` : "";
  return data ? `${around}${element.localName}${data}` : "";
}

async function show() {
  const mine = ++asked;
  const images = choice.noimages.checked ? "off" : "on";
  const scheme = choice.dark.checked ? "dark" : "light";
  const address = `/view/${choice.channel.value}?${query({ story, images, scheme })}`;
  const answer = await ask(address, undefined, () => mine === asked);
  if (mine !== asked) return;
  const before = picture.contentWindow, top = before ? before.scrollY : 0, same = picture.dataset.of === `${choice.channel.value} ${choice.day.value} ${story}`;
  picture.dataset.of = `${choice.channel.value} ${choice.day.value} ${story}`;
  picture.style.width = `${choice.width.value}px`;
  picture.classList.toggle("dark", choice.dark.checked);
  await new Promise((done) => {
    picture.onload = done;
    const target = answer.redirected ? answer.url : address;
    if (picture.contentWindow && picture.contentWindow.location.href === new URL(target, location).href) picture.contentWindow.location.reload();
    else picture.src = target;
  });
  if (same) picture.contentWindow.scrollTo(0, top);
  complain("");
}

async function refresh() {
  const typing = panel.contains(document.activeElement) && document.activeElement.matches("textarea, input") && open.name !== "stories";
  await Promise.allSettled([show(), fill(notes, "notes"), typing ? null : fill(panel, open.name, open.more)]);
}

function turn(name, more = {}) {
  open = { name, more };
  const tab = { edit: "stories", entry: "entries" }[name] || name;
  document.querySelectorAll("[role=tab]").forEach((each) => each.setAttribute("aria-selected", String(each.dataset.panel === tab)));
  panel.setAttribute("aria-labelledby", `tab-${tab}`);
  return fill(panel, name, more).then(() => { if (name === "edit") panel.querySelectorAll("form[data-judge]").forEach(judge); });
}

// One act after the other: an undo must not overtake what it undoes.
let acting = Promise.resolve();
function act(name, fields) {
  const done = acting.then(() => post(name, fields));
  acting = done.catch(() => {});
  return done;
}

async function post(name, fields) {
  const answer = await ask(`/do/${name}?${query()}`, { method: "POST", body: new URLSearchParams(fields) });
  say((await answer.json()).message || "✓");
  complain("");
}

async function judge(form) {
  const place = form.querySelector(".judge"), asking = place.asking = {};
  const isWanted = () => place.asking === asking;
  const answer = await ask(`/judge?${query()}`, { method: "POST", body: new URLSearchParams(new FormData(form)) }, isWanted);
  const found = answer.ok ? await answer.json() : [];
  if (!isWanted()) return;
  place.replaceChildren(...found.map(({ kind, words, why }) => {
    const line = document.createElement("p");
    line.append(Object.assign(document.createElement("b"), { textContent: kind }), words ? ` “${words}” ` : " ", Object.assign(document.createElement("small"), { textContent: why }));
    return line;
  }));
  if (!found.length) place.textContent = place.dataset.fine;
}

function order() { return [...document.querySelectorAll("#stories > li[data-story]")].map((each) => each.dataset.story).join(" "); }

function find(words, language) {
  const languages = [...choice.lang.options].map((each) => each.value);
  if (language && languages.includes(language) && !choice.lang.value.includes(language)) choice.lang.value = language;
  return show().then(() => {
    const inside = picture.contentWindow;
    const start = words.slice(0, 40);
    if (!inside.find(start, false, false, true)) say(words);
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { panel: tab, do: name, open: into, move, show: article, find: words } = button.dataset;
  if (tab) turn(tab);
  else if (into) turn(into, button.dataset.key ? { key: button.dataset.key } : { story: button.dataset.story });
  else if (name) act(name, { ...button.dataset });
  else if (move) {
    const own = button.closest("li"), other = move < 0 ? own.previousElementSibling : own.nextElementSibling;
    if (other) { move < 0 ? other.before(own) : other.after(own); button.focus(); act("order", { stories: order() }); }
  } else if (article) { story = article; choice.channel.value = "article"; show(); }
  else if (words) find(words, button.dataset.lang);
  else if (button.id === "try") ask(`/what-if?${query()}`, { method: "POST", body: new URLSearchParams(new FormData(button.form)) }).then((answer) => answer.text()).then((html) => { document.getElementById("difference").innerHTML = html; complain(""); });
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = event.target.dataset.send;
  if (name) { document.activeElement.blur(); act(name, new FormData(event.target)); }
});

let typed;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-judge]");
  if (!form) return;
  clearTimeout(typed);
  typed = setTimeout(() => judge(form), 250);
});

document.addEventListener("change", (event) => {
  const merged = event.target.dataset.merge;
  if (merged && event.target.value) act("merge", { story: merged, into: event.target.value });
});

choice.addEventListener("change", (event) => { ["day", "lang"].includes(event.target.name) ? refresh() : show(); });
choice.addEventListener("submit", (event) => event.preventDefault());

let dragged = null;
panel.addEventListener("dragstart", (event) => { dragged = event.target.closest("li[data-story]"); });
panel.addEventListener("dragover", (event) => {
  const over = event.target.closest("#stories > li[data-story]");
  if (!dragged || !over) return;
  event.preventDefault();
  document.querySelectorAll(".over").forEach((each) => each.classList.remove("over"));
  over.classList.add("over");
});
panel.addEventListener("drop", (event) => {
  const over = event.target.closest("#stories > li[data-story]");
  if (!dragged || !over || over === dragged) return;
  event.preventDefault();
  const after = event.clientY > over.getBoundingClientRect().top + over.offsetHeight / 2;
  after ? over.after(dragged) : over.before(dragged);
  dragged = null;
  act("order", { stories: order() });
});

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "u") act("undo", {});
  if (event.key === "d") { choice.dark.checked = !choice.dark.checked; show(); }
  const tabs = [...document.querySelectorAll("[role=tab]")];
  if (document.activeElement.matches("[role=tab]") && ["ArrowLeft", "ArrowRight"].includes(event.key)) {
    const next = tabs[(tabs.indexOf(document.activeElement) + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
    next.focus();
    turn(next.dataset.panel);
  }
});

let known = -1;
new EventSource("/live").onmessage = (event) => {
  const { revision, complaint } = JSON.parse(event.data);
  complain(complaint, "files");
  if (!complaint && known !== -1 && revision !== known) refresh();
  known = revision;
};

choice.width.value = innerWidth < 1100 ? "390" : "1280";
turn("stories");
fill(notes, "notes");
show();
