// SPDX-License-Identifier: Apache-2.0
// The button's popup and the page of options: what is there of both is filled in.

import { api, ask } from './host.js';
import { hostOf, isLeft } from './rules.js';

const element = (id) => document.getElementById(id);
const text = (name, ...values) => api.i18n.getMessage(name, values);

for (const node of document.querySelectorAll('[data-text]')) node.textContent = text(node.dataset.text);
document.documentElement.lang = api.i18n.getUILanguage();

/** Carries a change out, and shows what is so then; or else why it has failed and what to do. */
async function show(change) {
  let failure;
  const carryOut = (request) => ask(request, Date.now() + 5000).catch((error) => void (failure ??= error));
  if (change) await carryOut(change);
  const { rules, running } = (await carryOut({ do: 'hello' })) ?? {};
  if (rules) showRules(rules);
  element('state').textContent = failure
    ? text(`error${failure.code}`) || `${failure.code}: ${failure.message}`
    : text('works', String(running));
}

/** A button that leaves the downloads of a site to the browser or, where they are left, takes them again. */
function siteButton(button, host, isOff) {
  Object.assign(button, { hidden: false, textContent: text(isOff ? 'takeAgain' : 'leave', host) });
  button.onclick = () => show({ do: isOff ? 'take' : 'leave', host });
  return button;
}

function showRules(rules) {
  if (site) siteButton(element('leave'), site, isLeft(rules, site));
  if (!element('switch')) return;
  Object.assign(element('switch'), { checked: rules.on, disabled: false });
  element('sites').replaceChildren(
    ...rules['leave-hosts'].map((host) => {
      const row = document.createElement('li');
      row.append(siteButton(document.createElement('button'), host, true));
      return row;
    }),
  );
  const rows = ['least-size', 'types', 'leave-types', 'hosts', 'private'].map((name) => {
    const row = document.createElement('tr');
    const value = rules[name];
    const list = Array.isArray(value) ? value.join(' ') || '–' : text(String(value)) || `${value / 1024} KiB`;
    row.append(document.createElement('th'), document.createElement('td'));
    [row.firstChild.textContent, row.lastChild.textContent] = [text(name.replace('-', '_')), list];
    return row;
  });
  element('rules').replaceChildren(...rows);
}

const [tab] = element('leave') ? await api.tabs.query({ active: true, currentWindow: true }) : [];
const site = /^https?:/.test(tab?.url ?? '') ? hostOf(tab.url) : undefined;

element('test')?.addEventListener('click', () => show());
element('switch')?.addEventListener('change', ({ target }) => show({ do: 'switch', on: target.checked }));
element('add')?.addEventListener('submit', (event) => {
  event.preventDefault();
  // As browsers write it: small, in ASCII, and without what surrounds it.
  const typed = element('site').value.trim();
  // What is no host is refused with the reason.
  const host = hostOf(typed.replace(/^(https?:\/\/)?/i, 'https://')) ?? typed;
  if (host) show({ do: 'leave', host }).then(() => event.target.reset());
});
element('open')?.addEventListener('click', () => show({ do: 'open' }));
element('options')?.addEventListener('click', () => api.runtime.openOptionsPage());
await show();

/** Why the button was marked: told once. */
if (element('open')) {
  const title = await api.action.getTitle({});
  if (title !== text('name')) element('state').textContent = title;
  api.action.setTitle({ title: text('name') });
  if ((await api.action.getBadgeText({})) === '!') api.action.setBadgeText({ text: '' });
}
