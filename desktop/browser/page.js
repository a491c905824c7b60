// SPDX-License-Identifier: Apache-2.0
// The button's popup and the page of options: what is there of both is filled in.

import { api, ask } from './host.js';
import { hostOf, isLeft } from './rules.js';

const element = (id) => document.getElementById(id);
const text = (name, ...values) => api.i18n.getMessage(name, values);

for (const node of document.querySelectorAll('[data-text]')) node.textContent = text(node.dataset.text);
document.documentElement.lang = api.i18n.getUILanguage();

let hasFailed = false;

/** Shows what a request has brought, or why it has failed and what to do. */
async function show(request) {
  try {
    const { rules, running } = await ask(request, Date.now() + 5000);
    if (running !== undefined) element('state').textContent = text('works', String(running));
    else if (hasFailed) element('state').textContent = '';
    hasFailed = false;
    if (rules) showRules(rules);
  } catch (error) {
    hasFailed = true;
    element('state').textContent = text(`error${error.code}`) || `${error.code}: ${error.message}`;
    // What was not changed is shown as it is.
    const answer = request.do === 'hello' ? {} : await ask({ do: 'hello' }).catch(() => ({}));
    if (answer.rules) showRules(answer.rules);
  }
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

element('test')?.addEventListener('click', () => show({ do: 'hello' }));
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
await show({ do: 'hello' });

/** Why the button was marked: told once. */
if (element('open')) {
  const title = await api.action.getTitle({});
  if (title !== text('name')) element('state').textContent = title;
  api.action.setTitle({ title: text('name') });
  if ((await api.action.getBadgeText({})) === '!') api.action.setBadgeText({ text: '' });
}
