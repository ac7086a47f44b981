import type { FilePart, Source } from './content.js';

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,/i;
/** No head of a data URL is longer. */
const MAX_HEAD_LENGTH = 256;

/** What an address stands for: the bytes in it, when it is a data URL of base64. Undefined when it is no address. */
export function sourceOf(url: string): Source | undefined {
  if (/^https?:\/\//i.test(url)) return { from: 'url', url };
  const [head, mediaType] = DATA_URL.exec(url.slice(0, MAX_HEAD_LENGTH)) ?? [];
  if (head === undefined || mediaType === undefined) return undefined;
  return { from: 'data', mediaType: mediaType.toLowerCase(), base64: url.slice(head.length) };
}

/** The address that stands for a source. */
export const urlOf = (source: Source): string =>
  source.from === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;

/** A document of plain text, below its name; empty for one that is none. */
export function textOfFile({ source, name }: FilePart): string {
  const text = source.from === 'text' ? source.text : '';
  return name === undefined ? text : `${name}\n${text}`;
}
