// SPDX-License-Identifier: Apache-2.0
// Runs in each page: tells idown of Alt-clicks, and when asked, of clicks and of selected links.
{
  const api = globalThis.browser ?? chrome;
  const TERM = 5000; // So long after a click a download may be its consequence, in milliseconds.
  let clicked = -Infinity;
  let named; // The link that was clicked last, and the name that it gives its file.
  const isLink = (url) => /^(https?|ftp):/i.test(url ?? '');
  const withoutFragment = (url) => url.replace(/#.*/, '');
  /** What a link, or else the page, says of the referrer; headers of the page cannot be seen here. */
  const policy = (link) =>
    link?.relList.contains('noreferrer')
      ? 'no-referrer'
      : link?.referrerPolicy || document.querySelector('meta[name=referrer i]')?.content.trim().toLowerCase();
  const told = (link) => ({ url: link.href, policy: policy(link) });

  const onClick = (event) => {
    if (event.button === 2) return;
    const link = event.composedPath().find((node) => node.matches?.('a[href], area[href]'));
    named = link && { url: link.href, name: link.download };
    // A page can make up events, but not this mark. In a page that was there before an update of
    // the extension, nobody would hear of the click.
    if (!event.isTrusted || !api.runtime?.id) return;
    clicked = performance.now();
    if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.button !== 0 || !isLink(link?.href)) return;
    // A place in the page itself is no file.
    if (withoutFragment(link.href) === withoutFragment(location.href)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    api.runtime.sendMessage({ links: [told(link)] });
  };
  addEventListener('click', onClick, true);
  // A click of the middle button.
  addEventListener('auxclick', onClick, true);

  api.runtime.onMessage.addListener((message, sender, answer) => {
    // A frame that has nothing to tell is silent, since the first answer of a tab's frames counts.
    if (message.do === 'clicked' && performance.now() - clicked < TERM) {
      // One click stands for one download.
      clicked = -Infinity;
      answer(true);
    }
    if (message.do === 'is-sandboxed') {
      const frames = [...document.querySelectorAll('iframe[sandbox]:not([sandbox~=allow-downloads i])')];
      const isIn = (frame) => message.frames.includes(api.runtime.getFrameId(frame));
      // Not every frame, or no URL that the user types could be taken beside an advertisement.
      const isPage = isIn(window) && (window !== top || location.protocol !== 'about:');
      const isSource = origin === 'null' && (isPage || message.isOpener);
      const mayLead = ({ sandbox }) => /allow-top-n/i.test(sandbox) && !sandbox.contains('allow-same-origin');
      const isLed = message.isMain && frames.some(mayLead);
      if (frames.some(isIn) || (message.hasNoOrigin && (isSource || isLed))) answer(true);
    }
    if (message.do === 'is-filled' && document.body?.childElementCount > 0) answer(true);
    // As in the page itself, a link names files of its own origin alone.
    const isNamed = () => named?.name && withoutFragment(named.url) === withoutFragment(message.url);
    if (message.do === 'name' && isNamed() && new URL(named.url).origin === location.origin) answer(named.name);
    if (message.do === 'links') {
      const links = [...document.links];
      const selection = getSelection();
      if (!message.url) answer(links.filter((link) => selection.containsNode(link, true)).map(told));
      else answer([{ url: message.url, policy: policy(links.find((link) => link.href === message.url)) }]);
    }
  });
}
