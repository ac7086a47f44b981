import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  countIn,
  objectIn,
  PartSequencer,
  type PartStart,
  ToolNames,
} from '../contract/index.js';
import { NAME_RULE } from './build-items.js';

/** Prefix of keys of items with a known index. */
const NUMBER = '#';
/** Between parts of a summary. */
const BREAK = '\n\n';

type DeltaKind = 'text' | 'refusal' | 'tool-call' | 'reasoning';

/** Target of delta events. */
const DELTAS: ReadonlyMap<string, DeltaKind> = new Map<string, DeltaKind>([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'refusal'],
  ['response.function_call_arguments.delta', 'tool-call'],
  ['response.custom_tool_call_input.delta', 'tool-call'],
  ['response.reasoning_summary_text.delta', 'reasoning'],
  ['response.reasoning_text.delta', 'reasoning'],
]);

/** Assembles parts from items, however an upstream sends them. */
export class ResponseItems {
  private readonly parts: PartSequencer;
  private readonly names: ToolNames;
  /** The current summary part of each reasoning item. */
  private readonly sections = new Map<string, string>();
  private lastKey = '';
  /** Item keys by ID and by index. */
  private readonly keys = new Map<string, string>();
  private begun = 0;
  private refusals = 0;

  constructor(
    content: CallContent,
    private readonly family: string,
  ) {
    this.parts = new PartSequencer(content);
    this.names = new ToolNames(content.tools, NAME_RULE);
  }

  get isEmpty(): boolean {
    return this.begun === 0;
  }

  get callCount(): number {
    return this.parts.callCount;
  }

  get hasRefusal(): boolean {
    return this.refusals > 0;
  }

  added(event: JsonObject): CallEvent[] {
    const item = objectIn(event, 'item');
    const key = this.keyOf(event, item);
    return this.startCall(key, item);
  }

  /** Undefined if the event is not a delta. */
  delta(type: string, event: JsonObject): CallEvent[] | undefined {
    const kind = DELTAS.get(type);
    if (kind === undefined) return undefined;
    const text = textIn(event, 'delta');
    const key = this.keyOf(event);
    switch (kind) {
      case 'tool-call':
        return this.parts.append(key, text);
      case 'reasoning':
        return text === '' ? [] : this.appendReasoning(key, type, event, text);
      default:
        return text === '' ? [] : this.appendText(contentKey(key, event['content_index']), kind, text);
    }
  }

  contentDone(event: JsonObject): CallEvent[] {
    return this.content(contentKey(this.keyOf(event), event['content_index']), objectIn(event, 'part'));
  }

  /** Emits what was not emitted yet. */
  done(event: JsonObject): CallEvent[] {
    const item = objectIn(event, 'item');
    const key = this.keyOf(event, item);
    switch (item['type']) {
      case 'message':
        return listIn(item, 'content').flatMap((part, index) => this.content(contentKey(key, index), part));
      case 'function_call':
        return this.callDone(key, item, argumentsIn(item));
      case 'custom_tool_call':
        return this.callDone(key, item, textIn(item, 'input'));
      case 'reasoning':
        return this.reasoningDone(key, item);
      default:
        return [];
    }
  }

  finish(): CallEvent[] {
    return this.parts.finishAll();
  }

  private appendText(key: string, kind: 'text' | 'refusal', text: string): CallEvent[] {
    return [...this.start(key, { kind }), ...this.parts.append(key, text)];
  }

  private appendReasoning(key: string, type: string, event: JsonObject, text: string): CallEvent[] {
    const section = `${type} ${countIn(event, 'summary_index') ?? countIn(event, 'content_index')}`;
    const before = this.sections.get(key) ?? section;
    this.sections.set(key, section);
    const started = this.start(key, { kind: 'reasoning' });
    return [...started, ...this.parts.append(key, before === section ? text : BREAK + text)];
  }

