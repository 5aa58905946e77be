// Saves loading pages anew. Every page works without it.
"use strict";

// The address of the start page; a proxy may have the pages beneath a path.
const base = document.body.dataset.base;

// The title of a tab begins with the percentage of the run that it shows.
const titled = document.title;
const name_tab = () => {
  const percent = document.querySelector("[data-percent]")?.dataset.percent;
  document.title = percent ? `${percent} · ${titled}` : titled;
};

// A run that goes on: its parts are replaced as they change. A browser has few connections to one
// server, so of all tabs that look at the same run one listens and tells the others.
const follow = (live) => {
  const address = live.dataset.events;
  const parts = [...document.querySelectorAll("[data-live]")];
  const latest = new Map();
  const channel = new BroadcastChannel(address);
  const show = (name, data) => {
    if (name === "over") {
      location.reload();
      return;
    }
    latest.set(name, data);
    for (const part of parts) {
      if (part.dataset.live !== name) continue;
      part.innerHTML = data;
      localize(part);
    }
    name_tab();
  };
  let listens = false;
  channel.onmessage = ({ data }) => {
    if (data.name) show(data.name, data.data);
    else if (listens) latest.forEach((data, name) => channel.postMessage({ name, data }));
  };
  const listen = () => {
    listens = true;
    // The browser tries again by itself, and what follows then is all that there is to show.
    const source = new EventSource(address);
    source.onerror = () => ask();
    for (const name of new Set([...parts.map((part) => part.dataset.live), "over"])) {
      source.addEventListener(name, ({ data }) => {
        if (name === "over") source.close();
        channel.postMessage({ name, data });
        show(name, data);
      });
    }
    // Kept until this page goes; then another tab listens.
    return new Promise(() => {});
  };
  channel.postMessage({});
  if (navigator.locks) navigator.locks.request(`events of ${address}`, listen);
  else listen();
};

// The server knows no time zone: exact times are written here, in that of the browser, in what is
// new on the page.
const clock = new Intl.DateTimeFormat(document.documentElement.lang, {
  dateStyle: "full",
  timeStyle: "medium",
});
const localize = (within) => {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) time.title = clock.format(moment);
  }
  const copies = navigator.clipboard ? within.querySelectorAll("[data-copy]") : [];
  for (const copy of copies) copy.hidden = false;
};

const fetched = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) location.assign(base);
  const holder = document.createElement("div");
  holder.innerHTML = await answer.text();
  localize(holder);
  return holder;
};

// A folder opens where it stands.
const unfold = async (details) => {
  const address = details.dataset.part;
  if (!details.open || !address) return;
  delete details.dataset.part;
  details.setAttribute("aria-busy", "true");
  const holder = await fetched(address);
  details.querySelectorAll(":scope > :not(summary)").forEach((old) => old.remove());
  details.append(...holder.childNodes);
  details.removeAttribute("aria-busy");
};

// More of its names come after those that are there. Files come as a part of their table, which the
// browser need not lay out while it is far away.
const more = async (link) => {
  const item = link.closest("li, tr");
  const holder = await fetched(link.dataset.more);
  const items = [...holder.querySelectorAll(":scope > ul > li, :scope > table > tbody")];
  const focused = document.activeElement === link;
  const part = item.closest("tbody");
  part?.after(...items);
  if (part) item.remove();
  else item.replaceWith(...items);
  for (const one of items) on_scroll(one);
  if (focused) items[0]?.querySelector("summary, a")?.focus();
};

// In long lists, more come as soon as the end is in sight.
const sight = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    more(target);
  }
}, { rootMargin: "600px" });
const on_scroll = (within) => {
  for (const link of within.querySelectorAll("[data-scroll]")) sight.observe(link);
};

document.addEventListener("toggle", ({ target }) => unfold(target), true);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  more(link);
});
// The pace of a run that goes on changes as soon as another one is chosen.
const speed = document.getElementById("speed");
if (speed) {
  speed.addEventListener("change", () => {
    const body = new URLSearchParams(new FormData(speed));
    fetch(speed.action, { method: "POST", body, redirect: "manual" });
  });
}
const live = document.getElementById("live");
if (live) follow(live);

const send = (address, body) =>
  fetch(address, {
    method: "POST",
    headers: { "x-csrf": document.body.dataset.csrf, "content-type": "application/octet-stream" },
    body,
  });

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

