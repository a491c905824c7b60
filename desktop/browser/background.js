// SPDX-License-Identifier: Apache-2.0
// Holds the browser's downloads, asks idown whether it takes them, and cancels them or lets them go on.
//
// Chromium has an event for downloads; Firefox's comes too late, so that its responses are held.

import { api, ask, sleep } from './host.js';
import { hasName, hostOf, isDownload, nameIn, sureNameIn, wants } from './rules.js';

// Times are in milliseconds.
const PATIENCE = 3000; // The longest that a download is held.
const CONFIRMING = 30_000; // A Confirm is repeated so long; after a minute the service confirms by itself.
const JOINING = 1000; // Chromium may tell of a download before its request.
const REMEMBERED = 60_000;
const [MOST_UNASKED, MINUTE] = [10, 60_000]; // Downloads taken without a click of the user.
const AWAKE = 20_000; // Chromium ends a script that has called nothing for 30 s.
const PAGE = 1000; // A page answers within this time, or is too busy. The load of a page that is left ends within it.
const MOST_LINKS = 4; // Links handed over at once.
// Between two looks at how many downloads run: shorter than the host waits for a question, so that it,
// and this script with it, stay for so long.
const WATCHING = 5000;
const WARNING = '!'; // On the button: its popup tells the reason.
const LOOKS = 2; // So many follow on one that finds no running download: one may be about to begin.

