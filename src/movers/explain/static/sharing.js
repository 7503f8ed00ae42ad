// Taking it along: a link, a file, a picture, or the question for a shell or for Python.

import { byId } from "./elements.js";

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-style", "font-weight", "text-anchor"];

const PLACED = new Set(["viewBox", "width", "height", "x", "y", "d"]);

export const announce = (text) => { byId("announcer").textContent = text; };

const copy = async (text, what) => {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied.`);
    byId("shared").textContent = `${what} copied.`;
  } catch {
    byId("shared").textContent = text;
  }
};

export const save = (text, name, type) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// The stage as a picture of its own, with the colours it has now.
export const pictureOf = (picture) => {
  const twin = picture.cloneNode(true);
  const [own, others] = [picture, twin].map((root) => [root, ...root.querySelectorAll("*")]);
  own.forEach((node, at) => {
    const style = getComputedStyle(node);
    for (const { name } of [...others[at].attributes]) if (!PLACED.has(name)) others[at].removeAttribute(name);
    for (const name of DRAWN) others[at].setAttribute(name, style.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(twin);
};

const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const forShell = (question, path) => [
  `curl -s ${location.origin}/v1/${path} -H 'Content-Type: application/json'`,
  ` -d ${shellQuoted(JSON.stringify(question))}`,
].join(" \\\n ");

const python = (value) => (value === null ? "None" : JSON.stringify(value));

const SENTENCES = ["source", "target", "other", "method", "model", "attention", "links"];
const USUAL = { embedding: -1, layers: null, heads: "all", mix: 0.5, recipe: "paper", stopwords: "english" };

// The same question to the library.
export const asPython = (question) => {
  const settings = Object.entries(question)
    .filter(([name, value]) => !SENTENCES.includes(name) && USUAL[name] !== value)
    .map(([name, value]) => `${name}=${python(name === "stopwords" ? null : value)}`);
  const texts = ["source", "target", "other"].filter((name) => question[name]).map((name) => python(question[name]));
  const name = question.other ? "contrast" : "explain";
  return [
    ...question.model ? [`# the model there is ${question.model}`] : [],
    "import movers",
    "",
    `scorer = movers.load(${[python(question.method), ...settings].join(", ")})`,
    `found = scorer.${name}(${[...texts, ...question.links ? ["links=True"] : []].join(", ")})`,
    question.other ? "print(found.verdict)" : "print(found.comparison.verdict, found.distance)",
  ].join("\n");
};

// What the buttons do; `live` is null on a page that stands alone.
export const offerSharing = (stage, question, live) => {
  const does = {
    link: live && (() => copy(location.href, "Link")),
    page: live && live.page,
    picture: () => save(pictureOf(stage.picture), "movers.svg", "image/svg+xml"),
    curl: live && (() => copy(forShell(question(), question().other ? "contrast" : "explain"), "cURL command")),
    python: () => copy(asPython(question()), "Python code"),
  };
  for (const button of byId("share").querySelectorAll("button")) {
    const action = does[button.name];
    button.hidden = !action;
    if (action) button.addEventListener("click", action);
  }
};
