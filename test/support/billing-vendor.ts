/**
 * A vendor that bills what it does, by its own reading of every request that reaches it: the other side of the books. It
 * knows the vendors' documents and its own price list, and nothing of the relay.
 */

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { prose, tokensIn } from './prose.js';
import {
  chatBody,
  destroy,
  type ProtocolEndpoint,
  end,
  errorResponse,
  eventsIn,
  hang,
  jsonAnswer,
  type JsonObject,
  messagesBody,
  responsesBody,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from './scripted-upstream.js';
import {
  responseBeside,
  IMAGE,
  lie,
  PADDED_PASS,
  PADDED_SEARCHES,
  REPORTED,
  usageBeside,
  type VendorEnding,
  type VendorPass,
} from './vendor-reports.js';

/** What one call has the vendor do. */
export interface VendorOrder {
  readonly ending: VendorEnding;
  /** Output tokens that the model would write if nothing limited it. */
  readonly output: number;
  /**
   * Where something may be one way or the other: a fallback serves, a fast request is served at standard speed, the vendor
   * chooses its dearest service where that is left to it, passes write as much as they can.
   */
  readonly turn: boolean;
}

/** Nano-dollars a token. */
interface ListPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite12h: number;
}

export const PRICES: Readonly<Record<string, ListPrice>> = {
  base: { input: 1000, output: 10_000, cacheWrite12h: 4000 },
  spare: { input: 3000, output: 15_000, cacheWrite12h: 3000 },
  advisor: { input: 5000, output: 25_000, cacheWrite12h: 5000 },
  foreign: { input: 3000, output: 15_000, cacheWrite12h: 3000 },
};
/** Tenths. */
const SPEED: Readonly<Record<string, number>> = { fast: 60 };
const GEO: Readonly<Record<string, number>> = { us: 11 };
const TIER: Readonly<Record<string, number>> = { priority: 20, flex: 5 };
const STANDARD = 10;
export const SEARCH_FEE = 10_000_000;
const SEARCHES_UNLESS_LIMITED = 3;
/** For a request that nobody must have let through. */
const PENALTY = 1_000_000_000;
/** A pass reads the prompt again. Tokens that it writes: usually, and at most. */
const COMPACTION = { output: 120, maxOutput: 8192 };
const ADVICE = { output: 70, maxOutput: 500 };
export const IMAGE_PRICES = { input: 5000, output: 30_000 };
/** Tokens of one event of a stream. */
const PIECE = 10;

/** What one request is billed, in nanos, and whether all of it may be given away. */
export interface Bill {
  readonly nanos: number;
  /** Tokens. */
  readonly prompt: number;
  readonly output: number;
  readonly isForbidden: boolean;
}

/** Members that change who pays or whose state is reached: an upstream account of many must never be sent them. */
const FORBIDDEN_MEMBERS = [
  'billing_policy',
  'user_profile_id',
  'workspace_id',
  'fallback_credit_token',
  'conversation',
  'thread',
  'container',
  'previous_response_id',
  'preset',
  'plugins',
];

/** Whether the request asks for something that nobody has priced, or that is not this client's. */
function isForbidden(body: JsonObject): boolean {
  const { inference_geo: geo, service_tier: tier, fallbacks } = body;
  return (
    FORBIDDEN_MEMBERS.some((member) => (body[member] ?? undefined) !== undefined) ||
    (geo !== undefined && geo !== 'us') ||
    tier === 'scale' ||
    fallbacks === 'default' ||
    /"foreign-|"code_interpreter"/.test(JSON.stringify(body))
  );
}

interface ServedCall {
  readonly model: string;
  readonly prompt: number;
  readonly output: number;
  readonly stop: 'end' | 'length';
  /** Of output; `Infinity` when the request sets none. */
  readonly limit: number;
  /** Laid over every usage object. */
  readonly usage: JsonObject;
  /** Laid over the whole response, beside its usage. */
  readonly beside: JsonObject;
  readonly nanos: number;
}

/** What a vendor tells of one request. */
export interface VendorBooks {
  /** So many tokens will come. */
  readonly onServed: (tokens: number) => void;
  /** The response is over. */
  readonly onBill: (bill: Bill) => void;
}

/** Answers one request. */
export function vendorScript(
  protocol: ProtocolEndpoint,
  order: VendorOrder,
  { onServed, onBill }: VendorBooks,
): Script {
  return (request) => {
    const served = serve(protocol, request.json, { ...order, output: tokensSaid(order) });
    onServed(served.output);
    const forbidden = isForbidden(request.json);
    const nanos = order.ending === 'refused' ? 0 : served.nanos;
    const { prompt, output } = served;
    const bill = { prompt, output, nanos: nanos + (forbidden ? PENALTY : 0), isForbidden: forbidden };
    void request.closed.finally(() => onBill(bill));
    return scriptOf(protocol, order.ending, served, request.json['stream'] === true);
  };
}

