import { type CallEvent, type PartSequencer, type ToolNames, unwrapFreeform } from '../contract/index.js';
import type { CallFragment } from './chat-completions.delta.js';

/** A tool call on its way. */
interface CallLane {
  readonly key: string;
  id: string;
  name: string;
  readonly isCustom: boolean;
  /** Its text stands within JSON, and is told when it is complete. */
  isWrapped: boolean;
  /** All of it that has come. */
  text: string;
  hasBegun: boolean;
}

/** Puts the fragments of tool calls together, by whatever the upstream tells them apart. */
export class DecodedCalls {
  private readonly lanes = new Map<string, CallLane>();
  /** The call that a number or a place in the list means at present. */
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
    // Ids come late from some; what has come until then waits for them.
    if (!lane.hasBegun) return lane.id === '' ? events : [...events, ...this.begin(lane)];
    return lane.isWrapped ? events : [...events, ...this.sequencer.append(lane.key, fragment.text)];
  }

  /** Something else is said than this call: the others begin at last, and those whose arguments are whole end. */
  pause(current?: CallLane): CallEvent[] {
    const events: CallEvent[] = [];
    for (const lane of this.lanes.values()) if (lane !== current && !lane.hasBegun) events.push(...this.begin(lane));
    for (let lane = this.front(); lane !== undefined && lane !== current && isWhole(lane); lane = this.front()) {
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
    const isKnown = known !== undefined && !isAnother(known, fragment);
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

  /** Nothing happens to a call that has no name: nobody could answer it. */
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
    const told = isWrapped ? this.sequencer.append(key, unwrapFreeform(text)) : [];
    return [...told, ...this.sequencer.finish(key)];
  }

  private front(): CallLane | undefined {
    return this.lanes.get(this.sequencer.front?.key ?? '');
  }
}

/**
 * Whether the fragment begins another call than the one that its number meant: one of another id or, where there are no
 * ids, of another name, or with arguments behind those that are whole. Numbers are used twice; and servers exist that make
 * a new id for each fragment.
 */
function isAnother(lane: CallLane, fragment: CallFragment): boolean {
  const { id, name, isCustom } = lane;
  if (name === '' || fragment.name === '') return false;
  if (id !== '' && fragment.id !== '') return fragment.id !== id;
  return fragment.name !== name || (!isCustom && /^\s*\{/.test(fragment.text) && isWhole(lane));
}

/** Text that is no JSON is whole when the next thing is said. */
function isWhole({ isCustom, text }: CallLane): boolean {
  if (isCustom) return true;
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
