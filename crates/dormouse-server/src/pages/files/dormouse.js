// What pages do by themselves: times are those of the browser's zone, a life and the first screen grow, lanes are switched on and off, parts of prompts are dragged, and what
// is not easily taken back is asked about. Without this script everything is reached by links and forms.
"use strict";
(() => {
  const log = document.getElementById("log");
  const key = log?.dataset.key;

  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.ask;
    if (question && !window.confirm(question)) event.preventDefault();
  });

  for (const box of document.querySelectorAll(".legend input")) {
    const apply = () => {
      for (const row of log?.querySelectorAll(`.row[data-lane="${box.dataset.lane}"]`) ?? []) row.hidden = !box.checked;
    };
    box.addEventListener("change", apply);
  }

  // Pages have times in UTC. A time shows the one of its attribute as a hint.
  const two = (number) => String(number).padStart(2, "0");
  const dayOf = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clockOf = (at) => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  function toZone(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.title = time.dateTime;
      time.textContent = time.textContent.includes("-") ? `${dayOf(at)} ${clockOf(at)}` : clockOf(at);
      const zone = time.nextElementSibling;
      if (zone?.className === "zone") {
        const parts = new Intl.DateTimeFormat("en", { timeZoneName: "short" }).formatToParts(at);
        zone.textContent = parts.find((it) => it.type === "timeZoneName")?.value ?? "";
      }
    }
    // The days of a life are those of the zone, too.
    for (const rows of root.querySelectorAll("ol")) {
      if (!rows.querySelector(":scope > .day")) continue;
      for (const days of rows.querySelectorAll(":scope > .day")) days.remove();
      let shown = "";
      for (const row of [...rows.children]) {
        const time = row.querySelector(".when time");
        const day = time ? dayOf(new Date(time.dateTime)) : shown;
        if (day !== shown) {
          const head = document.createElement("li");
          head.className = "day";
          head.append(document.createElement("h3"));
          head.firstChild.textContent = day;
          row.before(head);
          shown = day;
        }
      }
    }
  }
  toZone(document);

  // The first screen looks again every few seconds, while somebody looks at it and is not about to press a button.
  const residents = document.getElementById("residents");
  async function lookAgain() {
    const shown = document.getElementById("residents");
    if (document.hidden || shown.contains(document.activeElement)) return;
    const answer = await fetch(location.href, { cache: "no-store", headers: { accept: "text/html", "if-none-match": shown.dataset.tag } }).catch(() => null);
    if (answer?.status !== 200) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("residents");
    if (!next || shown.contains(document.activeElement)) return;
    toZone(next);
    shown.replaceWith(next);
  }
  if (residents) {
    setInterval(lookAgain, 3000);
    document.addEventListener("visibilitychange", lookAgain);
  }

  const slider = document.querySelector(".time input[type=range]");
  slider?.addEventListener("input", () => { slider.form.querySelector("output").value = Number(slider.value).toLocaleString("en"); });
  slider?.addEventListener("change", () => slider.form.requestSubmit());
  if (slider) slider.form.querySelector("button").hidden = true;

  // On a telephone, not all views have room.
  const tabs = document.querySelector(".views");
  const tab = tabs?.querySelector("[aria-current]");
  if (tab) tabs.scrollLeft = tab.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2;

  // A part that is dragged stays where it is in the document, and its neighbours move: a moved element would lose the pointer.
  for (const grip of document.querySelectorAll(".grip")) {
    const row = grip.closest("li");
    const form = document.getElementById("order");
    const order = () => [...row.parentElement.querySelectorAll("li[data-part]")].map((it) => it.dataset.part).join(",");
    const middle = (it) => { const box = it.getBoundingClientRect(); return box.top + box.height / 2; };
    let before = null;
    grip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      grip.setPointerCapture(event.pointerId);
      before = order();
      row.classList.add("dragged");
    });
    grip.addEventListener("pointermove", (event) => {
      if (before === null) return;
      for (let next; (next = row.nextElementSibling)?.dataset.part && event.clientY > middle(next);) row.before(next);
      for (let next; (next = row.previousElementSibling)?.dataset.part && event.clientY < middle(next);) row.after(next);
    });
    grip.addEventListener("lostpointercapture", () => {
      row.classList.remove("dragged");
      const now = order();
      if (before !== null && now !== before) {
        form.elements.order.value = now;
        form.requestSubmit();
      }
      before = null;
    });
  }

  if (!key) {
    // The row in the address is in view already; the end of a page of the past is where it was asked to end.
    if (log && !location.hash && new URLSearchParams(location.search).has("at")) log.lastElementChild?.scrollIntoView({ block: "end" });
    return;
  }

  const page = document.scrollingElement;
  const isAtEnd = () => page.scrollHeight - page.scrollTop - page.clientHeight < 160;
  const toEnd = () => page.scrollTo({ top: page.scrollHeight });
  if (!location.hash || location.hash === "#say") toEnd();

  const newer = document.createElement("button");
  newer.className = "newer";
  newer.type = "button";
  newer.textContent = "Newest ↓";
  newer.hidden = true;
  newer.addEventListener("click", () => { newer.hidden = true; toEnd(); });
  log.after(newer);
  document.addEventListener("scroll", () => { if (isAtEnd()) newer.hidden = true; }, { passive: true });

  let isFetching = false;
  let isAsked = false;
  let unseen = 0;
  async function grow() {
    isAsked = true;
    if (isFetching) return;
    isFetching = true;
    try {
      while (isAsked) {
        isAsked = false;
        const answer = await fetch(`/a/${key}/rows/?after=${log.dataset.last}`, { headers: { accept: "text/html" } });
        if (!answer.ok) return;
        const part = document.createElement("template");
        part.innerHTML = await answer.text();
        toZone(part.content);
        take(part.content);
      }
    } finally {
      isFetching = false;
    }
  }

  function take(part) {
    const follows = isAtEnd();
    const rows = part.querySelector("ol");
    for (const days of rows.querySelectorAll(".day")) {
      const shown = log.querySelectorAll(".day");
      if (shown.length && shown[shown.length - 1].textContent === days.textContent) days.remove();
    }
    log.dataset.last = rows.dataset.last;
    for (const row of [...rows.children]) {
      const box = document.querySelector(`.legend input[data-lane="${row.dataset.lane}"]`);
      row.hidden = box ? !box.checked : false;
      row.classList.add("fresh");
      if (row.dataset.seq) unseen += 1;
      log.append(row);
    }
    for (const selector of [".resident .status", "#facts"]) {
      const now = document.querySelector(selector);
      const next = part.querySelector(selector.split(" ").at(-1));
      if (now && next && !now.contains(document.activeElement)) now.replaceWith(next);
    }
    const shown = document.getElementById("shown");
    if (shown) shown.textContent = Number(log.dataset.last).toLocaleString("en");
    if (follows) {
      unseen = 0;
      toEnd();
    } else if (unseen > 0) {
      newer.textContent = `${unseen} new ↓`;
      newer.hidden = false;
    }
  }

  // One stream for each page, and none while nobody looks: it keeps the resident awake.
  let stream = null;
  function open() {
    if (stream || document.hidden) return;
    stream = new EventSource(`/api/ai/assistants/${key}/events/?after=${log.dataset.last}`);
    stream.addEventListener("log", grow);
    stream.addEventListener("end", () => { close(); setTimeout(open, 5000); });
  }
  function close() {
    stream?.close();
    stream = null;
  }
  document.addEventListener("visibilitychange", () => { if (document.hidden) { close(); } else { grow(); open(); } });
  open();

  const say = document.getElementById("say");
  const words = say?.querySelector("textarea");
  words?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      say.requestSubmit();
    }
  });
  say?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = say.querySelector("button");
    button.disabled = true;
    try {
      const answer = await fetch(say.action, { method: "POST", body: new URLSearchParams(new FormData(say)), headers: { accept: "text/html" } });
      if (!answer.ok) { document.documentElement.innerHTML = await answer.text(); return; }
      words.value = "";
      await grow();
      toEnd();
    } finally {
      button.disabled = false;
      words.focus();
    }
  });
})();
