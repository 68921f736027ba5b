// Drives the pages of `dormouse serve` with headless Chromium, over the DevTools protocol through a pipe, without any package.
//
//   node drive.mjs CHROMIUM SIGN_IN_LINK FOLDER
//
// Signs in, creates a resident, talks to it, corrects a memory, sets a goal and a setting, stops and lets go on, slides through the
// log, drags a part of prompts, forks the life, and writes pictures of each page into the folder: light, dark, and as wide as a telephone. Ends with 1 if a page logs an
// error, breaks its policy, is wider than the screen, or shows something else than expected.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [chromium, link, folder] = process.argv.slice(2);
const origin = new URL(link).origin;
const KEY = "hare";
const WAIT = 60_000;
mkdirSync(folder, { recursive: true });
const profile = mkdtempSync(join(tmpdir(), "dormouse-chromium-"));
const browser = spawn(chromium, [
  "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

const pending = new Map();
const listeners = new Set();
const problems = [];
let last = 0;
let rest = "";
browser.stdio[4].on("data", (bytes) => {
  const messages = (rest + bytes.toString()).split("\0");
  rest = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    if (message.id) {
      const { resolve, reject, method } = pending.get(message.id);
      pending.delete(message.id);
      if (message.error) reject(new Error(`${method}: ${message.error.message}`));
      else resolve(message.result);
    } else {
      for (const listener of listeners) listener(message);
    }
  }
});
let session;
function send(method, params = {}) {
  const id = ++last;
  browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
  return new Promise((resolve, reject) => pending.set(id, { resolve, reject, method }));
}
function once(method, what) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => { listeners.delete(listener); reject(new Error(`${what}: nothing within ${WAIT} ms`)); }, WAIT);
    const listener = (message) => {
      if (message.method !== method) return;
      clearTimeout(timer);
      listeners.delete(listener);
      resolve(message.params);
    };
    listeners.add(listener);
  });
}