/** Tokens that the model has written when its response ends, unless the request allows for less. */
function tokensSaid({ ending, output }: Pick<VendorOrder, 'ending' | 'output'>): number {
  if (ending === 'left early') return 0;
  return ending === 'cut' || ending === 'left' ? Math.ceil(output / 2 / PIECE) * PIECE : output;
}

function serve(
  protocol: ProtocolEndpoint,
  body: JsonObject,
  { output: wanted, turn, ending }: VendorOrder,
): ServedCall {
  const requested = modelIn(String(body['model']));
  const prompt = promptIn(body);
  const alternative = alternativeIn(protocol, body);
  const model = turn && alternative !== undefined ? alternative : requested;
  const limit = Number(body['max_tokens'] ?? body['max_completion_tokens'] ?? body['max_output_tokens'] ?? Infinity);
  const output = Math.min(limit, wanted);
  const isOpen = turn && REPORTED.includes(ending);
  const speed = body['speed'] === 'fast' && !turn ? 'fast' : 'standard';
  const [chosenGeo, chosenTier] = protocol === 'messages' ? ['us', undefined] : [undefined, 'priority'];
  const geo = typeof body['inference_geo'] === 'string' ? body['inference_geo'] : isOpen ? chosenGeo : undefined;
  const tier = typeof body['service_tier'] === 'string' ? body['service_tier'] : isOpen ? chosenTier : undefined;
  const searches = searchesIn(body);
  const images = imagesIn(body);
  const passes = passesIn(protocol, body, prompt, isOpen);
  const written = protocol === 'messages' ? 0 : writtenFor12Hours(body, prompt);
  const tenths = (SPEED[speed] ?? STANDARD) * (GEO[geo ?? ''] ?? STANDARD) * (TIER[tier ?? ''] ?? STANDARD);
  const list = priceOf(model);
  const own = (prompt - written) * list.input + written * list.cacheWrite12h + output * list.output;
  const beside = passes.reduce((sum, pass) => sum + costOfPass(pass, model), 0);
  const drawn = images * (IMAGE.text * IMAGE_PRICES.input + IMAGE.output * IMAGE_PRICES.output);
  const nanos = Math.round(((own + beside + drawn + searches * SEARCH_FEE) * tenths) / STANDARD ** 3);
  const stop = output < wanted ? 'length' : 'end';
  // Only what was asked for by name can be claimed to be dearer: elsewhere it is the vendor's to choose.
  const isClaiming = ending === 'dearer service';
  const claimedSpeed = isClaiming && body['speed'] === undefined ? 'fast' : speed;
  const claimedTier = isClaiming && tier === 'flex' ? 'priority' : tier;
  const isPadded = ending === 'padded';
  const claimedSearches = isPadded && searches > 0 ? searches + PADDED_SEARCHES : searches;
  const claimedPasses = isPadded && passes.length === 0 ? [PADDED_PASS] : passes;
  const reported = { tier: claimedTier, model, searches: claimedSearches, images };
  const claimed = { ...reported, speed: claimedSpeed, geo, passes: claimedPasses };
  const usage = usageBeside(protocol, { ...claimed, prompt, output, written });
  return { model, prompt, output, stop, limit, nanos, usage, beside: responseBeside(protocol, reported) };
}

const costOfPass = ({ model, input, output }: VendorPass, own: string): number =>
  input * priceOf(model ?? own).input + output * priceOf(model ?? own).output;

const modelIn = (name: string): string => name.split('-', 1)[0] ?? '';

function priceOf(model: string): ListPrice {
  const price = PRICES[model];
  if (price === undefined) throw new Error(`The vendor sells no "${model}".`);
  return price;
}

function alternativeIn(protocol: ProtocolEndpoint, body: JsonObject): string | undefined {
  const named = protocol === 'messages' ? body['fallbacks'] : body['models'];
  const [first, second] = Array.isArray(named) ? (named as unknown[]) : [];
  if (protocol === 'messages') return first === undefined ? undefined : modelIn(String((first as JsonObject)['model']));
  return second === undefined ? undefined : modelIn(JSON.stringify(second).slice(1));
}

function searchesIn({ tools, max_tool_calls: most = Infinity }: JsonObject): number {
  const list = Array.isArray(tools) ? (tools as JsonObject[]) : [];
  const search = list.find(({ type }) => String(type).startsWith('web_search'));
  return search === undefined ? 0 : Math.min(Number(search['max_uses'] ?? most), SEARCHES_UNLESS_LIMITED);
}

