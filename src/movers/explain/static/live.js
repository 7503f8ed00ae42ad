// The live page: sentences and settings, asked of the server as they change.

import { along, byId, fit, html, rove } from "./elements.js";
import { ask } from "./asking.js";
import { announce, save } from "./sharing.js";

const PAUSE = 150;
const SLOW = 200;
const UNAUTHORIZED = 401;
const EXAMPLES = [
  ["Roles swapped", "The judge questioned the lawyer.", "The lawyer was interrogated by the judge.", "The lawyer questioned the judge."],
  ["Paraphrase", "The company bought the startup.", "The firm acquired the start-up.", "The startup bought the company."],
  ["Passive", "The cat chased the mouse.", "The mouse was chased by the cat.", "The mouse chased the cat."],
  ["Coordination", "Anna and Thomas wrote to the mayor.", "Thomas and Anna wrote to the mayor.", "The mayor wrote to Anna and Thomas."],
  ["Unrelated", "The orchestra tuned its instruments.", "The musicians got their instruments in tune.", "Rain is expected over the mountains."],
];
const DEFAULTS = {
  source: "", target: "", other: "", method: "movers", model: "", embedding: "-1", layers: "", heads: "",
  mix: "0.5", recipe: "paper", stopwords: "english",
};
const FIELDS = Object.keys(DEFAULTS);
const TEXTS = ["source", "target", "other"];
const SPECIAL = ["embedding", "layers", "heads", "mix", "stopwords"];

const form = () => byId("ask").elements;

const readForm = () => Object.fromEntries(FIELDS.map((name) => [name, form()[name].value]));

const grow = () => TEXTS.forEach((name) => fit(form()[name]));

const third = (shown) => {
  byId("third").hidden = !shown;
  byId("add").hidden = shown;
};

// A choice that the server does not offer falls back to the usual one.
const fill = (state) => {
  for (const name of FIELDS.filter((one) => one in state)) {
    const field = form()[name];
    field.value = state[name];
    if (field.selectedIndex === -1 || field.selectedOptions?.[0]?.disabled) field.value = DEFAULTS[name];
  }
  if ("other" in state) third(Boolean(state.other));
  byId("ask-mix").textContent = Number(form().mix.value).toFixed(2);
  grow();
};

const parseView = (text) => (text ? text.split("_").map((one) => one.split(".").map(Number)) : null);

const offer = (name, choices) => form()[name].replaceChildren(...choices.map(([value, text, title, disabled]) =>
  html("option", { value, title, ...disabled ? { disabled: "" } : {} }, text)));

const embeddings = (layers) => Array.from({ length: layers + 1 }, (_, k) => {
  const layer = layers - k;
  return [k ? String(layer) : "-1", k ? (layer ? `layer ${layer}` : "input") : "last layer"];
});

// The question that a state of the form asks.
const questionOf = ({ model, embedding, layers, heads, mix, other, ...rest }) => ({
  ...rest, ...other.trim() ? { other } : {}, embedding: Number(embedding), layers: layers.trim() || null,
  heads: heads.trim() || "all", mix: Number(mix), ...model ? { model } : {},
});

const pairQuestions = ({ other, links, ...rest }) => [rest, ...other ? [{ ...rest, target: other }] : []];

// Attention that is known already, put where it was left out.
const graft = (found, known) => {
  const heads = (one) => [one.first ?? one, ...one.second ? [one.second] : []].flatMap(({ structure }) => structure?.heads ?? []);
  const before = heads(known);
  heads(found).forEach((head, place) => {
    const { source_attention, target_attention } = before[place];
    Object.assign(head, { source_attention, target_attention });
  });
  return found;
};

