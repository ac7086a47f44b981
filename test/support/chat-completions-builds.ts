/** What the specs of requests to Chat Completions upstreams are built from: contents, and the requests built of them. */

import type { CallContent, Part, ToolResultPart, UpstreamTarget } from '../../src/protocols/contract/index.js';
import { ChatCompletionsProtocol } from '../../src/protocols/chat-completions/protocol.js';
import { ChatCompletionsUpstream } from '../../src/protocols/chat-completions/upstream.js';
import { aCall, refusalOf } from './calls.js';
import { aContent, type Built, built } from './translations.js';

export const upstream = new ChatCompletionsUpstream();
export const call = aCall(new ChatCompletionsProtocol(), { model: 'alias', messages: [] });

export const build = (content: Partial<CallContent>, target: Partial<UpstreamTarget> = {}): Built =>
  built(upstream, { call, content: aContent(content) }, { stream: false, ...target });
export const withFlags = (content: Partial<CallContent>, flags: UpstreamTarget['flags']): Built =>
  build(content, { flags });
/** The details of the refusal. */
export const refused = (content: Partial<CallContent>, flags: UpstreamTarget['flags'] = {}): unknown =>
  refusalOf(() => withFlags(content, flags)).details;

export const toolCall = (id: string, more: object = {}): Part => ({
  kind: 'tool-call',
  id,
  name: 'f',
  arguments: '{}',
  ...more,
});
export const result = (id: string, ...parts: readonly Part[]): ToolResultPart => ({
  kind: 'tool-result',
  id,
  parts: parts.filter((part) => part.kind === 'text' || part.kind === 'image' || part.kind === 'file'),
  isError: false,
});
