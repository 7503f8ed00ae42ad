// Questions to the server: each with a time limit, and one more try where it has too much to do.

const PATIENCE = 40_000;
const LONGEST_WAIT = 10;
const BUSY = 429;

export class Refusal extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const pause = (seconds) => new Promise((done) => { setTimeout(done, 1000 * seconds); });

const explainFailure = (error, outer) => {
  if (outer?.aborted) throw error;
  throw new Refusal(error.name === "TimeoutError" ? "The server did not answer in time." : "The server cannot be reached.");
};

const once = async (path, body, { token, signal }) => {
  const headers = { ...token ? { Authorization: `Bearer ${token}` } : {}, ...body ? { "Content-Type": "application/json" } : {} };
  const limit = AbortSignal.timeout(PATIENCE);
  const options = { headers, signal: signal ? AbortSignal.any([signal, limit]) : limit };
  return fetch(path, body ? { ...options, method: "POST", body: JSON.stringify(body) } : options)
    .catch((error) => explainFailure(error, signal));
};

// The answer of the server, as JSON or as text.
export const ask = async (path, body = null, options = {}) => {
  let answer = await once(path, body, options);
  if (answer.status === BUSY) {
    await pause(Math.min(LONGEST_WAIT, Number(answer.headers.get("Retry-After")) || 1));
    if (!options.signal?.aborted) answer = await once(path, body, options);
  }
  if (answer.ok) return options.text ? answer.text() : answer.json();
  const found = await answer.json().catch(() => null);
  throw new Refusal(found?.error?.spoken ?? found?.error?.message ?? `The server answered ${answer.status}.`, answer.status);
};
