// SPDX-License-Identifier: Apache-2.0
// Which downloads idown is asked to take. The rules are idown's settings, told by the host.

/** Types of which nobody wants a single page or picture in the list. */
const PAGES = /^(text\/|image\/|application\/(xhtml\+xml|xml|json|javascript|pdf)$)/;
/** Types that Firefox shows, or tells from the content, so that a response without "attachment" is no download. */
const SHOWN =
  /^(text\/|image\/|video\/|audio\/|multipart\/|\*\/\*$|application\/(.*\+xml$|.*\+json$|xml$|json$|javascript$|ecmascript$|x-javascript$|pdf$|ogg$|x-xpinstall$|x-unknown-content-type$))/;
/** Types among these that it saves. */
const SAVED =
  /^(text\/csv|image\/tiff|video\/(avi|mp2t|mpeg|x-flv|x-ms-wmv|x-msvideo)|audio\/(aiff|midi|x-aiff|x-ms-wma)|multipart\/x-zip)$/;

const isBelow = (host, parent) => host === parent || host.endsWith(`.${parent}`);

/** The host of a URL; undefined where there is none. */
export const hostOf = (url) => (URL.canParse(url ?? '') && new URL(url).hostname.replace(/\.$/, '')) || undefined;

/** A media type in lower case, without its parameters. */
const mediaType = (mime) => (mime ?? '').split(';')[0].trim().toLowerCase();

/** Whether Firefox would save a response with these headers in place of showing it. */
export function isDownload(mime, disposition, url) {
  if (/^\s*attachment\b/i.test(disposition ?? '')) return true;
  // Its viewer takes a PDF by the name, too.
  const name = nameIn(disposition) || new URL(url).pathname;
  if (mediaType(mime) === 'application/octet-stream' && /\.pdf$/i.test(name)) return false;
  return mediaType(mime) !== '' && (SAVED.test(mediaType(mime)) || !SHOWN.test(mediaType(mime)));
}

/** The file's name in a Content-Disposition header (RFC 6266, RFC 8187: UTF-8); empty where there is none. */
export function nameIn(text = '') {
  const [, coded] = /;\s*filename\*\s*=\s*utf-8'[^']*'([!-:<-~]+)(?![^;\s])/i.exec(text) ?? [];
  try {
    if (coded) return decodeURIComponent(coded);
  } catch {
    // The plain name has to do.
  }
  const [, quoted, bare] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(text) ?? [];
  const name = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '';
  // The service reads names in other codings (RFC 2047, percent signs) by itself.
  return /^=\?|%[\da-f]{2}/i.test(name) ? '' : name;
}

/** A field of ASCII without blanks in tokens, and without escapes or semicolons in quoted strings. */
const PLAIN = /^\s*[\w-]+(?:\s*;\s*[\w-]+\*?\s*=\s*(?:"[ !#-:<-[\]-~]*"|[!#-:<-[\]-~]+))*\s*;?\s*$/;

/**
 * The name in a Content-Disposition header; undefined where another reader could find another one, so
 * that the service has to read the header by itself.
 */
export function sureNameIn(disposition) {
  const names = [...(disposition ?? '').matchAll(/;\s*(filename\*?)\s*=/gi)].map(([, name]) => name.toLowerCase());
  const isCoded = names.includes('filename*');
  const isPlain = PLAIN.test(disposition) && new Set(names).size === names.length;
  const name = nameIn(disposition);
  // File systems that encrypt names shorten what is longer.
  const isSafe = !/^'|[/\\]/.test(name) && new TextEncoder().encode(name).length <= 143;
  const isSure = isPlain && isSafe && (!isCoded || /\*\s*=\s*utf-8'/i.test(disposition));
  return (isSure && name) || undefined;
}

/** Whether a Content-Disposition header names a file. */
export const hasName = (disposition) => /;\s*filename\*?\s*=/i.test(disposition ?? '');

/** Whether a rule for types (`application/zip`, `video/*`, `.iso`) fits. */
function fits(rule, mime, paths) {
  const text = rule.toLowerCase();
  if (text.startsWith('.')) return paths.some((path) => path.toLowerCase().endsWith(text));
  if (text.endsWith('/*')) return mime.startsWith(text.slice(0, -1));
  return mime === text;
}

/** Whether hand-over is off for a page of this host. */
export const isLeft = (rules, host) => host !== undefined && rules['leave-hosts'].some((rule) => isBelow(host, rule));

/**
 * Whether the rules give a download to idown.
 *
 * A host counts whether the file or the page that links to it lies there.
 */
export function wants(rules, { urls, page, mime, name, size, isPrivate }) {
  if (!rules.on || (isPrivate && !rules.private)) return false;
  const hosts = [...urls, page].map(hostOf).filter(Boolean);
  if (hosts.some((host) => isLeft(rules, host))) return false;
  // Browsers warn of a file over http that a page on https links to.
  if (/^https:/i.test(page) && urls.some((url) => /^http:/i.test(url))) return false;
  const isNamed = rules.hosts.some((rule) => hosts.some((host) => isBelow(host, rule)));
  if (rules.hosts.length > 0 && !isNamed) return false;
  const paths = name ? [name] : urls.map((url) => new URL(url).pathname);
  const isOneOf = (types) => types.some((rule) => fits(rule, mediaType(mime), paths));
  if (isOneOf(rules['leave-types'])) return false;
  if (rules.types.length > 0 && !isOneOf(rules.types)) return false;
  if (size !== undefined) return size >= rules['least-size'];
  return rules.types.length > 0 || !PAGES.test(mediaType(mime));
}
