// Two texts side by side: what became of every sentence, and lines between those that go together.

import { byId, html, plural, svg } from "./elements.js";
import { ask } from "./asking.js";

const FATES = {
  changed: "changed in meaning", missing: "only in A", new: "only in B",
  replaced: "with a word replaced", more: "with more or less",
  reworded: "in other words", same: "the same",
};
const QUIET = ["same", "reworded"];
const MANY = 120;
const LEASE = [
  "The landlord lets the house to the tenant for five years. The tenant pays the landlord 900 pounds a month. The landlord may raise the rent once a year. The tenant must tell the landlord about any damage at once. The garden may be used by the neighbours on Sundays. The landlord keeps the roof in repair.",
  "The tenant must inform the landlord about any damage immediately. The landlord lets the house to the tenant for five years. The tenant pays the landlord 950 pounds a month. The landlord may not raise the rent. Smoking is forbidden in all rooms. The tenant keeps the roof in repair.",
];

const nameOf = (change) => FATES[change.fate] + (change.moved ? ", elsewhere" : "");

// A sentence with what differs in it marked.
const marked = (text, spans) => {
  const parts = [];
  let read = 0;
  for (const [start, end] of spans.filter(Boolean).sort(([a], [b]) => a - b)) {
    if (start < read) continue;
    parts.push(text.slice(read, start), html("mark", {}, text.slice(start, end)));
    read = end;
  }
  return [...parts, text.slice(read)];
};

class Texts {
  constructor() {
    this.only = false;
    byId("only").addEventListener("click", () => { this.only = !this.only; this.draw(); });
    new ResizeObserver(() => this.drawLines()).observe(byId("columns"));
  }

  show(found) {
    this.found = found;
    this.only = found.changes.length > MANY;
    this.chosen = null;
    byId("found").hidden = false;
    byId("said").textContent = found.verdict;
    byId("signature").textContent = found.signature;
    const counts = Object.keys(FATES).map((fate) => [fate, found.changes.filter((one) => one.fate === fate).length]);
    const moved = found.changes.filter((one) => one.moved).length;
    byId("counts").replaceChildren(
      ...counts.filter(([, count]) => count).map(([fate, count]) => html("li", { class: fate }, `${count} ${FATES[fate]}`)),
      ...moved ? [html("li", { class: "moved" }, `${moved} elsewhere`)] : [],
    );
    this.draw();
    if (!byId("pair").hidden) this.choose(found.changes.find((one) => !QUIET.includes(one.fate)) ?? null);
  }

  draw() {
    byId("only").setAttribute("aria-pressed", this.only);
    this.nodes = new Map();
    for (const [side, id] of [["source", "side-a"], ["target", "side-b"]]) byId(id).replaceChildren(...this.column(side));
    this.drawLines();
  }

  column(side) {
    const sentences = this.found.sentences[side === "source" ? 0 : 1];
    const fates = new Map(this.found.changes.filter((one) => one[side] !== null).map((one) => [one[side], one]));
    const nodes = [];
    let left = 0;
    const gap = () => { if (left) nodes.push(html("p", { class: "gap muted" }, `… ${plural(left, "sentence")} …`)); left = 0; };
    sentences.forEach((sentence, place) => {
      const change = fates.get(place);
      if (this.only && QUIET.includes(change.fate)) { left += 1; return; }
      gap();
      const first = place === 0 || sentences[place - 1].paragraph !== sentence.paragraph;
      const node = html("button", {
        type: "button", class: `sentence ${change.fate}${change.moved ? " moved" : ""}${first ? " first" : ""}`,
        "aria-label": `${sentence.text} ${nameOf(change)}`, title: nameOf(change),
      }, sentence.text);
      node.addEventListener("click", () => this.choose(change, true));
      this.nodes.set(change, { ...this.nodes.get(change), [side]: node });
      nodes.push(node);
    });
    gap();
    return nodes;
  }

  drawLines() {
    const lines = byId("lines");
    if (!this.nodes) return;
    const box = lines.getBoundingClientRect();
    lines.setAttribute("viewBox", `0 0 ${Math.max(1, box.width)} ${Math.max(1, box.height)}`);
    const paths = [];
    for (const [change, { source, target }] of this.nodes) {
      if (!source || !target) continue;
      const [a, b] = [source, target].map((node) => node.getBoundingClientRect()).map(({ top, height }) => top + height / 2 - box.top);
      const middle = box.width / 2;
      const loud = change === this.chosen ? " chosen" : "";
      paths.push(svg("path", { class: `${change.fate}${change.moved ? " moved" : ""}${loud}`, d: `M0 ${a} C${middle} ${a} ${middle} ${b} ${box.width} ${b}` }));
    }
    lines.replaceChildren(...paths);
  }

  // Shows a sentence pair with what differs.
  choose(change, scroll = false) {
    this.chosen = change;
    for (const [one, nodes] of this.nodes) {
      for (const node of Object.values(nodes)) node.setAttribute("aria-pressed", one === change);
    }
    this.drawLines();
    if (!change) return;
    const [first, second] = this.found.sentences;
    const line = (letter, sentences, place, span) => (place === null ? [] : [html("p", { class: "quoted" },
      html("b", {}, `${letter} ${place + 1} `), ...marked(sentences[place].text, change.differences.map((one) => one[span])))]);
    const alike = change.similarity === null ? "" : ` ${change.similarity.toFixed(2)} alike.`;
    byId("pair").className = change.fate;
    byId("pair").replaceChildren(
      ...line("A", first, change.source, "source_span"), ...line("B", second, change.target, "target_span"),
      html("p", {}, html("b", {}, change.text), alike),
    );
    if (scroll) byId("pair").scrollIntoView({ block: "nearest" });
  }
}

// Asks the server for what the form holds.
class Asking {
  constructor(texts) {
    this.texts = texts;
    this.form = byId("ask");
    for (const node of document.querySelectorAll(".live-only")) node.hidden = node.id === "save";
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.answer(); });
    byId("example").addEventListener("click", () => { this.fill(LEASE); this.answer(); });
    byId("save").addEventListener("click", () => this.save());
  }

  fill([source, target]) {
    Object.assign(this.form.elements.source, { value: source });
    Object.assign(this.form.elements.target, { value: target });
  }

  async ask(path, options = {}) {
    const { source, target, token } = this.form.elements;
    byId("trouble").hidden = true;
    return ask(path, { source: source.value, target: target.value, texts: "sentences" }, { token: token.value, ...options })
      .catch((error) => {
        if (error.status === 401) byId("token").hidden = false;
        byId("trouble").textContent = error.message;
        byId("trouble").hidden = false;
      });
  }

  async answer() {
    document.body.setAttribute("aria-busy", "true");
    const found = await this.ask("v1/compare");
    document.body.removeAttribute("aria-busy");
    if (!found) return;
    byId("save").hidden = false;
    this.texts.show(found);
  }

  async save() {
    const page = await this.ask("v1/page", { text: true });
    if (!page) return;
    const url = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    html("a", { href: url, download: "texts.html" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}

const texts = new Texts();
const held = byId("payload");
if (held) {
  for (const node of document.querySelectorAll(".live-only")) node.hidden = true;
  texts.show(JSON.parse(held.textContent));
} else {
  new Asking(texts);
}