// The files of what was dropped, folders and all, as names and files. Folders are only to be had
// before the event has ended, so entries are taken first and read afterwards.
const files_of = async (entries, max) => {
  const found = [];
  const read = async (entry) => {
    if (found.length > max) return;
    if (entry.isFile) {
      const file = await new Promise((good, bad) => entry.file(good, bad));
      found.push({ name: entry.fullPath.replace(/^\//, ""), file });
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((good, bad) => reader.readEntries(good, bad));
      if (!some.length || found.length > max) return;
      for (const below of some) await read(below);
    }
  };
  for (const entry of entries) await read(entry);
  return found;
};

// Files go to this server one by one, which hashes them as they come.
const drop_zone = (zone) => {
  const said = document.getElementById("drop-said");
  const progress = document.getElementById("drop-progress");
  let busy = false;
  zone.hidden = false;
  const hand_over = async (gather) => {
    if (busy) return;
    busy = true;
    zone.classList.remove("bad");
    let name = "";
    try {
      const files = await gather();
      if (!files.length) return;
      if (files.length > Number(zone.dataset.max)) {
        said.textContent = zone.dataset.many;
        return;
      }
      progress.hidden = false;
      progress.max = files.length;
      const begun = await send(`${base}drop/begin`);
      if (!begun.ok) throw new Error(begun.statusText);
      const drop = `${base}drop/${await begun.text()}`;
      for (const [done, one] of files.entries()) {
        name = one.name;
        progress.value = done;
        said.textContent = fill(zone.dataset.going, { done: done + 1, all: files.length, name });
        const taken = await send(`${drop}/file?name=${encodeURIComponent(name)}`, one.file);
        if (!taken.ok) throw new Error(taken.statusText);
      }
      location.assign(drop);
    } catch (error) {
      zone.classList.add("bad");
      said.textContent = `${zone.dataset.failed} ${name} (${error.message})`;
    } finally {
      busy = false;
      progress.hidden = true;
    }
  };
  for (const id of ["drop-files", "drop-folder"]) {
    document.getElementById(id).addEventListener("change", ({ target }) => {
      const files = [...target.files].map((file) => {
        return { name: file.webkitRelativePath || file.name, file };
      });
      hand_over(async () => files);
      target.value = "";
    });
  }
  // All of the page takes files: whoever misses the field would otherwise open them. Text that is
  // dragged into a field is not ours.
  const has_files = ({ dataTransfer }) => dataTransfer.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!has_files(event)) return;
    event.preventDefault();
    zone.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) zone.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    if (!has_files(event)) return;
    event.preventDefault();
    zone.classList.remove("over");
    // Some file managers name the files as text too.
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    const entries = items.map((item) => item.webkitGetAsEntry?.());
    const plain = [...event.dataTransfer.files].map((file) => ({ name: file.name, file }));
    const max = Number(zone.dataset.max);
    const all_known = entries.length && entries.every(Boolean);
    hand_over(async () => (all_known ? files_of(entries, max) : plain));
  });
};

// A record is read by the server, which says what is wrong with it, and where.
const record_field = (holder) => {
  const said = document.getElementById("record-said");
  holder.hidden = false;
  document.getElementById("record-file").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    said.textContent = "";
    const answer = await send(`${base}compare/record?name=${encodeURIComponent(file.name)}`, file);
    const text = await answer.text();
    if (answer.ok) {
      location.assign(`${base}compare?added=${text}`);
      return;
    }
    const why = answer.status === 422 ? text : answer.statusText;
    said.textContent = `${holder.dataset.refused}: ${file.name}: ${why}`;
    target.value = "";
  });
};

const zone = document.getElementById("drop");
if (zone) drop_zone(zone);
const record = document.getElementById("record");
if (record) record_field(record);
// What a desktop handed over was meant to be looked at; who comes back to it has seen that.
const [arrival] = performance.getEntriesByType("navigation");
if (arrival?.type !== "back_forward") document.getElementById("given")?.requestSubmit();

localize(document);
name_tab();
on_scroll(document);

document.addEventListener("click", async ({ target }) => {
  const copy = target.closest("[data-copy]");
  if (copy) {
    await navigator.clipboard.writeText(copy.dataset.copy);
    copy.lastChild.textContent = copy.dataset.copied;
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
});

// A page that shows states is loaded anew in place while nobody uses it.
const refresh = async () => {
  const state = document.querySelector("[data-refresh]");
  const busy = () =>
    document.hidden ||
    document.querySelector("main details[open]") ||
    state.contains(document.activeElement);
  if (!state || busy()) return;
  const answer = await fetch(location.href);
  if (!answer.ok || answer.redirected) return location.reload();
  const other = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [here, there] = ["main > .wrap", "main > .wrap"].map((part, at) =>
    (at ? other : document).querySelector(part));
  // Somebody may have opened a menu while the answer was on its way.
  if (here && there && here.innerHTML !== there.innerHTML && !busy()) {
    here.innerHTML = there.innerHTML;
    localize(here);
  }
  name_tab();
};

// Every page asks for the states of the folders: damage is shown wherever one is. A server that has
// ended says so on the open page, which is loaded anew when it is back.
let lost = null;
const lose = () => {
  if (lost) return;
  lost = document.createElement("p");
  lost.className = "lost";
  lost.setAttribute("role", "alert");
  lost.textContent = document.body.dataset.lost;
  document.body.prepend(lost);
  document.querySelector("main").classList.add("past");
  for (const stand of document.querySelectorAll(".stand")) stand.textContent = "";
  for (const button of document.querySelectorAll("main button")) button.disabled = true;
};
const ask = async () => {
  const mine = document.querySelector(".side .mine");
  try {
    const address = mine ? `${base}side` : `${base}icon.svg`;
    const answer = await fetch(address, { cache: "no-store" });
    if (lost || (mine && (!answer.ok || answer.redirected))) return location.reload();
    const states = await answer.text();
    const list = mine?.querySelector("ul");
    if (list && list.outerHTML !== states && !list.contains(document.activeElement)) {
      list.outerHTML = states;
    }
  } catch {
    return lose();
  }
  await refresh().catch(() => {});
};
let asked = 0;
setInterval(() => {
  const patience = document.hidden ? 240000 : 5000;
  if (Date.now() - asked < patience) return;
  asked = Date.now();
  ask();
}, 1000);

// Keys, except where somebody writes: g and a letter leads to a page.
const pages = { h: "", a: "activity", l: "drop", m: "measure", s: "settings" };
let before = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    const menu = document.querySelector("details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
    return;
  }
  // A choice or a box takes no letters.
  const writes = "input:not([type=range], [type=checkbox], [type=radio]), select, textarea";
  if (event.target.closest(writes)) return;
  if (before === "g" && event.key in pages) location.assign(base + pages[event.key]);
  if (event.key === "p") {
    const orders = [...document.querySelectorAll("#live .orders button")];
    orders.find((order) => order.offsetParent)?.click();
  }
  const search = document.querySelector("input[type=search]");
  if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
  }
  before = event.key;
});
