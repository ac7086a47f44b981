import type { Annotation, ResponsePart, CallContent, OpaqueReasoning } from './content.js';
import type { CallEvent, PartStart } from './events.js';

/** A part on its way: what has been told of it, and what waits until the parts before it are complete. */
interface Lane {
  readonly key: string;
  readonly start: PartStart;
  /** All of it that has come. */
  text: string;
  /** The end of it that has not been told yet: to cut it off the whole would cost a copy of the whole each time. */
  untold: string;
  readonly annotations: Annotation[];
  opaque: OpaqueReasoning | undefined;
  isFinished: boolean;
}

/** What servers write where a tool takes nothing. */
const NO_ARGUMENTS = /^\s*(?:null\s*)?$/;
/** An object has begun: what comes from here on can be told at once. */
const OBJECT_BEGUN = /^\s*\{/;

/**
 * Puts the parts of one answer in order, for decoders: one is told at a time, in the order in which they began; what
 * comes of later ones meanwhile is kept. Arguments of tools that are missing become `{}`, ids that are missing or taken
 * are made, unlike any that the conversation has already. Whatever is said of a part that is finished is ignored.
 */
export class PartSequencer {
  /** In order of their beginning; the first is the one that is being told. */
  private readonly lanes: Lane[] = [];
  private readonly known = new Map<string, Lane>();
  private readonly callIds = new Set<string>();
  /** How often an id has come: a server that has one for all calls costs no more than others. */
  private readonly copies = new Map<string, number>();
  /** Of the calls in the conversation, once they have been asked for. */
  private earlierIds: ReadonlySet<string> | undefined;
  private isFrontTold = false;
  private calls = 0;

  /** @param content of the call that is answered */
  constructor(private readonly content: Pick<CallContent, 'turns'>) {}

  /** Tool calls so far. */
  get callCount(): number {
    return this.calls;
  }

  /** The part that is being told; undefined between parts. */
  get front(): { readonly key: string; readonly start: PartStart; readonly text: string } | undefined {
    return this.lanes[0];
  }

  has(key: string): boolean {
    return this.known.has(key);
  }

  /** @param key by which the dialect tells its parts apart; each begins once */
  start(key: string, start: PartStart): CallEvent[] {
    const named = start.kind === 'tool-call' ? { ...start, id: this.freeId(start.id) } : start;
    const lane: Lane = {
      key,
      start: named,
      text: '',
      untold: '',
      annotations: [],
      opaque: undefined,
      isFinished: false,
    };
    this.known.set(key, lane);
    this.lanes.push(lane);
    return this.tell();
  }

  append(key: string, text: string): CallEvent[] {
    const lane = this.openLane(key);
    if (lane === undefined || text === '') return [];
    lane.text += text;
    lane.untold += text;
    return lane === this.lanes[0] ? this.tell() : [];
  }

  /** The whole text of a part, as some dialects repeat it: what the deltas lack of it is told. */
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

  /** The part is complete, and so told as soon as it is its turn. */
  finish(key: string): CallEvent[] {
    const lane = this.openLane(key);
    if (lane === undefined) return [];
    lane.isFinished = true;
    return this.tell();
  }

  finishAll(): CallEvent[] {
    for (const lane of this.lanes) lane.isFinished = true;
    return this.tell();
  }

  private openLane(key: string): Lane | undefined {
    const lane = this.known.get(key);
    return lane === undefined || lane.isFinished ? undefined : lane;
  }

  private tell(): CallEvent[] {
    const events: CallEvent[] = [];
    for (let lane = this.lanes[0]; lane !== undefined; lane = this.lanes[0]) {
      if (!this.isFrontTold) events.push({ type: 'part-start', start: lane.start });
      this.isFrontTold = true;
      tellText(lane, events);
      if (!lane.isFinished) break;
      for (const annotation of lane.annotations) events.push({ type: 'part-annotation', annotation });
      if (lane.opaque !== undefined) events.push({ type: 'part-seal', opaque: lane.opaque });
      events.push({ type: 'part-end', part: partOf(lane) });
      this.lanes.shift();
      this.isFrontTold = false;
    }
    return events;
  }

  /** The id itself when no other call of the answer has it. */
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

  /** Clients keep the results of a whole conversation apart by the ids of its calls. */
  private newId(): string {
    const taken = (this.earlierIds ??= callIdsIn(this.content));
    let number = taken.size + this.calls;
    while (taken.has(`call_${number}`)) number += 1;
    return `call_${number}`;
  }
}

const callIdsIn = ({ turns }: Pick<CallContent, 'turns'>): ReadonlySet<string> =>
  new Set(turns.flatMap(({ parts }) => parts).flatMap((part) => (part.kind === 'tool-call' ? [part.id] : [])));

function tellText(lane: Lane, events: CallEvent[]): void {
  if (takesJson(lane.start) && lane.untold.length === lane.text.length) {
    if (lane.isFinished && NO_ARGUMENTS.test(lane.text)) lane.text = lane.untold = '{}';
    // What is no object yet may still turn out to be nothing.
    else if (!lane.isFinished && !OBJECT_BEGUN.test(lane.text)) return;
  }
  if (lane.untold !== '') events.push({ type: 'part-delta', text: lane.untold });
  lane.untold = '';
}

const takesJson = (start: PartStart): boolean => start.kind === 'tool-call' && start.isFreeform !== true;

function partOf({ start, text, annotations, opaque }: Lane): ResponsePart {
  switch (start.kind) {
    case 'tool-call':
      return { ...start, arguments: text };
    case 'reasoning':
      return { kind: 'reasoning', text, ...(opaque !== undefined && { opaque }) };
    case 'text':
      return { kind: 'text', text, ...(annotations.length > 0 && { annotations }) };
    case 'refusal':
      return { kind: 'refusal', text };
    default:
      return start satisfies never;
  }
}