class Live {
  constructor(page) {
    Object.assign(this, { page, view: null, place: null, known: null, curves: null });
    byId("pair").hidden = true;
    byId("ask").hidden = false;
    byId("ask").addEventListener("input", ({ target }) => this.changed(target.name));
    byId("ask").addEventListener("change", ({ target }) => { if (target.name === "mix") this.answer(); });
    byId("ask").addEventListener("submit", (event) => event.preventDefault());
    byId("add").addEventListener("click", () => { third(true); grow(); form().other.focus(); });
    byId("drop").addEventListener("click", () => { fill({ other: "" }); this.place = null; this.answer(); form().target.focus(); });
    byId("again").addEventListener("click", () => (this.models ? this.answer() : this.start()));
    addEventListener("resize", grow);
    for (const name of TEXTS) {
      form()[name].addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        this.answer();
      });
    }
  }

  ask(path, body, options = {}) {
    return ask(path, body, { token: form().token.value, ...options });
  }

  async start() {
    this.wait(true);
    const facts = await Promise.all(["models", "methods", "indexes"].map((one) => this.ask(`v1/${one}`))).catch((error) => this.fail(error));
    if (!facts) return;
    const [{ models }, { methods, aliases }, { indexes }] = facts;
    byId("to-search").hidden = !indexes.length;
    Object.assign(this, { models, methods });
    offer("model", models.map(({ name }) => [name, name.split("/").at(-1)]));
    byId("ask").querySelector(".model").hidden = models.length < 2;
    const known = Object.fromEntries(new URLSearchParams(location.search));
    this.view = parseView(known.view);
    this.place = { B: 0, C: 1 }[known.look] ?? null;
    if (known.show === "links") this.page.mode = known.show;
    DEFAULTS.model = models[0].name;
    this.offerFor(known.model);
    known.method = aliases[known.method] ?? known.method ?? DEFAULTS.method;
    const [, source, target, other] = EXAMPLES[0];
    fill({ ...DEFAULTS, ...known.source || known.target ? {} : { source, target, other }, ...known });
    this.heed();
    const buttons = EXAMPLES.map((example) => this.example(...example));
    byId("examples").replaceChildren(...buttons);
    rove(buttons, along(buttons.length));
    await this.answer();
  }

  // What a model can do.
  offerFor(name) {
    const model = this.models.find((one) => one.name === name) ?? this.models[0];
    offer("embedding", embeddings(model.layers));
    offer("method", this.methods.map(({ name: method, title, missing }) => {
      const reason = missing[model.name];
      return [method, reason ? `${method}: ${reason}` : method, title, reason];
    }));
  }

  // Controls that mean nothing to the method rest.
  heed() {
    const { name, title, settings } = this.methods.find((one) => one.name === form().method.value);
    byId("method-title").textContent = title;
    for (const field of SPECIAL) {
      const disabled = !settings.includes(field);
      form()[field].disabled = disabled;
      form()[field].closest("label").title = disabled ? `means nothing to ${name}` : "";
    }
  }

  example(name, source, target, other) {
    const button = html("button", { type: "button", title: `${source}\n${target}\n${other}` }, name);
    button.addEventListener("click", () => { this.place = null; fill({ source, target, other }); this.answer(); });
    return button;
  }

  swap(side, text) {
    fill({ [side]: text });
    this.answer();
  }

  changed(name) {
    clearTimeout(this.timer);
    if (!this.models) {
      if (name === "token") this.timer = setTimeout(() => this.start(), PAUSE);
      return;
    }
    if (name === "model") {
      const { method } = readForm();
      this.offerFor(form().model.value);
      fill({ method });
    }
    fill({});
    this.heed();
    if (["layers", "heads", "model", "method"].includes(name)) this.view = null;
    // The curve answers the slider by itself; typing waits for a pause.
    if (name === "mix" && this.page.scrub(Number(form().mix.value))) return;
    this.timer = setTimeout(() => this.answer(), PAUSE);
  }

  scrub(mix) {
    if (mix === null) { this.answer(); return; }
    form().mix.value = String(mix);
    this.changed("mix");
  }

  writeUrl() {
    const state = readForm();
    const query = new URLSearchParams();
    for (const name of FIELDS) if (state[name] && state[name] !== DEFAULTS[name]) query.set(name, state[name]);
    if (this.place !== null && state.other) query.set("look", "BC"[this.place]);
    if (this.page.mode === "links") query.set("show", "links");
    if (this.view) query.set("view", this.view.map((head) => head.join(".")).join("_"));
    history.replaceState(null, "", `?${query}`);
  }

  question() { return { ...questionOf(readForm()), ...this.page.mode === "links" ? { links: true } : {} }; }

  // While an answer is on its way the last one stays, dimmed if it takes long.
  wait(busy) {
    clearTimeout(this.dimming);
    byId("found").setAttribute("aria-busy", String(busy));
    if (busy) this.dimming = setTimeout(() => { document.body.classList.add("pending"); }, SLOW);
    else document.body.classList.remove("pending");
  }

  fail(error) {
    this.wait(false);
    if (error.status === UNAUTHORIZED) byId("token").hidden = false;
    byId("trouble-text").textContent = error.message.replace(/[^.!?]$/, "$&.");
    byId("stale").hidden = byId("found").hidden;
    byId("trouble").hidden = false;
    document.body.classList.toggle("stale", !byId("found").hidden);
  }

  settle() {
    this.wait(false);
    byId("trouble").hidden = true;
    document.body.classList.remove("stale");
  }

  // Asks for what the form says; a new question takes the place of the one on its way.
  async answer() {
    clearTimeout(this.timer);
    this.flying?.abort();
    const flying = new AbortController();
    this.flying = flying;
    this.writeUrl();
    const question = this.question();
    if (!question.source.trim() || !question.target.trim()) {
      this.fail(new Error("Write two sentences, A and B."));
      return;
    }
    this.wait(true);
    const { mix, links, ...rest } = question;
    const key = JSON.stringify(rest);
    const known = this.known?.key === key ? this.known.found : null;
    const path = question.other ? "v1/contrast" : "v1/explain";
    try {
      const answer = await this.ask(path, { ...question, attention: !known }, { signal: flying.signal });
      if (flying.signal.aborted) return;
      const found = known ? graft(answer, known) : answer;
      if (this.known?.key !== key) this.curves = null;
      this.known = { key, found };
      this.settle();
      this.page.show(found, { view: this.view, place: this.place, curves: this.curves, mix });
      announce(byId("said").textContent);
      if (!this.curves) await this.fetchCurves(question, key);
    } catch (error) {
      if (!flying.signal.aborted) this.fail(error);
    }
  }

  // One request for each pair brings every mix.
  async fetchCurves(question, key) {
    const { settings } = this.methods.find(({ name }) => name === question.method);
    if (!settings.includes("mix")) return;
    const curves = await Promise.all(pairQuestions(question).map((one) => this.ask("v1/curve", one))).catch(() => null);
    if (!curves || this.known.key !== key) return;
    this.curves = curves;
    this.page.take(curves, Number(form().mix.value));
  }

  async download() {
    const text = await this.ask("v1/page", this.question(), { text: true }).catch((error) => this.fail(error));
    if (text) save(text, "movers.html", "text/html");
  }

  follow(view, place) {
    Object.assign(this, { view, place });
    this.writeUrl();
  }
}

// Starts the live page around what draws it.
export const goLive = (page) => {
  const live = new Live(page);
  live.start();
  return live;
};
