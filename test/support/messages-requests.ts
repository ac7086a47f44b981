/** What the specs of requests of Messages clients are built from: requests, what is read of them, what is warned of. */

import { TranslationWarnings, type CallContent, type Part } from '../../src/protocols/contract/index.js';
import { MessagesProtocol } from '../../src/protocols/messages/protocol.js';
import { contentOf } from './translations.js';

export const protocol = new MessagesProtocol();
export const HELLO = { role: 'user', content: 'Hello' };
export const EMPTY = { model: 'm', max_tokens: 100, messages: [HELLO] };

export const read = (members: object): CallContent => contentOf(protocol, { ...EMPTY, ...members });
/** What a message of the user says. */
export const said = (...content: unknown[]): readonly Part[] =>
  read({ messages: [{ role: 'user', content }] }).turns[0]?.parts ?? [];

/** What the client is warned of, as in the header; undefined where nothing is lost. */
export function warned(members: object): string | undefined {
  const warnings = new TranslationWarnings(false);
  contentOf(protocol, { ...EMPTY, ...members }, warnings);
  return warnings.header;
}

export const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
export const text = (words: string): object => ({ type: 'text', text: words });
