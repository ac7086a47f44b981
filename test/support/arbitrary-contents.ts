/** Random calls that are legal in every protocol, with conversations in which results follow their calls. */

import fc from 'fast-check';
import {
  type CallContent,
  type ImagePart,
  type OpaqueReasoning,
  type OutputFormat,
  type Part,
  RawJson,
  type ReasoningPart,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolResultPart,
  type Turn,
} from '../../src/protocols/contract/index.js';
import { type ResponseTraits, FAMILY } from './arbitrary-responses.js';
import { anyJsonObject, anyText } from './arbitrary-values.js';

/** What of a random call a protocol has words for. */
export interface ContentTraits extends ResponseTraits {
  readonly stops: boolean;
  readonly failedResults: boolean;
  readonly imagesInResults: boolean;
  /** The form of output `json`. */
  readonly jsonObjects: boolean;
  /** At most one call at a time. Default: true. */
  readonly serial?: false;
  /** Instructions within the conversation. Default: true. */
  readonly instructions?: false;
  /** Images by URL. Default: true. */
  readonly imageUrls?: false;
  /** What kinds of sealed reasoning can come back in a conversation. */
  readonly reasoning: readonly OpaqueReasoning['kind'][];
}

const EFFORTS = ['low', 'medium', 'high'];
const MOST_EXCHANGES = 3;

/** Reasoning whose data tells all of it, so that it can be known again without the relay's seal. */
const opaqueOf = (kind: OpaqueReasoning['kind'], text: string): OpaqueReasoning => ({
  kind,
  family: FAMILY,
  data: `${kind}-${Buffer.from(text).toString('base64url')}`,
  text: kind === 'signature' ? text : '',
  ...(kind === 'encrypted' && { id: 'rs_1' }),
});

/** What `opaqueOf` made, from its data. */
export function knownAgain(data: string): OpaqueReasoning | undefined {
  const [, kind = '', text = ''] = /^(signature|redacted|encrypted)-([\w-]*)$/.exec(data) ?? [];
  return kind === '' ? undefined : opaqueOf(kind as OpaqueReasoning['kind'], Buffer.from(text, 'base64url').toString());
}

const imageOf = ({ imageUrls }: ContentTraits): fc.Arbitrary<ImagePart> =>
  fc.oneof(
    fc.base64String({ minLength: 8, maxLength: 40 }).map((base64): ImagePart => ({
      kind: 'image',
      source: { from: 'data', mediaType: 'image/png', base64 },
    })),
    ...(imageUrls === false
      ? []
      : [fc.webUrl().map((url): ImagePart => ({ kind: 'image', source: { from: 'url', url } }))]),
  );

/** Texts and images, never two texts in a row: some protocols have one where others have two. */
function userParts(traits: ContentTraits): fc.Arbitrary<readonly Part[]> {
  const image = imageOf(traits);
  return fc.oneof(
    anyText.map((text): Part[] => [{ kind: 'text', text }]),
    fc.tuple(anyText, image).map(([text, picture]): Part[] => [{ kind: 'text', text }, picture]),
    fc
      .tuple(anyText, image, anyText)
      .map(([text, picture, more]): Part[] => [{ kind: 'text', text }, picture, { kind: 'text', text: more }]),
  );
}

/** What the assistant says, calls, and is answered; the next thing that the user says. */
interface Exchange {
  readonly reasoning: ReasoningPart | undefined;
  readonly text: string | undefined;
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultPart['parts'][];
  readonly fails: boolean;
  readonly system: string | undefined;
  readonly user: readonly Part[];
}

const callOf = ({ freeformTools, namespaces }: ContentTraits): fc.Arbitrary<ToolCallPart> =>
  fc.oneof(
    anyJsonObject.map((json): ToolCallPart => ({ kind: 'tool-call', id: '', name: 'get_weather', arguments: json })),
    ...(freeformTools
      ? [
          anyText.map((text): ToolCallPart => ({
            kind: 'tool-call',
            id: '',
            name: 'exec',
            arguments: text,
            isFreeform: true,
          })),
        ]
      : []),
    ...(namespaces
      ? [
          anyJsonObject.map((json): ToolCallPart => ({
            kind: 'tool-call',
            id: '',
            name: 'read',
            namespace: 'files',
            arguments: json,
          })),
        ]
      : []),
  );

const resultParts = (traits: ContentTraits): fc.Arbitrary<ToolResultPart['parts']> =>
  fc.oneof(
    fc.constant([]),
    anyText.map((text): ToolResultPart['parts'] => [{ kind: 'text', text }]),
    ...(traits.imagesInResults
      ? [
          fc
            .tuple(anyText, imageOf(traits))
            .map(([text, picture]): ToolResultPart['parts'] => [{ kind: 'text', text }, picture]),
        ]
      : []),
  );

const reasoningOf = ({ reasoning }: ContentTraits): fc.Arbitrary<ReasoningPart | undefined> =>
  reasoning.length === 0
    ? fc.constant(undefined)
    : fc.option(
        fc.tuple(fc.constantFrom(...reasoning), anyText).map(([kind, text]): ReasoningPart => ({
          kind: 'reasoning',
          text: kind === 'redacted' ? '' : text,
          opaque: opaqueOf(kind, text),
        })),
        { nil: undefined },
      );

