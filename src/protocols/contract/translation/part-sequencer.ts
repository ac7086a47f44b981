import type { Annotation, CallContent, OpaqueReasoning, ResponsePart } from './content.js';
import type { CallEvent, PartStart } from './events.js';

/** A part in progress: emitted and pending text. */
interface OpenPart {
  readonly key: string;
  readonly start: PartStart;
  text: string;
  /** Pending text, kept separately, since slicing the whole would copy it each time. */
  pending: string;
  readonly annotations: Annotation[];
  opaque: OpaqueReasoning | undefined;
  isFinished: boolean;
}

/** Arguments as servers send them for tools without any. */
const NO_ARGUMENTS = /^\s*(?:null\s*)?$/;
/** An object has begun: further text can be emitted immediately. */
const OBJECT_BEGUN = /^\s*\{/;

/**
 * Emits the parts of a response one at a time, in order of their start; deltas of later parts are buffered. Missing
 * arguments become `{}`; missing or duplicate IDs are replaced. Deltas after a part's end are ignored.
 */
export class PartSequencer {
  /** In order of their start; the first is being emitted. */
  private readonly lanes: OpenPart[] = [];
  private readonly known = new Map<string, OpenPart>();
  private readonly callIds = new Set<string>();
  /** Occurrences of each ID: servers that reuse one stay cheap. */
  private readonly copies = new Map<string, number>();
  /** IDs of calls in the conversation, computed on demand. */
  private earlierIds: ReadonlySet<string> | undefined;
  private isFrontStarted = false;
  private calls = 0;

  constructor(private readonly content: Pick<CallContent, 'turns'>) {}

  get callCount(): number {
    return this.calls;
  }

  /** The part being emitted; undefined between parts. */
  get front(): { readonly key: string; readonly start: PartStart; readonly text: string } | undefined {
    return this.lanes[0];
  }

  has(key: string): boolean {
    return this.known.has(key);
  }

  /** @param key the protocol's identification of the part */
  start(key: string, start: PartStart): CallEvent[] {
    const named = start.kind === 'tool-call' ? { ...start, id: this.freeId(start.id) } : start;
    const lane: OpenPart = {
      key,
      start: named,
      text: '',
      pending: '',
      annotations: [],
      opaque: undefined,
      isFinished: false,
    };
    this.known.set(key, lane);
    this.lanes.push(lane);
    return this.emit();
  }

  append(key: string, text: string): CallEvent[] {
    const lane = this.openLane(key);
    if (lane === undefined || text === '') return [];
    lane.text += text;
    lane.pending += text;
    return lane === this.lanes[0] ? this.emit() : [];
  }

  /** The complete text; the missing rest is emitted. */
  complete(key: string, text: string): CallEvent[] {
    const lane = this.openLane(key);
    return lane !== undefined && text.startsWith(lane.text) ? this.append(key, text.slice(lane.text.length)) : [];
  }

  annotate(key: string, annotation: Annotation): void {
    this.openLane(key)?.annotations.push(annotation);
  }

  seal(key: string, opaque: OpaqueReasoning): void {
    const lane = this.openLane(key);
    if (lane !== undefined) lane.opaque = opaque;
  }

  finish(key: string): CallEvent[] {
    const lane = this.openLane(key);
    if (lane === undefined) return [];
    lane.isFinished = true;
    return this.emit();
  }

  finishAll(): CallEvent[] {
    for (const lane of this.lanes) lane.isFinished = true;
    return this.emit();
  }

  private openLane(key: string): OpenPart | undefined {
    const lane = this.known.get(key);
    return lane === undefined || lane.isFinished ? undefined : lane;
  }

  private emit(): CallEvent[] {
    const events: CallEvent[] = [];
    for (let lane = this.lanes[0]; lane !== undefined; lane = this.lanes[0]) {
      if (!this.isFrontStarted) events.push({ type: 'part-start', start: lane.start });
      this.isFrontStarted = true;
      emitText(lane, events);
      if (!lane.isFinished) break;
      for (const annotation of lane.annotations) events.push({ type: 'part-annotation', annotation });
      if (lane.opaque !== undefined) events.push({ type: 'part-seal', opaque: lane.opaque });
      events.push({ type: 'part-end', part: partOf(lane) });
      this.lanes.shift();
      this.isFrontStarted = false;
    }
    return events;
  }

  /** The ID, or a variant if another call has it. */
  private freeId(id: string): string {
    this.calls += 1;
    const wanted = id === '' ? this.newId() : id;
    let copy = this.copies.get(wanted) ?? 1;
    let free = wanted;
    while (this.callIds.has(free)) {
      copy += 1;
      free = `${wanted}_${copy}`;
    }
    this.copies.set(wanted, copy);
    this.callIds.add(free);
    return free;
  }

  /** Unique within the conversation, since clients match results by ID. */
  private newId(): string {
    const taken = (this.earlierIds ??= callIdsIn(this.content));
    let number = taken.size + this.calls;
    while (taken.has(`call_${number}`)) number += 1;
    return `call_${number}`;
  }
}

const callIdsIn = ({ turns }: Pick<CallContent, 'turns'>): ReadonlySet<string> =>
  new Set(turns.flatMap(({ parts }) => parts).flatMap((part) => (part.kind === 'tool-call' ? [part.id] : [])));

function emitText(lane: OpenPart, events: CallEvent[]): void {
  if (takesJson(lane.start) && lane.pending.length === lane.text.length) {
    if (lane.isFinished && NO_ARGUMENTS.test(lane.text)) lane.text = lane.pending = '{}';
    // It may still turn out to be empty.
    else if (!lane.isFinished && !OBJECT_BEGUN.test(lane.text)) return;
  }
  if (lane.pending !== '') events.push({ type: 'part-delta', text: lane.pending });
  lane.pending = '';
}

const takesJson = (start: PartStart): boolean => start.kind === 'tool-call' && start.isFreeform !== true;

function partOf({ start, text, annotations, opaque }: OpenPart): ResponsePart {
  switch (start.kind) {
    case 'tool-call':
      return { ...start, arguments: text };
    case 'reasoning':
      return { kind: 'reasoning', text, ...(opaque !== undefined && { opaque }) };
    case 'text':
      return { kind: 'text', text, ...(annotations.length > 0 && { annotations }) };
    case 'refusal':
    case 'compaction':
      return { kind: start.kind, text };
    default:
      return start satisfies never;
  }
}
