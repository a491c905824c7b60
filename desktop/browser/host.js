// SPDX-License-Identifier: Apache-2.0
// Asks the native host, `idown browser-host`, which the browser starts.

export const api = globalThis.browser ?? chrome;

const NAME = 'org.idown.browser';
const VERSION = 1;
const LONGEST = 64 * 1024; // The most that the host reads in one message, in bytes.
const IDLE = 10_000; // The host ends when it was not asked for this long, in milliseconds.
const AGAIN = 100; // Before a host or a service that was lost is asked again, in milliseconds.

let port, idle;
let lastId = 0;
const waiting = new Map();

/** What the host refused, by the name of the contract, or why there was no answer. */
const failure = (code, message) => Object.assign(new Error(message), { code });
export const sleep = (time) => new Promise((done) => setTimeout(done, time));

function connect() {
  if (port) return port;
  const own = api.runtime.connectNative(NAME);
  port = own;
  own.heard = 0;
  own.onMessage.addListener((answer) => {
    own.heard = Date.now();
    const { resolve, reject } = waiting.get(answer.id) ?? {};
    if (answer.ok) resolve?.(answer);
    else reject?.(failure(answer.error, answer.message));
  });
  own.onDisconnect.addListener(() => {
    const text = (own.error ?? api.runtime.lastError)?.message ?? '';
    drop(own, /not found|no such|forbidden/i.test(text) ? 'Missing' : 'Lost', text);
  });
  return own;
}

function drop(own, code, text) {
  if (port === own) port = undefined;
  for (const request of waiting.values()) if (request.port === own) request.reject(failure(code, text));
}

function end(own) {
  own.disconnect();
  drop(own, 'Lost', 'no answer');
}

async function once(request, deadline) {
  const message = { version: VERSION, id: ++lastId, ...request };
  if (new TextEncoder().encode(JSON.stringify(message)).length > LONGEST) {
    throw failure('LimitExceeded', 'too long');
  }
  clearTimeout(idle);
  const [own, start] = [connect(), Date.now()];
  let timer;
  try {
    return await new Promise((resolve, reject) => {
      waiting.set(message.id, { port: own, resolve, reject });
      const giveUp = () => {
        reject(failure('Silent', 'no answer'));
        // A host that says nothing at all may hang: the next request starts another one.
        if (own.heard < start) end(own);
      };
      // Behind the timer of a browser that stood still, the answer may be there.
      timer = setTimeout(() => (timer = setTimeout(giveUp, AGAIN)), Math.max(0, deadline - start));
      own.postMessage(message);
    });
  } finally {
    clearTimeout(timer);
    waiting.delete(message.id);
    if (waiting.size === 0) idle = setTimeout(() => port && end(port), IDLE);
  }
}

/**
 * The host's answer. Asks again while the host or the service was lost and there is time: the token
 * in the request makes both one.
 */
export async function ask(request, deadline = Date.now() + 3000) {
  const isFree = request.do !== 'hand-over';
  // A service that is not installed will not come.
  const patience = request.do === 'hello' ? Date.now() + 500 : Infinity;
  for (;;) {
    try {
      return await once(request, deadline);
    } catch (error) {
      // A hand-over that did not reach the service has been withdrawn by the host.
      // Without a code: the host has ended, and this script has not heard of it yet.
      const isLost = [undefined, 'Lost'].includes(error.code) || (isFree && (error.code === 'Stopping' || (error.code === 'Unreachable' && Date.now() < patience)));
      if (!isLost || Date.now() + AGAIN >= deadline) throw error;
      await sleep(AGAIN);
    }
  }
}