const exchange = (traits: ContentTraits): fc.Arbitrary<Exchange> =>
  fc.record({
    reasoning: reasoningOf(traits),
    text: fc.option(anyText, { nil: undefined }),
    calls: fc.array(callOf(traits), { maxLength: 2 }),
    results: fc.array(resultParts(traits), { minLength: 2, maxLength: 2 }),
    fails: traits.failedResults ? fc.boolean() : fc.constant(false),
    system: traits.instructions === false ? fc.constant(undefined) : fc.option(anyText, { nil: undefined }),
    user: userParts(traits),
  });

function turnsOf(first: readonly Part[], exchanges: readonly Exchange[]): readonly Turn[] {
  const turns = exchanges.flatMap((said, index): Turn[] => {
    const calls = said.calls.map((call, place) => ({ ...call, id: `call_${index}_${place}` }));
    const response: Part[] = [
      ...(said.reasoning ? [said.reasoning] : []),
      // Nobody answers with reasoning alone.
      ...(said.text === undefined && calls.length > 0 ? [] : [{ kind: 'text', text: said.text ?? 'Well.' } as const]),
      ...calls,
    ];
    const results = calls.map((call, place): ToolResultPart => ({
      kind: 'tool-result',
      id: call.id,
      parts: said.results[place] ?? [],
      isError: said.fails,
      ...(call.isFreeform && { isFreeform: true }),
    }));
    return [
      { role: 'assistant', parts: response },
      { role: 'user', parts: [...results, ...said.user] },
      ...(said.system === undefined ? [] : [{ role: 'system', parts: [{ kind: 'text', text: said.system }] } as const]),
    ];
  });
  return [{ role: 'user', parts: first }, ...turns];
}

const schema = fc
  .constantFrom(
    '{"type":"object","properties":{"10":{},"2":{"type":"string"}}}',
    '{ "type": "object", "properties": {} }',
  )
  .map((text) => new RawJson(text));

function toolsOf({ freeformTools, namespaces }: ContentTraits): fc.Arbitrary<readonly Tool[]> {
  const plain = fc
    .tuple(schema, anyText)
    .map(([json, description]): Tool => ({ name: 'get_weather', schema: json, description, path: 'tools[0]' }));
  const tools = [
    plain,
    ...(freeformTools
      ? [
          anyText.map((description): Tool => ({
            name: 'exec',
            schema: undefined,
            description,
            freeform: {},
            path: 'tools[1]',
          })),
        ]
      : []),
    ...(namespaces
      ? [schema.map((json): Tool => ({ name: 'read', namespace: 'files', schema: json, path: 'tools[2]' }))]
      : []),
  ];
  return fc.tuple(...tools);
}

const choice: fc.Arbitrary<ToolChoice> = fc.constantFrom<ToolChoice[]>(
  { mode: 'auto' },
  { mode: 'none' },
  { mode: 'required' },
  { mode: 'one', name: 'get_weather' },
);

const formatOf = ({ jsonObjects }: ContentTraits): fc.Arbitrary<OutputFormat> =>
  fc.oneof(
    fc.constant<OutputFormat>({ kind: 'text' }),
    schema.map((json): OutputFormat => ({ kind: 'schema', schema: json, name: 'answer' })),
    ...(jsonObjects ? [fc.constant<OutputFormat>({ kind: 'json' })] : []),
  );

/** A call. Settings that exclude each other somewhere (thinking and sampling, thinking and a forced tool) come apart. */
export function anyContent(traits: ContentTraits): fc.Arbitrary<CallContent> {
  return fc
    .record({
      lead: fc.option(anyText, { nil: undefined }),
      first: userParts(traits),
      exchanges: fc.array(exchange(traits), { maxLength: MOST_EXCHANGES }),
      tools: toolsOf(traits),
      toolChoice: choice,
      isSerial: traits.serial === false ? fc.constant(false) : fc.boolean(),
      outputLimit: fc.integer({ min: 16, max: 8000 }),
      stop: traits.stops ? fc.uniqueArray(anyText, { maxLength: 4 }) : fc.constant([]),
      temperature: fc.constantFrom(undefined, 0, 0.5, 1),
      effort: fc.constantFrom(...EFFORTS),
      format: formatOf(traits),
    })
    .map(({ lead, first, exchanges, isSerial, temperature, effort, ...said }): CallContent => ({
      ...said,
      lead: lead === undefined ? [] : [{ kind: 'text', text: lead }],
      turns: turnsOf(first, exchanges),
      hostedTools: [],
      parallelTools: isSerial && said.toolChoice.mode !== 'none' ? false : undefined,
      sampling: temperature === undefined ? {} : { temperature },
      reasoning: { ...(temperature === undefined && said.toolChoice.mode === 'auto' && { effort }), show: 'text' },
      verbosity: undefined,
      endUser: undefined,
      cacheKey: undefined,
      serviceTier: undefined,
    }));
}
