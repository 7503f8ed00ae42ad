// The live page: two sentences and their settings, asked of the server as they change.

import { byId, html } from "./elements.js";

const PAUSE = 120;
const UNAUTHORIZED = 401;
const EXAMPLES = [
  ["Word swap", { source: "The press greets the president.", target: "The president greets the press." }],
  ["Obama, said otherwise", { source: "Obama speaks to the media in Illinois.", target: "The President greets the press in Chicago." }],
  ["Obama, turned round", { source: "Obama speaks to the media in Illinois.", target: "The press greets the President in Chicago." }],
  ["Flights", { source: "Is there a flight from London to Paris?", target: "Is there a flight from Paris to London?" }],
  ["Who bites", { source: "A dog bites a man.", target: "A man bites a dog." }],
  ["Unrelated", { source: "The orchestra tuned its instruments.", target: "Rain is expected over the mountains." }],
];
const FIELDS = ["source", "target", "method", "model", "embedding", "layers", "heads", "mix", "recipe", "stopwords"];
const DEFAULTS = { method: "wsmd-wrd", embedding: "-1", layers: "", heads: "", mix: "0.5", recipe: "paper", stopwords: "english", model: "" };

const form = () => byId("ask").elements;

const readForm = () => Object.fromEntries(FIELDS.map((name) => [name, form()[name].value]));

const fill = (state) => {
  for (const name of FIELDS) if (name in state) form()[name].value = state[name];
  byId("ask-mix").textContent = Number(form().mix.value).toFixed(2);
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
  const token = form().token.value;
  const answer = await fetch(path, {
    headers: { ...(body ? { "Content-Type": "application/json" } : {}), ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });
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
    this.models = models.models;
    offer("method", methods.methods.map(({ name, title }) => [name, name, title]));
    offer("model", this.models.map(({ name }) => [name, name.split("/").at(-1)]));
    byId("ask").querySelector(".model").hidden = this.models.length < 2;
    const known = Object.fromEntries(new URLSearchParams(location.search));
    this.view = parseView(known.view);
    this.offerLayers(known.model);
    fill({ ...DEFAULTS, model: this.models[0].name, ...EXAMPLES[0][1], ...known });
    byId("examples").replaceChildren(...EXAMPLES.map(([name, state]) => this.example(name, state)));
    await this.answer();
  }

  offerLayers(name) {
    const model = this.models.find((one) => one.name === name) ?? this.models[0];
    offer("embedding", embeddings(model.layers));
    form().layers.placeholder = model.default_layers ?? "all";
  }

  example(name, state) {
    const button = html("button", { type: "button", title: `${state.source}\n${state.target}` }, name);
    button.addEventListener("click", () => { fill(state); this.answer(); });
    return button;
  }

  changed(name) {
    fill({});
    if (name === "model") this.offerLayers(form().model.value);
    if (["layers", "heads", "model", "method"].includes(name)) this.view = null;
    clearTimeout(this.timer);
    // The slider answers at once; typing waits for a pause.
    if (name === "mix") this.answer();
    else this.timer = setTimeout(() => this.answer(), PAUSE);
  }

  // Asks for what the form says; only the latest question counts, one at a time.
  async answer() {
    if (!this.models) { await this.start(); return; }
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
