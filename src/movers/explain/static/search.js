// The view of an index: a query, what is nearest by vectors and with structure, and the reasons.

import { byId, fit, html } from "./elements.js";
import { ask } from "./asking.js";
import { track } from "./verdict.js";

const PAUSE = 250;
const UNAUTHORIZED = 401;
const GUARDS = ["numbers", "names", "negation", "opposites", "roles"];

const form = () => byId("ask").elements;
const chosen = () => GUARDS.filter((name) => form()[name].checked);
const options = () => ({ token: form().token.value });
const clip = (share) => Math.min(1, Math.max(0, share));

const fail = (error) => {
  if (error.status === UNAUTHORIZED) byId("token").hidden = false;
  byId("trouble-text").textContent = error.message.replace(/[^.!?]$/, "$&.");
  byId("trouble").hidden = false;
};

// One match: its place on the scale without structure and with it, and the reasons on demand.
const row = (query, match, compared, far) => {
  const whole = { near: match.similarity };
  const alone = { near: far && compared ? clip(1 - compared.sentence / far) : null };
  const numbers = match.similarity === null ? [match.distance.toFixed(4)] : [
    ...alone.near === null ? [] : [html("span", { class: "alone", title: "by sentence vectors" }, alone.near.toFixed(2)), " → "],
    html("b", { class: "whole", title: "with structure" }, match.similarity.toFixed(2)),
  ];
  const link = new URLSearchParams({ source: query, target: match.text });
  const reasons = html("details", {}, html("summary", {}, match.text),
    html("p", { class: "told" }, compared?.verdict ?? ""),
    html("ul", {}, ...(compared?.story ?? []).map((text) => html("li", {}, text))),
    html("p", {}, html("a", { href: `./?${link}` }, "Word by word")));
  return html("li", {}, track({ alone: alone.near === null ? null : alone, whole }), html("p", { class: "figures" }, ...numbers), reasons);
};

const show = (answer) => {
  const { matches, comparisons, sentences, compared, certified, far, query, signature } = answer;
  byId("matches").replaceChildren(...matches.map((match, place) => row(query, match, comparisons[place], far)));
  byId("counted").textContent = `${matches.length} of ${sentences.toLocaleString("en")} sentences, `
    + `${compared} compared in full${certified ? "; none of the others can belong here" : ""}.`;
  byId("chart-legend").hidden = !matches.length || matches[0].similarity === null;
  byId("signature").textContent = signature;
};

let flying = null;

const search = async () => {
  const query = form().query.value.trim();
  flying?.abort();
  if (!query) return;
  const own = flying = new AbortController();
  const top_k = Math.min(50, Math.max(1, Number(form().top_k.value) || 10));
  const body = { query, index: form().index.value, top_k, explain: top_k, guards: chosen() };
  history.replaceState(null, "", `?${new URLSearchParams({ query, index: body.index })}`);
  try {
    const answer = await ask("v1/search", body, { ...options(), signal: own.signal });
    if (own.signal.aborted) return;
    byId("trouble").hidden = true;
    show(answer);
  } catch (error) {
    if (!own.signal.aborted) fail(error);
  }
};

const start = async () => {
  const found = await ask("v1/indexes", null, options()).catch(fail);
  if (!found) return;
  const { indexes } = found;
  byId("trouble").hidden = true;
  if (!indexes.length) { fail(new Error("This server has no index; start it with --index NAME=FOLDER")); return; }
  form().index.replaceChildren(...indexes.map(({ name, sentences }) =>
    html("option", { value: name }, `${name} (${sentences.toLocaleString("en")})`)));
  const known = Object.fromEntries(new URLSearchParams(location.search));
  if (indexes.some(({ name }) => name === known.index)) form().index.value = known.index;
  if (known.query) form().query.value = known.query;
  fit(form().query);
  await search();
};

byId("guards").append(...GUARDS.map((name) => html("label", {}, html("input", { type: "checkbox", name }), ` ${name}`)));
let timer = null;
let started = start();
byId("ask").addEventListener("input", ({ target }) => {
  clearTimeout(timer);
  timer = setTimeout(() => { if (target.name === "token") started = start(); else started.then(search); }, PAUSE);
});
byId("ask").addEventListener("submit", (event) => { event.preventDefault(); search(); });
byId("query").addEventListener("input", ({ target }) => fit(target));
addEventListener("resize", () => fit(byId("query")));
byId("query").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  search();
});
