import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  countIn,
  PartSequencer,
  RawJson,
  type StopReason,
  ToolNames,
  unwrapFreeform,
  type UpstreamTarget,
} from '../contract/index.js';
import { TOOL_NAMES } from './flags.js';
import { MessagesUsage } from './usage.js';

/** A block in progress. */
interface Block {
  /** Its text, if it comes as a whole. */
  whole: string;
  /** Arguments of a freeform tool: an object around the text. */
  wrapped: string | undefined;
  signature: string;
  redacted: string | undefined;
}

const STOPS: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ['end_turn', 'end'],
  ['max_tokens', 'max_tokens'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'content_filter'],
  ['model_context_window_exceeded', 'context'],
]);

const REFUSAL = 'refusal';
const DEFAULT_TIER = 'standard';

export class MessagesResponseReader {
  readonly #parts: PartSequencer;
  readonly #blocks = new Map<string, Block>();
  readonly #usage = new MessagesUsage();
  readonly #names: ToolNames;
  #end: JsonObject = {};
  #hasBegun = false;
  #isReported = false;

  constructor(
    content: CallContent,
    private readonly target: UpstreamTarget,
  ) {
    this.#parts = new PartSequencer(content);
    this.#names = new ToolNames(content.tools, TOOL_NAMES);
  }

  /** Must come first; idempotent. */
  begin(): CallEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [{ type: 'call-start' }];
  }

  /** Ignores blocks of hosted tools and their citations. */
  open(key: string, block: JsonObject): CallEvent[] {
    // A reused index: the previous block would never end.
    return [...this.close(key), ...this.#begin(key, block)];
  }

  #begin(key: string, block: JsonObject): CallEvent[] {
    const { type, citations } = block;
    const state: Block = { whole: '', wrapped: undefined, signature: '', redacted: undefined };
    this.#blocks.set(key, state);
    switch (type) {
      case 'text': {
        const events = [...this.#parts.start(key, { kind: 'text' }), ...this.#parts.append(key, textIn(block, 'text'))];
        for (const citation of Array.isArray(citations) ? (citations as unknown[]) : []) this.#cite(key, citation);
        return events;
      }
      case 'thinking':
        state.signature = textIn(block, 'signature');
        return [
          ...this.#parts.start(key, { kind: 'reasoning' }),
          ...this.#parts.append(key, textIn(block, 'thinking')),
        ];
      case 'redacted_thinking':
        state.redacted = textIn(block, 'data');
        return this.#parts.start(key, { kind: 'reasoning' });
      case 'tool_use':
        return this.#openCall(key, block, state);
      default:
        return [];
    }
  }

  delta(key: string, delta: JsonObject): CallEvent[] {
    const block = this.#blocks.get(key);
    switch (delta['type']) {
      case 'text_delta':
        return this.#parts.append(key, textIn(delta, 'text'));
      case 'thinking_delta':
        return this.#parts.append(key, textIn(delta, 'thinking'));
      case 'input_json_delta':
        if (block?.wrapped === undefined) return this.#parts.append(key, textIn(delta, 'partial_json'));
        block.wrapped += textIn(delta, 'partial_json');
        return [];
      case 'signature_delta':
        if (block !== undefined) block.signature = textIn(delta, 'signature');
        return [];
      case 'citations_delta':
        this.#cite(key, delta['citation']);
        return [];
      default:
        return [];
    }
  }

  close(key: string): CallEvent[] {
    const block = this.#blocks.get(key);
    if (block === undefined) return [];
    this.#blocks.delete(key);
    const { whole, wrapped, signature, redacted } = block;
    const { family } = this.target;
    const rest =
      wrapped === undefined
        ? this.#parts.complete(key, whole)
        : this.#parts.append(key, unwrapFreeform(wrapped || whole));
    const { front } = this.#parts;
    // A signature is only valid with its text.
    if (signature !== '' && front?.key === key && front.start.kind === 'reasoning') {
      this.#parts.seal(key, { kind: 'signature', family, data: signature, text: front.text });
    }
    if (redacted !== undefined) this.#parts.seal(key, { kind: 'redacted', family, data: redacted, text: '' });
    return [...rest, ...this.#parts.finish(key)];
  }

  /** @param isEnd before the end, output is a placeholder */
  report({ usage }: JsonObject, isEnd: boolean): CallEvent[] {
    const reported = isJsonObject(usage) ? usage : undefined;
    const merged = this.#usage.merge(reported);
    this.#isReported ||= isEnd && countIn(reported, 'output_tokens') !== undefined;
    if (merged === undefined) return [];
    // Other tiers are not requested and so must not be charged.
    const known = { serviceTier: DEFAULT_TIER, ...merged };
    return [{ type: 'usage-update', usage: known, ...(!this.#isReported && { isProvisional: true }) }];
  }

  /** The last stop reason counts. */
  stop(end: JsonObject): void {
    if (typeof end['stop_reason'] === 'string') this.#end = end;
  }

  finish(): CallEvent[] {
    const open = [...this.#blocks.keys()].flatMap((key) => this.close(key));
    const details = this.#end['stop_details'];
    const explanation = isJsonObject(details) ? textIn(details, 'explanation') : '';
    const isRefusal = this.#end['stop_reason'] === 'refusal' && explanation !== '';
    return [...open, ...(isRefusal ? this.#refuse(explanation) : []), this.#stopEvent(isRefusal), { type: 'call-end' }];
  }

  #openCall(key: string, block: JsonObject, state: Block): CallEvent[] {
    const wireName = textIn(block, 'name');
    // It could not be executed.
    if (wireName === '') return [];
    const { name, namespace, freeform } = this.#names.toolOf(wireName);
    const { input } = block;
    state.whole = inputText(input);
    if (freeform !== undefined) state.wrapped = '';
    return this.#parts.start(key, {
      kind: 'tool-call',
      id: textIn(block, 'id'),
      name,
      ...(namespace !== undefined && { namespace }),
      ...(freeform !== undefined && { isFreeform: true }),
    });
  }

  #cite(key: string, citation: unknown): void {
    if (!isJsonObject(citation)) return;
    const url = textIn(citation, 'url');
    // Document citations have no URL.
    if (url !== '') this.#parts.annotate(key, { url, title: textIn(citation, 'title') });
  }

  #refuse(explanation: string): CallEvent[] {
    return [
      ...this.#parts.start(REFUSAL, { kind: 'refusal' }),
      ...this.#parts.append(REFUSAL, explanation),
      ...this.#parts.finish(REFUSAL),
    ];
  }

  #stopEvent(isRefusal: boolean): CallEvent {
    const reason = STOPS.get(this.#end['stop_reason']) ?? 'end';
    const sequence = textIn(this.#end, 'stop_sequence');
    if (isRefusal) return { type: 'call-stop', reason: 'refusal' };
    if (reason === 'stop_sequence') return { type: 'call-stop', reason, sequence };
    // Clients continue if and only if there are tool calls.
    const called = this.#parts.callCount > 0;
    if (reason === 'end' || reason === 'tool_calls')
      return { type: 'call-stop', reason: called ? 'tool_calls' : 'end' };
    return { type: 'call-stop', reason };
  }
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

/** Arguments sent as a whole. Streamed calls start with an empty object. */
function inputText(input: unknown): string {
  if (input instanceof RawJson) return Object.keys(input.value).length > 0 ? input.text : '';
  return typeof input === 'string' ? input : '';
}
