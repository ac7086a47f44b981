/** What the specs of requests to Messages upstreams are built from: contents, and the requests built of them. */

import {
  RawJson,
  type CallContent,
  type Part,
  type Tool,
  type UpstreamTarget,
} from '../../src/protocols/contract/index.js';
import { MessagesProtocol } from '../../src/protocols/messages/protocol.js';
import { MessagesUpstream } from '../../src/protocols/messages/upstream.js';
import { aCall } from './calls.js';
import { aContent, built, type Built } from './translations.js';

export const upstream = new MessagesUpstream();
export const call = aCall(new MessagesProtocol(), { model: 'm', max_tokens: 1, messages: [] });

export interface Setting extends Partial<Omit<UpstreamTarget, 'flags'>> {
  readonly flags?: Readonly<Record<string, unknown>>;
}

export const build = (content: Partial<CallContent>, target: Setting = {}): Built =>
  built(upstream, { call, content: aContent(content) }, { maxOutputTokens: 64_000, ...target });
export const flagged = (content: Partial<CallContent>, flags: Setting['flags'] = {}): Built =>
  build(content, { flags });

export const toolCall = (id: string, json = '{}'): Part => ({ kind: 'tool-call', id, name: 'get', arguments: json });
export const result = (id: string, words = 'ok', isError = false): Part => ({
  kind: 'tool-result',
  id,
  parts: words === '' ? [] : [{ kind: 'text', text: words }],
  isError,
});
/** A text as it stands on the wire. */
export const block = (words: string): object => ({ type: 'text', text: words });
export const aTool = (overrides: Partial<Tool> = {}): Tool => ({
  name: 'get',
  schema: new RawJson('{"type":"object","properties":{}}'),
  path: 'tools[0]',
  ...overrides,
});