function imagesIn({ tools, max_tool_calls: most = Infinity }: JsonObject): number {
  const list = Array.isArray(tools) ? (tools as JsonObject[]) : [];
  return list.some(({ type }) => type === 'image_generation') ? Math.min(Number(most), 1) : 0;
}

/** @param isLong they write as much as they may */
function passesIn(protocol: ProtocolEndpoint, body: JsonObject, input: number, isLong: boolean): readonly VendorPass[] {
  const outputOf = ({ output, maxOutput }: typeof ADVICE): number => (isLong ? maxOutput : output);
  if (protocol !== 'messages') return [];
  const management = body['context_management'] as { edits?: JsonObject[] } | null | undefined;
  const compacts = management?.edits?.some(({ type }) => String(type).startsWith('compact')) === true;
  const tools = Array.isArray(body['tools']) ? (body['tools'] as JsonObject[]) : [];
  const advisor = tools.find(({ type }) => String(type).startsWith('advisor'));
  return [
    ...(compacts ? [{ type: 'compaction', input, output: outputOf(COMPACTION) }] : []),
    ...(advisor === undefined
      ? []
      : [{ type: 'advisor_message', model: modelIn(String(advisor['model'])), input, output: outputOf(ADVICE) }]),
  ];
}

const writtenFor12Hours = (body: JsonObject, prompt: number): number =>
  (body['prompt_cache_options'] as JsonObject | undefined)?.['ttl'] === '12h' ? prompt : 0;

/** What begins and ends a message and who says it; what begins the response. */
const AROUND_MESSAGE = 4;
const BEFORE_RESPONSE = 3;

const promptIn = (body: JsonObject): number =>
  textsIn(body).reduce((sum, text) => sum + AROUND_MESSAGE + countTokens(text), BEFORE_RESPONSE);

/** Every text of a prompt, wherever the vendor's documents say one may stand. */
function textsIn({ messages, input, system, instructions }: JsonObject): string[] {
  const texts: string[] = [];
  const collect = (value: unknown, name: string): void => {
    if (typeof value === 'string') {
      if (['text', 'content', 'input', 'system', 'instructions'].includes(name)) texts.push(value);
    } else if (Array.isArray(value)) value.forEach((element) => collect(element, name));
    else if (value !== null && typeof value === 'object')
      for (const [key, member] of Object.entries(value)) collect(member, key);
  };
  for (const [name, value] of Object.entries({ messages, input, system, instructions })) collect(value, name);
  return texts;
}

const BODIES = { 'chat-completions': chatBody, messages: messagesBody, responses: responsesBody };

function scriptOf(protocol: ProtocolEndpoint, ending: VendorEnding, served: ServedCall, stream: boolean): Script {
  if (ending === 'refused') return errorResponse(protocol, 400);
  if (ending === 'left early') return [hang()];
  const text = inPieces(prose(served.output));
  const options = { text, usage: { prompt: served.prompt, completion: served.output }, stop: served.stop };
  if (!stream) return jsonAnswer(200, laid(BODIES[protocol](options), ending, served));
  const events = eventsIn(protocol, { ...options, includeUsage: true } as object).map((event): ScriptedEvent =>
    typeof event.data === 'string' ? event : { ...event, data: laid(event.data, ending, served) },
  );
  if (ending === 'cut') return [streamHead(), sse(said(events, served.output)), destroy('close')];
  if (ending === 'left') return [streamHead(), sse(said(events, served.output)), hang()];
  return [streamHead(), sse(events), end()];
}

/** The events up to the last words. */
function said(events: readonly ScriptedEvent[], tokens: number): readonly ScriptedEvent[] {
  let left = tokens;
  const last = events.findIndex(({ data }) => (left -= tokensIn(JSON.stringify(data))) <= 0);
  return events.slice(0, last + 1);
}

const inPieces = (words: readonly string[]): string[] =>
  Array.from({ length: Math.ceil(words.length / PIECE) }, (_, index) =>
    words.slice(index * PIECE, (index + 1) * PIECE).join(''),
  );

/** Lays what the vendor says beside the ready-made response over it, and has it lie about its usage as the ending says. */
function laid(value: JsonObject, ending: VendorEnding, served: ServedCall): JsonObject {
  const isResponse = (member: JsonObject): boolean => 'model' in member && ('id' in member || 'object' in member);
  const walk = (member: unknown, name: string): unknown => {
    if (Array.isArray(member)) return member.map((element) => walk(element, ''));
    if (member === null || typeof member !== 'object') return member;
    const own = member as JsonObject;
    if (name === 'usage') return lie(own, served, ending);
    const walked = Object.fromEntries(Object.entries(own).map(([key, inner]) => [key, walk(inner, key)]));
    return isResponse(own) ? { ...walked, ...served.beside } : walked;
  };
  return walk(value, '') as JsonObject;
}
