import type { Annotation, CallResult, ResponsePart } from '../../../../src/protocols/contract/index.js';
import { GeminiProtocol } from '../../../../src/protocols/gemini/protocol.js';
import { GeminiUpstream } from '../../../../src/protocols/gemini/upstream.js';
import type { ProtocolUnderTest } from '../../both-halves/protocol-under-test.js';
import { geminiClient } from './client.js';
import { expectGeminiStream } from './grammar.js';
import { geminiVendor } from './vendor.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** What the protocol preserves between its halves. */
export const bothHalves: ProtocolUnderTest = {
  client: geminiClient,
  vendor: geminiVendor,
  protocol: new GeminiProtocol(),
  upstream: new GeminiUpstream(),
  request: {
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: SCHEMA }] }],
  },
  flags: { reasoning: true, resultMedia: true },
  traits: {
    freeformTools: false,
    namespaces: false,
    stops: true,
    failedResults: true,
    jsonObjects: true,
    // Text is around the images.
    imagesInResults: false,
    // URLs have no media type unless their path ends with one.
    imageUrls: false,
    serial: false,
    // They become text of the user.
    instructions: false,
    // Only signatures are sent back.
    reasoning: [],
  },
  carried: (response, how) => withSources(inRuns(plain(response)), how),
  stops: { stop_sequence: 'end', pause: 'end', context: 'max_tokens' },
  sealIn: (data) => Buffer.from(data, 'base64').toString(),
  expectStream: expectGeminiStream,
};

/** Refusals become text, cut arguments an empty object on one line; writes to caches are not reported. */
function plain(response: CallResult): CallResult {
  const parts = response.parts.map((part): ResponsePart => {
    if (part.kind === 'refusal') return { kind: 'text', text: part.text };
    if (part.kind !== 'tool-call') return part;
    return { ...part, arguments: isJson(part.arguments) ? part.arguments.replaceAll(/[\r\n]/g, ' ') : '{}' };
  });
  return {
    ...response,
    parts,
    stop: response.stop === 'refusal' ? 'content_filter' : response.stop,
    usage: response.usage && { ...response.usage, cacheWrite: 0 },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Adjacent texts are one, and reasoning ends with its signature. */
function inRuns(response: CallResult): CallResult {
  const parts: ResponsePart[] = [];
  for (const part of response.parts) {
    const last = parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      const annotations = [...(last.annotations ?? []), ...(part.annotations ?? [])];
      parts[parts.length - 1] = { kind: 'text', text: last.text + part.text, annotations };
    } else if (part.kind === 'reasoning' && last?.kind === 'reasoning' && last.opaque === undefined) {
      parts[parts.length - 1] = { ...part, text: last.text + part.text };
    } else parts.push(part);
  }
  return { ...response, parts };
}

/** Sources are named once; those of an unstreamed response belong to its first text. */
function withSources(response: CallResult, how: 'streamed' | 'whole'): CallResult {
  const named = new Set<string>();
  const sourcesOf = (part: ResponsePart): Annotation[] =>
    (part.kind === 'text' ? (part.annotations ?? []) : []).filter(({ url }) => !named.has(url) && named.add(url));
  const all = how === 'whole' ? response.parts.flatMap(sourcesOf) : [];
  let isFirst = true;
  const parts = response.parts.map((part): ResponsePart => {
    if (part.kind !== 'text') return part;
    const annotations = how === 'streamed' ? sourcesOf(part) : isFirst ? all : [];
    isFirst = false;
    return { kind: 'text', text: part.text, ...(annotations.length > 0 && { annotations }) };
  });
  return { ...response, parts };
}
