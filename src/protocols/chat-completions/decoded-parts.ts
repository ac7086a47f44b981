import {
  type Annotation,
  type CallContent,
  type CallEvent,
  PartSequencer,
  ToolNames,
  unwrapFreeform,
} from '../contract/index.js';
import { TOOL_NAME } from './flags.js';
import type { CallFragment } from './wire.js';

type TextKind = 'text' | 'refusal' | 'reasoning';

/**
 * Separates parts, which this protocol does not: a text ends when something else comes, a tool call also needs complete
 * arguments.
 */
export class DecodedParts {
  private readonly sequencer: PartSequencer;
  private readonly calls: DecodedCalls;
  private passage: { readonly key: string; readonly kind: TextKind; text: string } | undefined;
  private passages = 0;

  constructor(
    content: CallContent,
    private readonly family: string,
  ) {
    this.sequencer = new PartSequencer(content);
    this.calls = new DecodedCalls(this.sequencer, new ToolNames(content.tools, TOOL_NAME));
  }

  get hasCalls(): boolean {
    return this.sequencer.callCount > 0;
  }

  text(kind: TextKind, text: string): CallEvent[] {
    if (text === '') return [];
    const begun = this.passage?.kind === kind ? [] : this.begin(kind);
    const { passage } = this;
    if (passage === undefined) return begun;
    passage.text += text;
    return [...begun, ...this.sequencer.append(passage.key, text)];
  }

  annotate(annotation: Annotation): void {
    if (this.passage !== undefined) this.sequencer.annotate(this.passage.key, annotation);
  }

  call(fragment: CallFragment): CallEvent[] {
    return [...this.endPassage(), ...this.calls.next(fragment)];
  }

  finish(): CallEvent[] {
    return [...this.endPassage(), ...this.calls.end(), ...this.sequencer.finishAll()];
  }

  private begin(kind: TextKind): CallEvent[] {
    const events = [...this.endPassage(), ...this.calls.pause()];
    const key = `passage ${(this.passages += 1)}`;
    this.passage = { key, kind, text: '' };
    return [...events, ...this.sequencer.start(key, { kind })];
  }

  private endPassage(): CallEvent[] {
    const { passage, family } = this;
    if (passage === undefined) return [];
    this.passage = undefined;
    const { key, kind, text } = passage;
    if (kind === 'reasoning') this.sequencer.seal(key, { kind: 'text', family, data: '', text });
    return this.sequencer.finish(key);
  }
}

interface CallLane {
  readonly key: string;
  id: string;
  name: string;
  readonly isCustom: boolean;
  /** Its text is wrapped in JSON and emitted when complete. */
  isWrapped: boolean;
  text: string;
  hasBegun: boolean;
}

/** Assembles fragments of tool calls, by whatever identifies them. */
class DecodedCalls {
  private readonly lanes = new Map<string, CallLane>();
  /** The call currently meant by an index or position. */
  private readonly slots = new Map<number, CallLane>();
  private readonly byId = new Map<string, CallLane>();

  constructor(
    private readonly sequencer: PartSequencer,
    private readonly names: ToolNames,
  ) {}

  next(fragment: CallFragment): CallEvent[] {
    const lane = this.laneOf(fragment);
    const events = this.pause(lane);
    lane.id ||= fragment.id;
    lane.name ||= fragment.name;
    if (lane.id !== '') this.byId.set(lane.id, lane);
    lane.text += fragment.text;
    // Some servers send the ID late; earlier text waits for it.
    if (!lane.hasBegun) return lane.id === '' ? events : [...events, ...this.begin(lane)];
    return lane.isWrapped ? events : [...events, ...this.sequencer.append(lane.key, fragment.text)];
  }

  /** Something else than this call continues: other calls start, and complete ones end. */
  pause(current?: CallLane): CallEvent[] {
    const events: CallEvent[] = [];
    for (const lane of this.lanes.values()) if (lane !== current && !lane.hasBegun) events.push(...this.begin(lane));
    for (let lane = this.front(); lane !== undefined && lane !== current && isComplete(lane); lane = this.front()) {
      events.push(...this.finish(lane));
    }
    return events;
  }

  end(): CallEvent[] {
    const events = this.pause();
    for (const lane of this.lanes.values()) events.push(...this.finish(lane));
    return events;
  }

  private laneOf(fragment: CallFragment): CallLane {
    const { index, position, id, isCustom } = fragment;
    const known = index === undefined ? (this.byId.get(id) ?? this.slots.get(position)) : this.slots.get(index);
    const isKnown = known !== undefined && !startsNewCall(known, fragment);
    const lane = isKnown ? known : this.newLane(isCustom);
    this.slots.set(index ?? position, lane);
    return lane;
  }

  private newLane(isCustom: boolean): CallLane {
    const key = `call ${this.lanes.size}`;
    const lane: CallLane = { key, id: '', name: '', isCustom, isWrapped: false, text: '', hasBegun: false };
    this.lanes.set(key, lane);
    return lane;
  }

  /** A call without a name is ignored: it could not be executed. */
  private begin(lane: CallLane): CallEvent[] {
    if (lane.name === '') return [];
    const { key, id, isCustom, text } = lane;
    const { name, namespace, freeform } = this.names.toolOf(lane.name);
    lane.hasBegun = true;
    lane.isWrapped = freeform !== undefined && !isCustom;
    const isFreeform = isCustom || lane.isWrapped || undefined;
    const events = this.sequencer.start(key, { kind: 'tool-call', id, name, namespace, isFreeform });
    return lane.isWrapped ? events : [...events, ...this.sequencer.append(key, text)];
  }

  private finish({ key, isWrapped, text }: CallLane): CallEvent[] {
    const remaining = isWrapped ? this.sequencer.append(key, unwrapFreeform(text)) : [];
    return [...remaining, ...this.sequencer.finish(key)];
  }

  private front(): CallLane | undefined {
    return this.lanes.get(this.sequencer.front?.key ?? '');
  }
}

/**
 * Whether a fragment starts a new call under a used index: with another ID, or without IDs another name, or arguments
 * after complete ones. Indexes are reused, and some servers create a new ID for each fragment.
 */
function startsNewCall(lane: CallLane, fragment: CallFragment): boolean {
  const { id, name, isCustom } = lane;
  if (name === '' || fragment.name === '') return false;
  if (id !== '' && fragment.id !== '') return fragment.id !== id;
  return fragment.name !== name || (!isCustom && /^\s*\{/.test(fragment.text) && isComplete(lane));
}

/** Text that is not JSON is complete when something else comes. */
function isComplete({ isCustom, text }: CallLane): boolean {
  if (isCustom) return true;
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
