import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Annotation,
  type PartStart,
  type ReasoningPart,
  type RefusalPart,
  sseText,
  type TextPart,
  type ToolCallPart,
} from '../contract/index.js';

/** Numbers events and collects them until taken. */
export class EventLog {
  #text = '';
  #next = 0;

  get next(): number {
    return this.#next;
  }

  /** @param members JSON without braces, to follow type and number */
  add(type: string, members: string): void {
    this.#text += sseText(type, `{"type":"${type}","sequence_number":${this.#next},${members}}`);
    this.#next += 1;
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

export interface ItemPosition {
  readonly id: string;
  readonly index: number;
}

/** Status of a finished item; reasoning has none. */
export type ItemStatus = 'completed' | 'incomplete';

interface ItemWriter {
  readonly place: ItemPosition;
  readonly empty: JsonObject;
  delta(text: string): void;
  whole(status: ItemStatus): JsonObject;
}

const placeMembers = ({ id, index }: ItemPosition): string => `"item_id":${JSON.stringify(id)},"output_index":${index}`;

/** Adjacent texts and refusals form one message. */
export class MessageItem implements ItemWriter {
  readonly #content: JsonObject[] = [];
  #kind: 'text' | 'refusal' | undefined;
  #delta = '';
  #annotations = 0;

  constructor(
    private readonly events: EventLog,
    readonly place: ItemPosition,
  ) {}

  get empty(): JsonObject {
    return this.#item('in_progress');
  }

  #partMembers(): string {
    return `${placeMembers(this.place)},"content_index":${this.#content.length}`;
  }

  /** Starts a part unless it is open. */
  begin(kind: 'text' | 'refusal'): void {
    if (this.#kind !== undefined) return;
    this.#kind = kind;
    this.#annotations = 0;
    this.#delta = `${this.#partMembers()},"delta":`;
    this.events.add(
      'response.content_part.added',
      `${this.#partMembers()},"part":${JSON.stringify(contentOf({ kind, text: '' }))}`,
    );
  }

  delta(text: string): void {
    const members = this.#delta + JSON.stringify(text);
    if (this.#kind === 'refusal') this.events.add('response.refusal.delta', members);
    else this.events.add('response.output_text.delta', `${members},"logprobs":[]`);
  }

  annotate(annotation: Annotation): void {
    const members = `"annotation_index":${this.#annotations},"annotation":${JSON.stringify(citationOf(annotation))}`;
    this.events.add('response.output_text.annotation.added', `${this.#partMembers()},${members}`);
    this.#annotations += 1;
  }

  endPart(part: TextPart | RefusalPart): void {
    const text = JSON.stringify(part.text);
    if (part.kind === 'refusal') this.events.add('response.refusal.done', `${this.#partMembers()},"refusal":${text}`);
    else this.events.add('response.output_text.done', `${this.#partMembers()},"text":${text},"logprobs":[]`);
    const content = contentOf(part);
    this.events.add('response.content_part.done', `${this.#partMembers()},"part":${JSON.stringify(content)}`);
    this.#content.push(content);
    this.#kind = undefined;
  }

  whole(status: ItemStatus): JsonObject {
    return this.#item(status);
  }

  #item(status: string): JsonObject {
    return { type: 'message', id: this.place.id, status, role: 'assistant', content: [...this.#content] };
  }
}

const contentOf = (part: TextPart | RefusalPart): JsonObject =>
  part.kind === 'refusal'
    ? { type: 'refusal', refusal: part.text }
    : { type: 'output_text', text: part.text, annotations: (part.annotations ?? []).map(citationOf) };

/** Positions are unknown, but clients require them: the beginning. */
const citationOf = ({ url, title }: Annotation): JsonObject => ({
  type: 'url_citation',
  start_index: 0,
  end_index: 0,
  url,
  title,
});

const FUNCTION = { type: 'function_call', member: 'arguments', events: 'response.function_call_arguments' } as const;
const FREEFORM = { type: 'custom_tool_call', member: 'input', events: 'response.custom_tool_call_input' } as const;

type CallStart = Extract<PartStart, { kind: 'tool-call' }>;

export class CallItem implements ItemWriter {
  readonly #names: typeof FUNCTION | typeof FREEFORM;
  readonly #place: string;
  #input = '';

  constructor(
    private readonly events: EventLog,
    readonly place: ItemPosition,
    private readonly start: CallStart,
  ) {
    this.#names = start.isFreeform === true ? FREEFORM : FUNCTION;
    this.#place = placeMembers(place);
  }

  get empty(): JsonObject {
    return this.#item('in_progress');
  }

  delta(text: string): void {
    this.events.add(`${this.#names.events}.delta`, `${this.#place},"delta":${JSON.stringify(text)}`);
  }

  endPart(part: ToolCallPart): void {
    this.#input = part.arguments;
    const input = `"${this.#names.member}":${JSON.stringify(this.#input)}`;
    this.events.add(`${this.#names.events}.done`, `${this.#place},"name":${JSON.stringify(part.name)},${input}`);
  }

  whole(status: ItemStatus): JsonObject {
    return this.#item(status);
  }

  #item(status: string): JsonObject {
    const { id, name, namespace } = this.start;
    const { type, member } = this.#names;
    const named = { type, id: this.place.id, call_id: id, ...(namespace !== undefined && { namespace }), name };
    return { ...named, [member]: this.#input, status };
  }
}

/** A call of a built-in tool. Only the commands of `shell` have events of their own. */
export class BuiltInItem implements ItemWriter {
  constructor(
    private readonly events: EventLog,
    readonly place: ItemPosition,
    private readonly members: JsonObject,
  ) {}

  get empty(): JsonObject {
    const { action, type } = this.members;
    const begun = type === SHELL_CALL && isJsonObject(action) ? { action: { ...action, commands: [] } } : {};
    return { ...this.#item('in_progress'), ...begun };
  }

  /** Calls are sent as a whole. */
  delta(): void {}

  write(): void {
    const { action, type } = this.members;
    const commands = type === SHELL_CALL && isJsonObject(action) ? action['commands'] : [];
    (Array.isArray(commands) ? (commands as readonly unknown[]) : []).forEach((command, index) => {
      const members = `"output_index":${this.place.index},"command_index":${index}`;
      const text = JSON.stringify(command);
      this.events.add('response.shell_call_command.added', `${members},"command":""`);
      this.events.add('response.shell_call_command.delta', `${members},"delta":${text}`);
      this.events.add('response.shell_call_command.done', `${members},"command":${text}`);
    });
  }

  /** `apply_patch` calls are never incomplete. */
  whole(status: ItemStatus): JsonObject {
    const isPatch = this.members['type'] === 'apply_patch_call';
    return this.#item(isPatch && status === 'incomplete' ? 'in_progress' : status);
  }

  #item(status: string): JsonObject {
    return { id: this.place.id, ...this.members, status };
  }
}

const SHELL_CALL = 'shell_call';

/** Readable reasoning is sent as summary: clients fail on other events or ignore them. */
export class ReasoningItem implements ItemWriter {
  readonly #place: string;
  #isBegun = false;
  #summary: readonly JsonObject[] = [];
  #sealed: string | undefined;

  constructor(
    private readonly events: EventLog,
    readonly place: ItemPosition,
  ) {
    this.#place = `${placeMembers(place)},"summary_index":0`;
  }

  get empty(): JsonObject {
    return { type: 'reasoning', id: this.place.id, summary: [] };
  }

  delta(text: string): void {
    if (!this.#isBegun) this.#part('response.reasoning_summary_part.added', '');
    this.#isBegun = true;
    this.events.add('response.reasoning_summary_text.delta', `${this.#place},"delta":${JSON.stringify(text)}`);
  }

  /** @param sealed opaque data to be sent back */
  endPart({ text }: ReasoningPart, sealed: string | undefined): void {
    this.#sealed = sealed;
    if (!this.#isBegun) return;
    this.events.add('response.reasoning_summary_text.done', `${this.#place},"text":${JSON.stringify(text)}`);
    this.#part('response.reasoning_summary_part.done', text);
    this.#summary = [summaryOf(text)];
  }

  whole(): JsonObject {
    const encrypted = this.#sealed === undefined ? {} : { encrypted_content: this.#sealed };
    return { ...this.empty, summary: this.#summary, ...encrypted };
  }

  #part(type: string, text: string): void {
    this.events.add(type, `${this.#place},"part":${JSON.stringify(summaryOf(text))}`);
  }
}

/** A summary of the conversation, which only this relay reads back. */
export class CompactionItem implements ItemWriter {
  readonly #place: string;
  #sealed = '';

  constructor(
    private readonly events: EventLog,
    readonly place: ItemPosition,
  ) {
    this.#place = placeMembers(place);
  }

  get empty(): JsonObject {
    return { type: 'compaction', id: this.place.id, encrypted_content: this.#sealed };
  }

  /** Shows progress without content. */
  delta(): void {
    this.events.add('response.compaction.compacting', this.#place);
  }

  endPart(sealed: string): void {
    this.#sealed = sealed;
  }

  whole(): JsonObject {
    return this.empty;
  }
}

const summaryOf = (text: string): JsonObject => ({ type: 'summary_text', text });
