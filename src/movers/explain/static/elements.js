// Making elements, colours and words for numbers.

const SVG = "http://www.w3.org/2000/svg";
const STEPS = 6;

const build = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

export const byId = (id) => document.getElementById(id);
export const html = (tag, attributes = {}, ...children) =>
  build(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

// A colour of a ramp that the style sheet defines, so that dark mode and print change it alone.
export const shade = (ramp, share) => {
  const at = Math.min(1, Math.max(0, share || 0)) * (STEPS - 1);
  const step = Math.min(Math.floor(at), STEPS - 2);
  const part = ((at - step) * 100).toFixed(0);
  return `color-mix(in oklab, var(--${ramp}-${step}), var(--${ramp}-${step + 1}) ${part}%)`;
};

// Larger numbers get fewer decimals.
export const number = (value, digits = 4) => {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 100) return value.toFixed(1);
  return value.toFixed(Math.abs(value) >= 10 ? 2 : digits);
};

export const percent = (share) => {
  const small = share > 0 && share < 0.0995;
  return `${(share * 100).toFixed(small ? 1 : 0)}\u00a0%`;
};

// What a part costs: two digits that count, however small it is.
export const price = (value) => (value >= 0.01 || value === 0 ? value.toFixed(3) : String(Number(value.toPrecision(2))));

export const RIGHT_TO_LEFT =
  /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

// A word inside a sentence of ours, kept from turning the sentence round.
export const quoted = (word) => (RIGHT_TO_LEFT.test(word) ? `\u2068${word}\u2069` : word);

export const sum = (values) => values.reduce((total, value) => total + value, 0);

export const mean = (values) => sum(values) / values.length;

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// One stop for the tab key in a group; the arrow keys move within it.
export const rove = (nodes, step, first = 0) => {
  nodes.forEach((node, place) => {
    node.tabIndex = place === first ? 0 : -1;
    node.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const next = nodes[step(place, event.key)];
      if (!next || next === node) return;
      event.preventDefault();
      nodes.forEach((other) => { other.tabIndex = other === next ? 0 : -1; });
      next.focus();
    });
  });
};

// Steps along a row or a column of things.
export const along = (length) => (place, key) => ({
  ArrowLeft: place - 1, ArrowUp: place - 1, ArrowRight: place + 1, ArrowDown: place + 1, Home: 0, End: length - 1,
})[key] ?? place;

// Makes a field as high as what is written in it.
export const fit = (field) => {
  field.style.height = "auto";
  const border = field.offsetHeight - field.clientHeight;
  field.style.height = `${field.scrollHeight + border}px`;
};