  private content(key: string, part: JsonObject): CallEvent[] {
    const isRefusal = part['type'] === 'refusal';
    if (!isRefusal && part['type'] !== 'output_text') return [];
    const text = textIn(part, isRefusal ? 'refusal' : 'text');
    if (text === '' && !this.parts.has(key)) return [];
    const events = this.start(key, { kind: isRefusal ? 'refusal' : 'text' });
    events.push(...this.parts.complete(key, text));
    for (const { type, url, title } of listIn(part, 'annotations')) {
      if (type !== 'url_citation' || typeof url !== 'string') continue;
      this.parts.annotate(key, { url, title: typeof title === 'string' ? title : url });
    }
    return [...events, ...this.parts.finish(key)];
  }

  private callDone(key: string, item: JsonObject, text: string): CallEvent[] {
    return [...this.startCall(key, item), ...this.parts.complete(key, text), ...this.parts.finish(key)];
  }

  private reasoningDone(key: string, item: JsonObject): CallEvent[] {
    const summary = textsOf(listIn(item, 'summary'));
    const text = summary === '' ? textsOf(listIn(item, 'content')) : summary;
    const data = textIn(item, 'encrypted_content');
    if (text === '' && data === '' && !this.parts.has(key)) return [];
    const events = [...this.start(key, { kind: 'reasoning' }), ...this.parts.complete(key, text)];
    const { id } = item;
    const opaque = { kind: 'encrypted', family: this.family, data, text: '' } as const;
    if (data !== '') this.parts.seal(key, { ...opaque, ...(typeof id === 'string' && { id }) });
    return [...events, ...this.parts.finish(key)];
  }

  /** A call without a name is emitted later. */
  private startCall(key: string, item: JsonObject): CallEvent[] {
    const isFreeform = item['type'] === 'custom_tool_call';
    const wireName = textIn(item, 'name');
    if ((!isFreeform && item['type'] !== 'function_call') || wireName === '') return [];
    const space = textIn(item, 'namespace');
    const { name, namespace } = space === '' ? this.names.toolOf(wireName) : { name: wireName, namespace: space };
    const named = { name, ...(namespace !== undefined && { namespace }), ...(isFreeform && { isFreeform }) };
    return this.start(key, { kind: 'tool-call', id: textIn(item, 'call_id') || textIn(item, 'id'), ...named });
  }

  private start(key: string, start: PartStart): CallEvent[] {
    if (this.parts.has(key)) return [];
    this.begun += 1;
    if (start.kind === 'refusal') this.refusals += 1;
    // [obs] Servers without indexes send items one after the other and mark them as done only at the end.
    const before = key.startsWith(NUMBER) ? [] : this.parts.finishAll();
    return [...before, ...this.parts.start(key, start)];
  }

  /**
   * [obs] Not all servers number items or all of their events; IDs may change between events, and calls may only have a
   * call ID.
   */
  private keyOf(event: JsonObject, item: JsonObject = {}): string {
    const { output_index: index } = event;
    const id = event['item_id'] ?? item['id'] ?? item['call_id'];
    const known = typeof id === 'string' ? this.keys.get(id) : undefined;
    const unnumbered = typeof id === 'string' ? (known ?? id) : this.lastKey;
    const key = typeof index === 'number' ? this.keyOfNumber(`${NUMBER}${index}`, known) : unnumbered;
    if (typeof id === 'string') this.keys.set(id, key);
    this.lastKey = key;
    return key;
  }

  /** The index, unless the item was emitted without it. */
  private keyOfNumber(number: string, known: string | undefined): string {
    const isNew = known === undefined || known.startsWith(NUMBER);
    const key = this.keys.get(number) ?? (isNew ? number : known);
    this.keys.set(number, key);
    return key;
  }
}

const contentKey = (itemKey: string, index: unknown): string => `${itemKey}/${typeof index === 'number' ? index : 0}`;

function textIn(parent: JsonObject, name: string): string {
  const value = parent[name];
  return typeof value === 'string' ? value : '';
}

/** [obs] Some servers send an object instead of text. */
function argumentsIn(item: JsonObject): string {
  const value = item['arguments'];
  return isJsonObject(value) ? JSON.stringify(value) : textIn(item, 'arguments');
}

function listIn(parent: JsonObject, name: string): readonly JsonObject[] {
  const value = parent[name];
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [];
}

const textsOf = (parts: readonly JsonObject[]): string => parts.map((part) => textIn(part, 'text')).join(BREAK);
