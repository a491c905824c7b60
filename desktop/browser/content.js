// SPDX-License-Identifier: Apache-2.0
// Runs in each page: tells idown of Alt-clicks, and when asked, of clicks and of selected links.
{
  const api = globalThis.browser ?? chrome;
  const TERM = 5000; // So long after a click a download may be its consequence, in milliseconds.
  let clicked = -Infinity;
  const isWeb = (url) => /^https?:/i.test(url ?? '');

  addEventListener(
    'click',
    (event) => {
      // A page can make up events, but not this mark.
      if (!event.isTrusted) return;
      clicked = performance.now();
      if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const link = event.composedPath().find((node) => node.matches?.('a[href], area[href]'));
      if (event.button !== 0 || !isWeb(link?.href)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      api.runtime.sendMessage({ do: 'take', urls: [link.href] });
    },
    true,
  );

  api.runtime.onMessage.addListener((message, sender, answer) => {
    // A frame that has nothing to tell is silent, since the first answer of a tab's frames counts.
    if (message.do === 'clicked' && performance.now() - clicked < TERM) {
      // One click stands for one download.
      clicked = -Infinity;
      answer(true);
    }
    if (message.do === 'links') {
      const selection = getSelection();
      const links = [...document.links].filter((link) => selection.containsNode(link, true));
      answer(links.map((link) => link.href).filter(isWeb));
    }
  });
}