const isChromium = api.downloads.onDeterminingFilename !== undefined;
const isLink = (url) => /^(https?|ftp):/i.test(url ?? '') && URL.canParse(url);
const withoutFragment = (url) => url.replace(/#.*/, '');
const header = (headers, name) => headers?.find((field) => field.name.toLowerCase() === name)?.value;

/** A random name of this profile, with which tokens begin: idown takes a link for a fresh one within a profile. */
const profile = api.storage.local.get('profile').then(async ({ profile = crypto.randomUUID() }) => {
  await api.storage.local.set({ profile });
  return profile;
});

/** The times of the downloads taken lately. This script may end and begin again at any time. */
const taken = api.storage.session.get('taken').then(({ taken = [] }) => taken);

/** Tabs that were opened and have shown nothing yet, with the tab that opened each. */
const openers = new Map();
api.tabs.onCreated.addListener(({ id, openerTabId }) => openers.set(id, openerTabId));
api.tabs.onRemoved.addListener((id) => setTimeout(() => openers.delete(id), PATIENCE));

/** Whether idown may take one more: 10 a minute without a click, further ones with a click each. */
async function mayTake(tab) {
  const times = await taken;
  // Later ones are of a clock that was set back.
  while (times[0] <= Date.now() - MINUTE || times[0] > Date.now()) times.shift();
  if (times.length >= MOST_UNASKED) {
    // Chromium does not tell the tab of every download.
    const [active] = tab >= 0 ? [] : await api.tabs.query({ active: true, lastFocusedWindow: true });
    return (await tellBoth(active?.id ?? tab, { do: 'clicked' })) === true;
  }
  times.push(Date.now());
  api.storage.session.set({ taken: times });
  return true;
}

/** The answer of a tab's page; undefined where nobody answers. */
const tell = async (tab, message, options = {}) =>
  tab >= 0 ? Promise.race([api.tabs.sendMessage(tab, message, options).catch(() => {}), sleep(PAGE)]) : undefined;

/** The answer of a tab's page, or else of the page that opened the tab. */
const tellBoth = async (tab, message) =>
  (await tell(tab, message)) ?? (await tell(openers.get(tab), { ...message, isOpener: true }));

/** The requests that may be for a file. */
const filter = { urls: ['http://*/*', 'https://*/*'], types: ['main_frame', 'sub_frame'] };
/** Requests by their ids: `hops` (methods, URLs and request headers, one a redirect), and the response. */
const requests = new Map();
function requestBy(id) {
  if (!requests.has(id)) setTimeout(() => requests.delete(id), REMEMBERED);
  if (!requests.has(id)) requests.set(id, { hops: [] });
  return requests.get(id);
}

function noteRequest({ requestId, method, url, requestHeaders: headers, timeStamp: time, ...details }) {
  const { tabId: tab, frameId: frame, cookieStoreId: store, incognito: isPrivate } = details;
  const page = details.documentUrl ?? details.originUrl ?? details.initiator;
  const request = requestBy(requestId);
  request.hops.push({ method, url, headers, time });
  // While this script begins, Chromium may tell of the newest first, and even of the response before it.
  request.hops.sort((one, other) => one.time - other.time);
  // One that is told after its download is known tells less of it.
  if (!request.isJoined) Object.assign(request, { tab, frame, store, isPrivate, page });
}

/** The hops that idown can repeat: the GETs after the last form that was sent. */
const repeatable = (hops) => hops.slice(hops.findLastIndex(({ method }) => method !== 'GET') + 1);

/** What is kept, until the browser ends, of an origin that has asked for a login by HTTP. */
const login = (url) => `login ${new URL(url).origin}`;
const noteLogin = ({ url, isProxy }) => void (isProxy || api.storage.session.set({ [login(url)]: true }));

/** Whether the request of a response is known: one from before this script began may have had a login. */
const isSeen = ({ hops, end }) => end !== undefined && hops.at(-1)?.url === end;

function noteResponse(details) {
  if (details.statusCode === 401) noteLogin(details);
  if (details.statusCode >= 300 && details.statusCode < 400) return undefined;
  const request = requestBy(details.requestId);
  request.end = details.url;
  const told = (name) => header(details.responseHeaders, name);
  // A length and an ETag of compressed bytes are not those of the file.
  const isCoded = !/^(identity)?$/i.test(told('content-encoding') ?? '');
  const length = isCoded ? '' : told('content-length') ?? '';
  request.disposition = told('content-disposition');
  // Only Firefox tells it.
  const { type, host, port } = details.proxyInfo ?? {};
  request.proxy = type && type !== 'direct' ? `${host}:${port}` : undefined;
  request.seen = {
    status: details.statusCode,
    size: /^\d+$/.test(length) ? Number(length) : undefined,
    etag: isCoded ? undefined : told('etag'),
    'last-modified': told('last-modified'),
    mime: told('content-type'),
  };
  return isSeen(request) ? request : undefined;
}

/** The request of a download of Chromium's, which names none: the newest of its URL with a response. */
async function requestOf(item) {
  const url = withoutFragment(item.finalUrl);
  const fits = (request) => isSeen(request) && !request.isJoined && withoutFragment(request.end) === url;
  const deadline = performance.now() + JOINING;
  let all = [];
  while ((all = [...requests.values()].filter(fits)).length === 0 && performance.now() < deadline) await sleep(10);
  const request = all.at(-1);
  if (request) request.isJoined = true;
  // Where one of them is a POST, nobody can say which became this download.
  return all.every(({ hops }) => hops.at(-1).method === 'GET') ? request : undefined;
}

/**
 * The cookies that the browser would send, where it does not show the header.
 *
 * A page of another host never sends cookies that are for the site alone.
 */
async function cookies(url, { page, tab, frame, store }) {
  const { partitionKey } = (await api.cookies.getPartitionKey?.({ tabId: tab, frameId: frame }).catch(() => {})) ?? {};
  const filters = partitionKey?.topLevelSite ? [{}, { partitionKey }] : [{}];
  const some = (filter) => api.cookies.getAll({ url, storeId: store, ...filter }).catch(() => []);
  const isSame = hostOf(url) === hostOf(page);
  const sent = (await Promise.all(filters.map(some))).flat().filter((cookie) => isSame || cookie.sameSite !== 'strict');
  sent.sort((one, other) => other.path.length - one.path.length);
  return sent.map(({ name, value }) => (name ? `${name}=${value}` : value)).join('; ');
}

/**
 * The referrer that browsers send: without a policy of the page or the link (Referrer Policy, 3) the
 * page for its own origin, else the origin.
 */
function referrer(url, page, policy) {
  if (!isLink(page) || policy === 'no-referrer') return undefined;
  const [to, from] = [new URL(url), new URL(page)];
  if (from.protocol === 'https:' && to.protocol !== 'https:') return undefined;
  from.username = from.password = from.hash = '';
  if (to.origin !== from.origin) return policy === 'same-origin' ? undefined : `${from.origin}/`;
  return /^(strict-)?origin$/.test(policy) ? `${from.origin}/` : from.href;
}

/** The headers of a request, or those that it must have had. */
async function facts({ url, headers }, request) {
  const rank = (index) => (index === 0 ? '' : `;q=${Math.max(1, 10 - index) / 10}`);
  const told = (name) => header(headers, name);
  const isTold = headers?.length > 0;
  const kept = isTold || url.startsWith('ftp:') ? told('cookie') : await cookies(url, request);
  return {
    cookies: kept || undefined,
    referrer: isTold ? told('referer') : (request.referrer ?? referrer(url, request.page, request.policy)) || undefined,
    'user-agent': told('user-agent') ?? navigator.userAgent,
    'accept-language':
      told('accept-language') ?? navigator.languages.map((word, index) => word + rank(index)).join(','),
  };
}

/**
 * Asks idown to take a download that the browser holds; returns whether it does.
 *
 * The first URL comes before the one where redirects led to, which may work only once.
 */
async function offer(request, token, name) {
  const { seen, page, disposition, isPrivate } = request;
  const deadline = Date.now() + PATIENCE;
  const { rules } = await ask({ do: 'hello' }, deadline);
  const hops = [...request.hops];
  const urls = hops.map((hop) => hop.url);
  if (!wants(rules, { urls, page, name: name || nameIn(disposition), isPrivate, ...seen })) return false;
  // Without the browser's login idown might get the file for guests.
  if (Object.keys(await api.storage.session.get(urls.map(login))).length > 0) return false;
  // Nor has it the login that the request itself brings, or what a service worker makes of an early answer.
  const isOwn = (name) => hops.some(({ headers }) => header(headers, name));
  if (isOwn('authorization') || isOwn('service-worker-navigation-preload')) return false;
  if (!(await mayTake(request.tab))) return false;
  const gets = repeatable(hops);
  // Without a cookie of another origin, the first URL may lead idown to the file for guests.
  const isOther = ({ url }) => new URL(url).origin !== new URL(urls[0]).origin;
  const others = await Promise.all(gets.filter(isOther).map((hop) => facts(hop, request)));
  for (const hop of new Set([others.some(({ cookies }) => cookies) ? gets.at(-1) : gets[0], gets.at(-1)])) {
    const refusal = await handOver(hop, { token, name, ...seen }, request, deadline);
    // The other URL may do, and nothing is left of this try.
    if (refusal !== 'Disagreed') return refusal === undefined;
  }
  return false;
}

/** Asks idown to take the file of a URL; returns why it does not, and leaves nothing of the try then. */
async function handOver(hop, known, request, deadline) {
  try {
    const message = { do: 'hand-over', url: hop.url, private: request.isPrivate || undefined, ...known };
    await ask({ ...message, proxy: await request.proxy, ...(await facts(hop, request)) }, deadline);
    return undefined;
  } catch ({ code = 'Failed' }) {
    if (code !== 'Disagreed') withdraw(known.token);
    return code;
  }
}

const withdraw = (token) => ask({ do: 'withdraw', token }, Date.now() + CONFIRMING).catch(() => {});

/** Tells idown that the browser has given its own download up. */
async function confirm(token, request) {
  try {
    await ask({ do: 'confirm', token }, Date.now() + CONFIRMING);
    looks = LOOKS;
    look();
  } catch (error) {
    // The service has taken it back: nobody else has the file.
    if (error.code === 'NoSuchTask') save(request);
  }
}

/** Has the browser download a file by itself, as the page that asked for it would. */
async function save({ hops, isPrivate, store, page, policy }) {
  const { url, headers: sent } = repeatable(hops)[0];
  // No browser speaks FTP, and Chromium would put a private file among the others.
  if (url.startsWith('ftp:') || (isChromium && isPrivate)) return warn('notSaved');
  const from = sent ? header(sent, 'referer') : referrer(url, page, policy);
  const headers = from ? [{ name: 'Referer', value: from }] : [];
  // Chromium takes none of these.
  const options = isChromium ? { url } : { url, incognito: isPrivate, cookieStoreId: store, headers };
  return api.downloads.download(options).catch(() => warn('notSaved'));
}

/** Marks the button; its popup shows the reason. */
function warn(reason) {
  api.action.setBadgeText({ text: WARNING });
  api.action.setTitle({ title: api.i18n.getMessage(reason) });
}

// MARK: Chromium

/** The ids of downloads that this script has paused, and of those whose names it was asked for. */
const [paused, asked] = [new Set(), new Set()];

/** Pauses a download as soon as it is known: waiting with its name alone would not hold the bytes. */
function pause({ id }) {
  if (paused.has(id)) return;
  api.downloads.pause(id).catch(() => {});
  paused.add(id);
  notePaused();
}

/** If this script ends while it holds downloads, the next one resumes those that it had paused. */
const notePaused = () => api.storage.local.set({ paused: [...paused] });

/** Chromium finds out later that an extension is dangerous. */
const mayHold = ({ id, finalUrl, byExtensionId, danger, state, ...item }) =>
  isLink(finalUrl) && !byExtensionId && danger === 'safe' && !/\.crx$/i.test(item.filename) &&
  state === 'in_progress' && (!item.paused || paused.has(id));

/** What makes a repeated message of a download one task. */
const tokenOf = async ({ id, startTime }) => `${await profile}-${id}-${Date.parse(startTime)}`;

/**
 * The proxy that Chromium's command, an extension or Firefox's settings chose, in place of the
 * desktop's; its mode where that has several.
 */
async function chosenProxy(incognito) {
  const { mode, rules = {}, proxyType, http } = (await api.proxy?.settings.get({ incognito }))?.value ?? {};
  if (proxyType) return ['none', 'system'].includes(proxyType) ? undefined : http || proxyType;
  const { host, port } = rules.singleProxy ?? {};
  return [undefined, 'direct', 'system'].includes(mode) ? undefined : host ? `${host}:${port}` : mode;
}

async function hold(item) {
  const { incognito: isPrivate, filename: name, referrer } = item;
  try {
    pause(item);
    const token = await tokenOf(item);
    const request = await requestOf(item);
    if (request?.seen.status !== 200) return;
    Object.assign(request, { isPrivate, referrer, page: referrer || request.page });
    Object.assign(request, { store: isPrivate ? '1' : '0', proxy: chosenProxy(isPrivate) });
    if (!(await offer(request, token, name))) return;
    if (await giveUp(item)) confirm(token, request);
    else withdraw(token);
  } catch {
    // Without an answer of idown the browser keeps the download.
  } finally {
    setTimeout(() => release(item), 0);
  }
}

/** Lets a download go on that was not cancelled, which may take until its name, given meanwhile, is settled. */
async function release({ id }) {
  for (let tries = 0; tries < 100; tries++) {
    await api.downloads.resume(id).catch(() => {});
    if (!(await api.downloads.search({ id, paused: true, state: 'in_progress' })).length) break;
    await sleep(50);
  }
  paused.delete(id);
  notePaused();
}

/** Cancels and forgets a download; false where it had ended before. */
async function giveUp({ id }) {
  const state = async () => (await api.downloads.search({ id }))[0]?.state;
  if ((await state()) !== 'in_progress') return false;
  await api.downloads.cancel(id);
  if ((await state()) === 'complete') return false;
  await api.downloads.erase({ id });
  return true;
}

if (isChromium) {
  // A download would run on until this script has begun: it begins with the browser, and stays.
  api.runtime.onStartup.addListener(() => {});
  setInterval(() => api.runtime.getPlatformInfo(), AWAKE);
  filter.types.push('other');
  api.webRequest.onSendHeaders.addListener(noteRequest, filter, ['requestHeaders', 'extraHeaders']);
  api.webRequest.onHeadersReceived.addListener(noteResponse, filter, ['responseHeaders', 'extraHeaders']);
  // A login that the user gives for a request of a script: to look at the answers to all of them costs too much.
  api.webRequest.onAuthRequired.addListener(noteLogin, { urls: filter.urls });
  api.storage.local.get('paused').then(async ({ paused: all = [] }) => {
    const left = all.filter((id) => !paused.has(id));
    for (const id of left) paused.add(id);
    // All at once: each may have to wait for a service that hangs.
    left.forEach(async (id) => {
      const [item] = await api.downloads.search({ id });
      if (item?.error === 'USER_CANCELED') {
        // The script that was lost has given it up to idown.
        await ask({ do: 'confirm', token: await tokenOf(item) }).catch(() => {});
        await api.downloads.erase({ id });
      } else if (item) {
        // idown may have answered that script.
        await withdraw(await tokenOf(item));
      }
      release({ id });
    });
  });
  api.downloads.onCreated.addListener((item) => {
    if (asked.has(item.id) || !mayHold(item)) return;
    pause(item);
    // Chromium asks for no name where the user gives it.
    setTimeout(() => asked.has(item.id) || release(item), JOINING);
  });
  api.downloads.onDeterminingFilename.addListener((item, suggest) => {
    asked.add(item.id);
    const isHeld = mayHold(item);
    if (isHeld) hold(item).then(() => suggest());
    else if (paused.has(item.id)) setTimeout(() => release(item), 0);
    return isHeld;
  });
}

// MARK: Firefox

/**
 * Where a response with cookies is led to that idown has taken: nobody is asked for it.
 *
 * Firefox stores the cookies of a response before it follows it, but not those of one that is cancelled.
 * It also enters a link that it follows into its history.
 */
const NOWHERE = '/taken-by-idown';

async function holdResponse(details) {
  const request = noteResponse(details);
  if (!request) return {};
  const isFile = isDownload(request.seen.mime, request.disposition, details.url);
  const isOffered = isFile && details.method === 'GET' && details.statusCode === 200;
  const isTaken = isOffered && !(await isSandboxed(details)) && (await offerHeld(request));
  if (details.type === 'main_frame' && !isTaken) openers.delete(details.tabId);
  if (!isTaken) return {};
  if (!header(details.responseHeaders, 'set-cookie')) return giveUpResponse(details);
  return { redirectUrl: new URL(NOWHERE, details.url).href };
}

/** Has Firefox drop a response that idown has taken. */
function giveUpResponse({ type, tabId }) {
  if (type === 'main_frame' && openers.has(tabId)) closeEmpty(tabId);
  return { cancel: true };
}

/**
 * Whether a download comes from a frame or page that may download nothing (HTML, "allow-downloads"),
 * which Firefox finds out after this event.
 *
 * `originUrl` is missing where the page has no origin of its own, as in most sandboxes, and where the
 * user gave the URL to the browser.
 */
function isSandboxed({ tabId, frameId, frameAncestors = [], originUrl, type }) {
  const frames = [frameId, ...frameAncestors.map((frame) => frame.frameId)];
  const [hasNoOrigin, isMain] = [originUrl === undefined, type === 'main_frame'];
  return tellBoth(tabId, { do: 'is-sandboxed', frames, hasNoOrigin, isMain });
}

async function offerHeld(request) {
  const token = `${await profile}-${crypto.randomUUID()}`;
  const { tab, hops, disposition } = request;
  // Without a name of the server, the clicked link may give one.
  const nameOfLink = () => tellBoth(tab, { do: 'name', url: repeatable(hops)[0].url });
  const name = hasName(disposition) ? sureNameIn(disposition) : await nameOfLink();
  const isTaken = await offer(request, token, name).catch(() => false);
  // The response is dropped once this function has returned.
  if (isTaken) setTimeout(() => confirm(token, request), 0);
  request.isLeft = !isTaken;
  setTimeout(() => (request.isLeft = false), PAGE);
  return isTaken;
}

/** Closes a tab that was opened for a download alone; the last one stays, or Firefox would end. */
async function closeEmpty(id) {
  const tabs = await api.tabs.query({});
  const isEmpty = tabs.find((tab) => tab.id === id)?.url === 'about:blank';
  // A page may have written into it.
  const isFilled = isEmpty && (await tell(id, { do: 'is-filled' }));
  if (isEmpty && !isFilled && tabs.length > 1) api.tabs.remove(id).catch(() => {});
}

if (!isChromium) {
  api.webRequest.onSendHeaders.addListener(noteRequest, filter, ['requestHeaders']);
  api.webRequest.onHeadersReceived.addListener(holdResponse, filter, ['responseHeaders', 'blocking']);
  // Where the page was left while its response was held, the browser cannot go on with it. The error is
  // another one where Firefox, its user or another extension has refused the file.
  const onEnd = ({ requestId: id, error }) => error !== 'NS_ERROR_ABORT' && requests.get(id)?.isLeft && save(requests.get(id));
  api.webRequest.onErrorOccurred.addListener(onEnd, filter);
  api.webRequest.onBeforeRequest.addListener(giveUpResponse, { ...filter, urls: [`*://*${NOWHERE}`] }, ['blocking']);
}

// MARK: Links that the user gives to idown

/** Hands links over that the browser has not asked for; what idown refuses the browser saves. */
async function take(found, page, tab, frame) {
  const links = new Map(found.filter(({ url }) => isLink(url)).map(({ url, policy }) => [withoutFragment(url), policy]));
  // Nothing to take, as on a video that has no address of its own.
  if (links.size === 0) warn('noLinks');
  const isPrivate = tab?.incognito ?? false;
  const store = tab?.cookieStoreId ?? (isPrivate ? '1' : '0');
  const left = links.entries();
  const next = async () => {
    for (const [url, policy] of left) {
      const token = `${await profile}-${crypto.randomUUID()}`;
      const [hops, proxy] = [[{ method: 'GET', url }], chosenProxy(isPrivate)];
      const request = { hops, page, policy, tab: tab?.id, frame, store, isPrivate, proxy };
      const refusal = await handOver(hops[0], { token }, request, Date.now() + PATIENCE);
      await (refusal === undefined ? confirm(token, request) : save(request));
    }
  };
  await Promise.all(Array.from({ length: MOST_LINKS }, next));
}

api.runtime.onInstalled.addListener(async () => {
  await api.contextMenus.removeAll();
  const contexts = ['link', 'image', 'audio', 'video', 'selection'];
  api.contextMenus.create({ id: 'take', title: api.i18n.getMessage('take'), contexts });
});

api.contextMenus.onClicked.addListener(async (info, tab) => {
  const frame = info.frameId ?? 0;
  const url = isLink(info.linkUrl) ? info.linkUrl : (info.srcUrl ?? info.linkUrl);
  const links = await tell(tab?.id, { do: 'links', url }, { frameId: frame });
  take(links ?? (url ? [{ url }] : []), info.frameUrl ?? info.pageUrl, tab, frame);
});

api.runtime.onMessage.addListener(({ links }, { url, tab, frameId }) => void (links && take(links, url, tab, frameId)));

let looks, nextLook;
/** Shows on the button how many downloads run, unless it warns, and looks again until none runs. */
async function look() {
  const { running } = await ask({ do: 'hello' }).catch(() => ({}));
  if ((await api.action.getBadgeText({})) !== WARNING) api.action.setBadgeText({ text: `${running || ''}` });
  if (running > 0) looks = LOOKS;
  clearTimeout(nextLook);
  nextLook = setTimeout(() => looks-- > 0 && look(), WATCHING);
}

api.action.setBadgeBackgroundColor({ color: '#12805c' });
