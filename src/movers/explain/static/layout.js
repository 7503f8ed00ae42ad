// Where the words of both sentences stand: side by side in rows, or in columns if they are too many.

import { RIGHT_TO_LEFT, sum } from "./elements.js";

const LONGEST = 22;
const SPARE = 24;
const ROW = { height: 290, text: 26, port: 44, thick: 4 };
const COLUMN = { line: 25, faint: 18, port: 9, thick: 4 };
const SIZE = { word: "600 19", gap: "17" };

const pen = document.createElement("canvas").getContext("2d");

const wide = (text, faint) => {
  const { fontFamily } = getComputedStyle(document.getElementById("stage"));
  pen.font = `${faint ? SIZE.gap : SIZE.word}px ${fontFamily}`;
  return pen.measureText(text).width;
};

const shorten = (text) => {
  const letters = [...text];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : text;
};

// The pieces of a sentence that are drawn: words compared, and faintly the text between them.
const pieces = (parts, weights) => parts
  .map(([text, word]) => ({ full: text.trim(), word, weight: word === null ? 0 : weights[word] }))
  .filter(({ full, word }) => full || word !== null)
  .map((piece) => ({ ...piece, text: shorten(piece.full) }))
  .map((piece) => ({ ...piece, width: wide(piece.text, piece.word === null) }));

// Slots along the row: as long as the word or its mass, whichever is more.
const alongRow = (row, unit, width) => {
  const slots = row.map((piece) => Math.max(piece.width, piece.weight * unit) + (piece.word === null ? 6 : 12));
  const words = row.filter(({ word }) => word !== null).length;
  const spare = Math.min(SPARE, Math.max(0, (width - sum(slots)) / words));
  return slots.map((slot, place) => slot + (row[place].word === null ? 0 : spare));
};

const alongColumn = (row, unit) => row.map(({ weight, word }) =>
  (word === null ? COLUMN.faint : Math.max(COLUMN.line, weight * unit + 4)));

const placed = (row, slots, unit, start, backwards) => {
  let at = start;
  return row.map((piece, place) => {
    const centre = (backwards ? start * 2 + sum(slots) - at - slots[place] : at) + slots[place] / 2;
    const half = (piece.weight * unit) / 2;
    at += slots[place];
    return { ...piece, centre, low: centre - half, high: centre + half };
  });
};

export const arrange = (payload, width) => {
  const rows = {
    source: pieces(payload.source_parts, payload.source_weights),
    target: pieces(payload.target_parts, payload.target_weights),
  };
  for (const share of [0.6, 0.5, 0.4, 0.3]) {
    const found = asRows(rows, payload, width, width * share);
    if (found) return found;
  }
  return asColumns(rows, width);
};

const asRows = (rows, payload, width, unit) => {
  const slots = {
    source: alongRow(rows.source, unit, width),
    target: alongRow(rows.target, unit, width),
  };
  if (Math.max(sum(slots.source), sum(slots.target)) > width + 0.5) return null;
  const side = (name) => placed(
    rows[name], slots[name], unit, (width - sum(slots[name])) / 2, RIGHT_TO_LEFT.test(payload[name]),
  );
  return {
    upright: false, width, height: ROW.height, unit,
    source: side("source"), target: side("target"), thick: ROW.thick,
    text: [ROW.text, ROW.height - ROW.text + 14], ports: [ROW.port, ROW.height - ROW.port],
  };
};

const asColumns = (all, width) => {
  const telling = (row) => row.filter(({ word, text }) => word !== null || /[\p{L}\p{N}]/u.test(text));
  const rows = { source: telling(all.source), target: telling(all.target) };
  const counts = Object.values(rows).map((row) => row.filter(({ word }) => word !== null).length);
  const unit = Math.max(...counts) * (COLUMN.line - 6);
  const slots = { source: alongColumn(rows.source, unit), target: alongColumn(rows.target, unit) };
  const height = Math.max(sum(slots.source), sum(slots.target));
  const side = (name) => placed(rows[name], slots[name], unit, (height - sum(slots[name])) / 2, false);
  const widest = (name) => Math.min(width * 0.36, Math.max(...rows[name].map((piece) => piece.width)) + 4);
  const [left, right] = [widest("source"), width - widest("target")];
  return {
    upright: true, width, height, unit, source: side("source"), target: side("target"),
    text: [left, right], ports: [left + COLUMN.port, right - COLUMN.port], thick: COLUMN.thick,
  };
};
