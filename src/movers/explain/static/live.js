// The live page: two sentences and their settings, asked of the server as they change.

import { byId, html } from "./elements.js";

const PAUSE = 120;
const UNAUTHORIZED = 401;
const OBAMA = "Obama speaks to the media in Illinois.";
const EXAMPLES = [
  ["Word swap", "The press greets the president.", "The president greets the press."],
  ["Obama, said otherwise", OBAMA, "The President greets the press in Chicago."],
  ["Obama, turned round", OBAMA, "The press greets the President in Chicago."],
  ["Flights", "Is there a flight from London to Paris?", "Is there a flight from Paris to London?"],
  ["Who bites", "A dog bites a man.", "A man bites a dog."],
  ["Unrelated", "The orchestra tuned its instruments.", "Rain is expected over the mountains."],
];
const [, SOURCE, TARGET] = EXAMPLES[0];
const DEFAULTS = {
  source: "", target: "", method: "movers", model: "", embedding: "-1", layers: "", heads: "",
  mix: "0.5", recipe: "paper", stopwords: "english",
};
const FIELDS = Object.keys(DEFAULTS);
const SPECIAL = ["embedding", "layers", "heads", "mix", "stopwords"];

const form = () => byId("ask").elements;

const readForm = () => Object.fromEntries(FIELDS.map((name) => [name, form()[name].value]));

// A choice that the server does not offer falls back to the usual one.
const fill = (state) => {
  for (const name of FIELDS.filter((one) => one in state)) {
    const field = form()[name];
    field.value = state[name];
    if (field.selectedIndex === -1) field.value = DEFAULTS[name];
  }
  byId("ask-mix").textContent = Number(form().mix.value).toFixed(2);
};

// Controls that mean nothing to the method rest.
const heed = (methods) => {
  const { name, settings } = methods.find((one) => one.name === form().method.value);
  for (const field of SPECIAL) {
    form()[field].disabled = !settings.includes(field);
    form()[field].title = form()[field].disabled ? `means nothing to ${name}` : "";
  }
};

const question = ({ model, embedding, layers, heads, mix, ...rest }) => ({
  ...rest, embedding: Number(embedding), layers: layers.trim() || null, heads: heads.trim() || "all",
  mix: Number(mix), ...(model ? { model } : {}),
});

const parseView = (text) => (text ? text.split("_").map((one) => one.split(".").map(Number)) : null);

const writeUrl = (state, view) => {
  const query = new URLSearchParams();
  for (const name of FIELDS) if (state[name] && state[name] !== DEFAULTS[name]) query.set(name, state[name]);
  if (view) query.set("view", view.map((head) => head.join(".")).join("_"));
  history.replaceState(null, "", `?${query}`);
};

const ask = async (path, body) => {
  const headers = {};
  const token = form().token.value;
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  const options = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  const answer = await fetch(path, options).catch(() => { throw new Error("the server cannot be reached"); });
  const found = await answer.json().catch(() => null);
  byId("token").hidden &&= answer.status !== UNAUTHORIZED;
  if (!answer.ok) throw new Error(found?.error?.message ?? `the server answered ${answer.status}`);
  return found;
};

const offer = (name, choices) => form()[name].replaceChildren(
  ...choices.map(([value, text, title]) => html("option", { value, title }, text)));

const embeddings = (layers) => Array.from({ length: layers + 1 }, (_, k) => {
  const layer = layers - k;
  return [k ? String(layer) : "-1", k ? (layer ? `layer ${layer}` : "input") : "last layer"];
});

const trouble = (message) => {
  byId("trouble").textContent = message;
  byId("trouble").hidden = !message;
  byId("found").classList.toggle("stale", Boolean(message));
};

class Live {
  constructor(show) {
    this.show = show;
    this.view = null;
    this.flying = null;
    byId("pair").hidden = true;
    byId("ask").hidden = false;
    byId("ask").addEventListener("input", ({ target }) => this.changed(target.name));
    byId("ask").addEventListener("submit", (event) => event.preventDefault());
  }

  async start() {
    const [models, methods] = await Promise.all([ask("v1/models"), ask("v1/methods")])
      .catch((error) => { trouble(error.message); return []; });
    if (!models) return;
    [this.models, this.methods] = [models.models, methods.methods];
    offer("method", methods.methods.map(({ name, title }) => [name, name, title]));
    offer("model", this.models.map(({ name }) => [name, name.split("/").at(-1)]));
    byId("ask").querySelector(".model").hidden = this.models.length < 2;
    const known = Object.fromEntries(new URLSearchParams(location.search));
    this.view = parseView(known.view);
    DEFAULTS.model = this.models[0].name;
    this.offerLayers(known.model);
    known.method = methods.aliases[known.method] ?? known.method ?? DEFAULTS.method;
    fill({ ...DEFAULTS, source: SOURCE, target: TARGET, ...known });
    heed(this.methods);
    byId("examples").replaceChildren(...EXAMPLES.map((example) => this.example(...example)));
    await this.answer();
  }

  offerLayers(name) {
    const model = this.models.find((one) => one.name === name) ?? this.models[0];
    offer("embedding", embeddings(model.layers));
  }

  example(name, source, target) {
    const button = html("button", { type: "button", title: `${source}\n${target}` }, name);
    button.addEventListener("click", () => { fill({ source, target }); this.answer(); });
    return button;
  }

  changed(name) {
    clearTimeout(this.timer);
    if (!this.models) {
      if (name === "token") this.timer = setTimeout(() => this.start(), PAUSE);
      return;
    }
    fill({});
    heed(this.methods);
    if (name === "model") this.offerLayers(form().model.value);
    if (["layers", "heads", "model", "method"].includes(name)) this.view = null;
    // The slider answers at once; typing waits for a pause.
    if (name === "mix") this.answer();
    else this.timer = setTimeout(() => this.answer(), PAUSE);
  }

  // Asks for what the form says; only the latest question counts, one at a time.
  async answer() {
    if (this.flying) { this.again = true; return; }
    const state = readForm();
    writeUrl(state, this.view);
    if (!state.source.trim() || !state.target.trim()) { trouble("Write two sentences."); return; }
    this.flying = ask("v1/explain", question(state));
    try {
      const found = await this.flying;
      trouble("");
      this.show(found, this.view);
    } catch (error) {
      trouble(error.message);
    } finally {
      this.flying = null;
    }
    if (this.again) { this.again = false; await this.answer(); }
  }
}

// Starts the live page; returns what to call when other heads are looked at.
export const goLive = (show) => {
  const live = new Live(show);
  live.start();
  return (view) => { live.view = view; writeUrl(readForm(), view); };
};
