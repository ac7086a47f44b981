import type { JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  type CallSignal,
  classifyGoogleInnerError,
  dataKind,
  HIDDEN,
  type JsonEdit,
  jsonHeaders,
  jsonInterests,
  MemberFinder,
  type MeterReading,
  objectIn,
  objectsIn,
  outputOf,
  parseResponse,
  readData,
  readResponseFields,
  SplicedBody,
  type SseEvent,
  type StreamMeter,
  type TokenUsage,
  truncatedStream,
  UNSIGNED_THOUGHT,
  type UpstreamRequest,
  type UpstreamTarget,
  usageSignals,
  type VerbatimLane,
} from '../contract/index.js';
import { pathOf } from './build.js';
import { OUTPUT_LIMIT, serviceTierOf } from './head.js';
import { Framing } from './renderer.js';
import { finishIn, reportsOutput, searchesIn, usageIn } from './response-reader.js';
import { spelledIn, spellings } from './wire.js';

/** Members of a response that are output. */
export const OUTPUT_MEMBERS = ['text', 'name', 'args', 'code', 'output'];

export const requestTo = (
  model: string,
  method: 'generateContent' | 'streamGenerateContent' | 'countTokens',
): Omit<UpstreamRequest, 'body'> => {
  const isStream = method === 'streamGenerateContent';
  return { path: pathOf(model, method), query: isStream ? 'alt=sse' : '', headers: jsonHeaders(isStream) };
};

/** The path decides, but another model in the body must not reach the upstream. */
export const modelEdits = ({ head: { fields } }: Call, model: string, paths: readonly string[]): readonly JsonEdit[] =>
  paths.filter((path) => fields.has(path)).map((path) => fields.assign(path, JSON.stringify(`models/${model}`)));

/** `generateContent` for its own clients. */
export class GeminiVerbatim implements VerbatimLane {
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    const edits = [
      ...modelEdits(call, target.model, ['model']),
      ...signatureEdits(call),
      ...limitEdits(call, target.outputLimit),
    ];
    return {
      ...requestTo(target.model, call.head.stream ? 'streamGenerateContent' : 'generateContent'),
      body: new SplicedBody(call.body, edits),
    };
  }

  meterStream(call: Call): StreamMeter {
    return new GeminiMeter(call);
  }

  meterResponse(_call: Call, body: Uint8Array): readonly CallSignal[] {
    const reported = readResponseFields(body, RESPONSE).object('usageMetadata');
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const searches = SEARCHES.hasValue(text.toString('latin1')) ? searchesOf(parseResponse(text.toString('utf8'))) : 0;
    return usageSignals(reported && reportedUsage(reported, searches), body, TEXTS);
  }
}

const RESPONSE = jsonInterests('usageMetadata', 'error');

/** Reasoning of other upstreams belongs to content that stays, and is replaced by the vendor's placeholder. */
const signatureEdits = ({ head: { fields } }: Call): readonly JsonEdit[] =>
  fields.sealedValues.map(({ start, end }) => ({ start, end, text: JSON.stringify(UNSIGNED_THOUGHT) }));

/** Lowers the client's limit, or sets one. */
function limitEdits({ head: { fields, outputLimit } }: Call, limit: number | undefined): readonly JsonEdit[] {
  if (limit === undefined || (outputLimit !== undefined && outputLimit <= limit)) return [];
  const [config, name] = OUTPUT_LIMIT.split('.') as [string, string];
  const parent = spelledIn(fields, config);
  if (!fields.has(parent)) return [fields.assign(parent, `{"${name}":${limit}}`)];
  const path = spelledIn(fields, OUTPUT_LIMIT);
  return [fields.assign(path.startsWith(`${parent}.`) ? path : `${parent}.${name}`, String(limit))];
}

const TEXTS = new MemberFinder(...OUTPUT_MEMBERS);
const OTHER_CONTENT = new MemberFinder(...spellings('functionCall'), ...spellings('inlineData'));
const SEARCHES = new MemberFinder('webSearchQueries');

/** Meters the partial responses of a stream, which ends by closing. */
class GeminiMeter implements StreamMeter {
  /** Comments would be no JSON. */
  readonly hidesComments: boolean;
  readonly #framing: Framing;
  /** Indexes of finished candidates. */
  readonly #finished = new Set<unknown>();
  #begun = false;
  #searches = 0;
  #stage: 'open' | 'stopped' | 'over' = 'open';

  constructor(private readonly call: Call) {
    this.#framing = new Framing(call.request.query);
    this.hidesComments = !this.#framing.isVerbatim;
  }

  get closed(): boolean {
    return this.#stage === 'over';
  }

  next(event: SseEvent): MeterReading {
    const kind = dataKind(event);
    if (this.closed || kind === 'none' || kind === 'done') return HIDDEN;
    const response = readData(event);
    if (response['error']) throw classifyGoogleInnerError(response);
    const output = this.#output(event.text);
    this.#finish(response);
    const signals = [...output, ...this.#usage(response)];
    const last = this.#stage === 'stopped' && reportsOutput(objectIn(response, 'usageMetadata'));
    if (last) this.#stage = 'over';
    if (this.#framing.isVerbatim) return { signals, last };
    return { signals, last, replacement: last ? this.#framing.last(event.data) : this.#framing.next(event.data) };
  }

  end(): MeterReading {
    if (this.#stage === 'open') throw truncatedStream();
    this.#stage = 'over';
    return { signals: [], last: true, replacement: this.#framing.end };
  }

  #output(text: string): CallSignal[] {
    const written = TEXTS.stringsIn(text);
    const signals: CallSignal[] = [];
    if (!this.#begun && (written !== '' || OTHER_CONTENT.hasValue(text))) {
      this.#begun = true;
      signals.push({ type: 'content' });
    }
    if (written !== '') signals.push(outputOf(written));
    return signals;
  }

  #usage(response: JsonObject): readonly CallSignal[] {
    this.#searches = Math.max(this.#searches, searchesOf(response));
    const reported = objectIn(response, 'usageMetadata');
    const usage = reportedUsage(reported, this.#searches);
    if (usage === undefined) return [];
    const isNone = this.#stage === 'stopped' && !this.#begun;
    return [{ type: 'usage', usage, ...(!isNone && !reportsOutput(reported) && { isProvisional: true }) }];
  }

  #finish(response: JsonObject): void {
    for (const { index, finishReason } of objectsIn(response['candidates']))
      if (finishIn(finishReason) !== undefined) this.#finished.add(index ?? 0);
    const isBlocked = typeof objectIn(response, 'promptFeedback')['blockReason'] === 'string';
    if (isBlocked || this.#finished.size >= this.call.head.choices) this.#stage = 'stopped';
  }
}

const searchesOf = (response: JsonObject): number =>
  objectsIn(response['candidates']).reduce((sum, candidate) => sum + searchesIn(candidate), 0);

/** With the tier of the response, if it has one; otherwise the requested one is charged. */
function reportedUsage(reported: JsonObject, searches: number): TokenUsage | undefined {
  const usage = usageIn(reported);
  if (usage === undefined) return undefined;
  const { serviceTier: _, ...counts } = usage;
  const tier = reported['serviceTier'];
  const serviceTier = typeof tier === 'string' ? serviceTierOf(tier) : undefined;
  return {
    ...counts,
    ...(serviceTier !== undefined && { serviceTier }),
    ...(searches > 0 && { toolUses: { web_search: searches } }),
  };
}