// Refusals that this script asks for are no errors of a page.
let expected = null;
listeners.add(({ method, params }) => {
  const note = (text) => { if (!expected?.test(text)) problems.push(`${here}: ${text}`); };
  if (method === "Runtime.exceptionThrown") note(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
  if (method === "Runtime.consoleAPICalled" && params.type === "error") note(`console: ${params.args.map((it) => it.value).join(" ")}`);
  if (method === "Log.entryAdded" && params.entry.level === "error") note(`log: ${params.entry.text} ${params.entry.url ?? ""}`);
  if (method === "Audits.issueAdded" && /ContentSecurityPolicy|MixedContent|Cookie/.test(params.issue.code)) {
    note(`issue: ${params.issue.code} ${JSON.stringify(params.issue.details).slice(0, 300)}`);
  }
});

let here = "";
async function open(path) {
  here = path;
  const loaded = once("Page.loadEventFired", path);
  await send("Page.navigate", { url: path.startsWith("http") ? path : origin + path });
  await loaded;
}
async function evaluate(expression) {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(`${here}: ${expression}: ${exceptionDetails.exception?.description}`);
  return result.value;
}
async function until(expression, what) {
  const end = Date.now() + WAIT;
  while (Date.now() < end) {
    if (await evaluate(`Boolean(${expression})`)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${here}: ${what} did not come to pass`);
}
/// Fills in the fields of a form and sends it by its button. Waits for the page that follows.
async function submit(form, fields = {}, button = "button") {
  const loaded = once("Page.loadEventFired", `${here} ${form}`);
  await evaluate(`(() => {
    const form = document.querySelector(${JSON.stringify(form)});
    for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value;
    form.querySelector(${JSON.stringify(button)}).click();
  })()`);
  await loaded;
  here = await evaluate("location.pathname");
}
async function size(width, height, scheme) {
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
}
async function picture(name) {
  const { data } = await send("Page.captureScreenshot", { format: "png" });
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, "base64"));
}
const SHAPES = [["light", 1200, 850, "light"], ["dark", 1200, 850, "dark"], ["phone", 390, 800, "light"], ["phone-dark", 390, 800, "dark"]];
async function pictures(name, path) {
  for (const [shape, width, height, scheme] of SHAPES) {
    await size(width, height, scheme);
    await open(path);
    const wide = await evaluate("document.documentElement.scrollWidth - innerWidth");
    if (wide > 1) problems.push(`${path}: ${wide} px wider than the screen (${shape})`);
    await picture(`${name}-${shape}`);
  }
  await size(1200, 850, "light");
}
/// What somebody who cannot see the page would miss: names of fields and buttons, one heading of the first rank, a language.
async function readable() {
  const found = await evaluate(`(() => {
    const name = (it) => it.getAttribute("aria-label") || it.labels?.[0]?.textContent || it.textContent || it.title || "";
    const fields = [...document.querySelectorAll("input:not([type=hidden]), textarea, select, button")];
    const bare = fields.filter((it) => !name(it).trim()).map((it) => it.outerHTML.slice(0, 120));
    const images = [...document.images].filter((it) => it.alt === null).length;
    const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
    const twice = ids.filter((id, place) => ids.indexOf(id) !== place);
    return { bare, images, twice, h1: document.querySelectorAll("h1").length, lang: document.documentElement.lang };
  })()`);
  if (found.bare.length || found.twice.length || found.h1 !== 1 || found.lang !== "en") problems.push(`${here}: ${JSON.stringify(found)}`);
}

/// Slides through the log with the mouse's events and with the keyboard, on each view that has a past.
async function slide() {
  const end = Number(await evaluate(`document.querySelector("#at").max`));
  let loaded = once("Page.loadEventFired", "the slider");
  await evaluate(`(() => { const at = document.querySelector("#at"); at.value = 30; at.dispatchEvent(new Event("input")); at.dispatchEvent(new Event("change")); })()`);
  await loaded;
  await until(`location.search === "?at=30" && document.querySelector(".row:last-of-type").dataset.seq === "30" && document.activeElement.id === "at"`, "sliding to event 30");
  // The slider has got the focus, so the keys go on.
  for (const [name, seq] of [["ArrowRight", 31], ["ArrowLeft", 30]]) {
    loaded = once("Page.loadEventFired", name);
    await key(name, name === "ArrowRight" ? 39 : 37);
    await loaded;
    await until(`location.search === "?at=${seq}" && document.activeElement.id === "at"`, `the key ${name}`);
  }
  await evaluate(`document.querySelector(".composer") ? 1 : 0`) && problems.push("one can talk to the past");
  const links = await evaluate(`[...document.querySelectorAll(".views a")].map((it) => it.getAttribute("href"))`);
  if (links.filter((it) => it.endsWith("?at=30")).length !== 7) problems.push(`the views do not keep the moment: ${links}`);
  const began = Date.now();
  for (const link of links) await open(link);
  console.log(`${links.length} views of event 30 of ${end}: ${Date.now() - began} ms`);
  await open(`/a/${KEY}/?at=30`);
  loaded = once("Page.loadEventFired", "now");
  await evaluate(`[...document.querySelectorAll(".time a")].find((it) => it.textContent === "Now").click()`);
  await loaded;
  await until(`document.querySelector(".composer")`, "coming back to now");
}
async function key(name, code) {
  const params = { key: name, code: name, windowsVirtualKeyCode: code };
  await send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...params });
  await send("Input.dispatchKeyEvent", { type: "keyUp", ...params });
}

const parts = () => evaluate(`[...document.querySelectorAll(".bench [data-part]")].map((it) => it.dataset.part)`);
/// Moves parts of prompts with the mouse and with the keyboard, switches one off, and bounds one.
async function bench() {
  await open(`/a/${KEY}/workbench/`);
  await readable();
  const before = await parts();
  await evaluate(`document.querySelector("#part-${before[0]}").scrollIntoView({ block: "center" })`);
  const [from, to] = await evaluate(`[${JSON.stringify(before[0])}, ${JSON.stringify(before[2])}].map((name) => {
    const box = document.querySelector("#part-" + name + " .grip").getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  })`);
  const mouse = (type, x, y) => send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1 });
  let loaded = once("Page.loadEventFired", "dropping a part");
  await mouse("mousePressed", from.x, from.y);
  for (let step = 1; step <= 10; step++) await mouse("mouseMoved", from.x, from.y + ((to.y + 30 - from.y) * step) / 10);
  await picture("dragged");
  const shown = await parts();
  await mouse("mouseReleased", to.x, to.y + 30);
  await loaded;
  const dragged = await parts();
  if (String(dragged) !== String(shown) || dragged[0] !== before[1]) problems.push(`dragging ${before[0]} showed ${shown} and gave ${dragged}`);
  loaded = once("Page.loadEventFired", "a key on Up");
  await evaluate(`document.querySelector("#part-${before[0]} button[value=up]").focus()`);
  await send("Input.dispatchKeyEvent", { type: "keyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" });
  await loaded;
  const place = dragged.indexOf(before[0]);
  [dragged[place - 1], dragged[place]] = [dragged[place], dragged[place - 1]];
  const raised = await parts();
  if (String(raised) !== String(dragged)) problems.push(`the key gave ${raised}`);
  await submit("#part-context_buffer form", {}, "[value=off]");
  await until(`document.querySelector("#part-context_buffer").dataset.on === "false"`, "switching a part off");
  await submit("#part-semantic_memories form", { budget: "300" }, "[value=budget]");
  await until(`document.querySelector("#part-semantic_memories").textContent.includes("at most 300")`, "bounding a part");
  const kinds = await evaluate(`[...document.querySelectorAll('nav[aria-label="Kinds of ticks"] a')].map((it) => it.getAttribute("href"))`);
  if (kinds.length !== 7) problems.push(`${kinds.length} kinds of ticks`);
  for (const kind of kinds) {
    await open(kind);
    await until(`document.querySelector(".numbers .fill")`, "a prompt");
  }
  await open(`/a/${KEY}/charts/`);
  await readable();
  if (await evaluate(`document.querySelectorAll(".chart svg rect[data-lane]").length`) < 4) problems.push("the charts are empty");
  await evaluate(`document.querySelector(".chart summary").click()`);
  await picture("chart-table");
}

/// Makes another life of this one, from its event 30 on, and lets it live.
async function fork() {
  await open(`/a/${KEY}/?at=30`);
  const loaded = once("Page.loadEventFired", "the form for a fork");
  await evaluate(`[...document.querySelectorAll(".time a")].find((it) => it.textContent === "Fork here").click()`);
  await loaded;
  await readable();
  await submit("main form", { key: "twin", name: "Twin of the Hare" });
  await until(`location.pathname === "/a/twin/" && document.querySelector('.needs [data-kind="switched off"]')`, "forking");
  await submit(".needs form");
  await until(`!document.querySelector('.needs [data-kind="switched off"]')`, "switching the fork on");
  const last = await evaluate(`Number(document.querySelector("#log").dataset.last)`);
  await evaluate(`document.querySelector("#words").value = "what does Alice prefer?"; document.querySelector("#say").requestSubmit()`);
  await until(`[...document.querySelectorAll('.row[data-lane="did"]')].some((it) => it.dataset.seq > ${last} && it.querySelector(".passage")?.textContent.includes("tea"))`, "the fork remembers");
  await picture("twin");
}

async function drive() {
  const { targetInfos } = await send("Target.getTargets");
  const { targetId } = targetInfos.find((it) => it.type === "page");
  ({ sessionId: session } = await send("Target.attachToTarget", { targetId, flatten: true }));
  for (const domain of ["Page", "Runtime", "Log", "Audits", "Network"]) await send(`${domain}.enable`);

  // Half an hour off all whole ones, so that a wrong time is seen.
  await send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kolkata" });
  expected = /401/;
  await size(1200, 850, "light");
  await open("/");
  await readable();
  await picture("sign-in");
  expected = null;
  await open(link);
  await until(`location.pathname === "/"`, "signing in");
  if (await evaluate("document.cookie")) problems.push("a script can read the cookie");

  await open("/new/");
  await readable();
  await submit("main form", { key: KEY, name: "March Hare", persona: "You are the March Hare, and it is always tea time.", tags: "tea party" });
  await until(`document.querySelector("#say")`, "creating a resident");
  for (const words of ["hello", "remember that Alice prefers tea", "what does Alice prefer?", "<b>markup</b> & \u202ehidden"]) {
    const before = await evaluate(`document.querySelectorAll('.row[data-lane="did"]').length`);
    await evaluate(`document.querySelector("#words").value = ${JSON.stringify(words)}; document.querySelector("#say").requestSubmit()`);
    await until(`document.querySelectorAll('.row[data-lane="did"]').length > ${before}`, `an answer to ${words}`);
  }
  await until(`[...document.querySelectorAll(".frame .head")].at(-1)?.textContent.includes("Tick ends")`, "the end of the tick");
  if (await evaluate(`document.querySelector(".log b, .log script")?.textContent.includes("markup")`)) problems.push("words became markup");
  await readable();
  await evaluate(`document.querySelector('.legend input[data-lane="thought"]').click()`);
  if (await evaluate(`[...document.querySelectorAll('.row[data-lane="thought"]')].some((it) => !it.hidden)`)) problems.push("a lane cannot be switched off");

  const record = await evaluate(`[...document.querySelectorAll('.row[data-lane="remembered"] a')].find((it) => it.textContent === "Record")?.getAttribute("href")`);
  await open(record);
  await readable();
  await submit(`form[action$="/correct/"]`, { text: "Alice prefers coffee", reason: "she said so" });
  await open(`/a/${KEY}/memory/?q=what+does+Alice+prefer`);
  await until(`document.querySelector(".records")?.textContent.includes("coffee")`, "finding the correction");
  await open(record);
  await pictures("record", record);
  await submit(`.plain li:last-child form[action*="/undo/"]`);
  await until(`!document.body.textContent.includes("no longer true")`, "taking the correction back");

  await open(`/a/${KEY}/goals/`);
  await submit(".stack", { text: "keep the tea warm", priority: "7" });
  await submit(".stack", { text: "find the pot", parent: "1" });
  await submit(".stack", { text: "boil the water", parent: "1" });
  await submit(`form[action$="/goals/2/"]`, {}, `[value="done"]`);
  await open(`/a/${KEY}/journal/`);
  await submit(".stack", { content: "The cups were washed today, all but one.", tags: "tea" });
  await open(`/a/${KEY}/settings/`);
  await submit(`form:has([value="limits.max_consecutive_errors"])`, { value: "7" });
  await until(`document.querySelector('.setting[data-from="event"]')`, "changing a setting");

  await open(`/a/${KEY}/`);
  const zoned = await evaluate(`[...document.querySelectorAll(".when time")].every((it) => {
    const [hours, minutes] = it.dateTime.slice(11, 16).split(":").map(Number);
    const there = (hours * 60 + minutes + 330) % 1440;
    return it.textContent.slice(0, 5) === String(Math.floor(there / 60)).padStart(2, "0") + ":" + String(there % 60).padStart(2, "0");
  })`);
  if (!zoned) problems.push("times are not those of the zone");
  if (await evaluate(`document.querySelectorAll(".log > .day").length`) < 1) problems.push("a life has no days");
  await submit(".emergency", { reason: "the tea is cold" });
  await until(`document.querySelector('.status[data-kind="stopped"]') && document.querySelector(".needs").textContent.includes("the tea is cold")`, "stopping");
  await open("/");
  await evaluate(`window.isSamePage = true; fetch("/api/ai/assistants/${KEY}/emergency/clear/", { method: "POST" })`);
  await until(`window.isSamePage && !document.querySelector('.status[data-kind="stopped"]')`, "the first screen looking again");
  await evaluate(`fetch("/api/ai/assistants/${KEY}/emergency/trigger/", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })`);
  await until(`window.isSamePage && document.querySelector('.status[data-kind="stopped"]')`, "the first screen looking again");
  await pictures("residents", "/");
  await pictures("stopped", `/a/${KEY}/`);
  await open(`/a/${KEY}/`);
  await submit(".emergency");
  await until(`!document.querySelector('.status[data-kind="stopped"]')`, "going on");
  await slide();
  await bench();
  await fork();

  await open(`/a/${KEY}/people/`);
  await until(`document.querySelector(".around a circle")`, "the picture of people");
  await evaluate(`document.querySelector("li.card details").open = true`);
  await picture("conversation");
  const reply = await evaluate(`fetch("/api/ai/assistants/${KEY}/audit/?limit=1000").then((it) => it.json()).then((it) => it.events.filter((it) => it.kind === "replied").at(-1).event)`);
  for (const [name, path] of [
    ["life", `/a/${KEY}/`], ["prompt", `/a/${KEY}/prompt/?at=${reply}`], ["next-prompt", `/a/${KEY}/prompt/`],
    ["memory", `/a/${KEY}/memory/`], ["found", `/a/${KEY}/memory/?q=Alice`], ["people", `/a/${KEY}/people/`], ["goals", `/a/${KEY}/goals/`],
    ["journal", `/a/${KEY}/journal/`], ["charts", `/a/${KEY}/charts/`], ["workbench", `/a/${KEY}/workbench/`],
    ["past-life", `/a/${KEY}/?at=30`], ["past-workbench", `/a/${KEY}/workbench/?context=reflection&at=30`], ["fork", `/a/${KEY}/fork/?at=30`], ["settings", `/a/${KEY}/settings/`], ["event", `/a/${KEY}/event/${reply}/`], ["new", "/new/"],
  ]) {
    await pictures(name, path);
    await readable();
  }
  expected = /404/;
  await pictures("refused", "/a/nobody/");
  expected = null;
}

let status = 0;
try {
  await drive();
} catch (error) {
  problems.push(String(error));
  await picture("failed").catch(() => {});
}
const ended = new Promise((resolve) => browser.once("exit", resolve));
session = undefined;
send("Browser.close").catch(() => {});
const killed = setTimeout(() => browser.kill("SIGKILL"), 5_000);
await ended;
clearTimeout(killed);
// Processes that the browser started may still write there for a moment.
for (let left = 50; left > 0; left--) {
  try {
    rmSync(profile, { recursive: true, force: true });
    break;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
for (const problem of problems) console.log(`problem: ${problem}`);
if (problems.length) status = 1;
console.log(status ? `${problems.length} problems` : "every page is as expected");
process.exit(status);
