import {
  asReminder,
  audioUnsupported,
  type BuildContext,
  type CacheMark,
  type CallContent,
  conforming,
  type FilePart,
  type ImagePart,
  INSERTED_USER_TEXT,
  isObjectText,
  malformed,
  type NameRule,
  pairResults,
  type Part,
  prefillUnsupported,
  RawJson,
  type ReasoningPart,
  type ToolCallPart,
  type ToolNames,
  type ToolResultPart,
  type TreeObject,
  type Turn,
  unsupported,
  type UpstreamTarget,
  wrapFreeform,
} from '../contract/index.js';
import type { MessagesFlags } from './flags.js';

export interface MessagesBuild extends BuildContext {
  readonly target: UpstreamTarget;
  readonly flags: MessagesFlags;
  readonly names: ToolNames;
  readonly marks: CacheMarks;
}

const MAX_MARKS = 4;
/** Other protocols have other lifetimes. */
const LIFETIMES: readonly unknown[] = ['5m', '1h'];

/** Cache breakpoints of a prompt. The protocol allows four: the last ones reach furthest. */
export class CacheMarks {
  private surplus: number;

  constructor(content: CallContent) {
    this.surplus = countMarks(content) - MAX_MARKS;
  }

  /** The breakpoint member of a block. Call once per part, in prompt order. */
  on({ cache }: { readonly cache?: CacheMark | undefined }): { readonly cache_control?: TreeObject } {
    if (cache === undefined) return {};
    this.surplus -= 1;
    return this.surplus >= 0 ? {} : { cache_control: markOf(cache.ttl) };
  }
}

export const markOf = (ttl?: string): TreeObject => ({
  type: 'ephemeral',
  ttl: LIFETIMES.includes(ttl) ? ttl : undefined,
});

export function countMarks({ tools, lead, turns }: CallContent): number {
  const parts = turns.flatMap((turn) => turn.parts);
  const nested = parts.flatMap((part) => (part.kind === 'tool-result' ? part.parts : []));
  return [...tools, ...lead, ...parts, ...nested].filter((part) => 'cache' in part && part.cache !== undefined).length;
}

interface Message {
  readonly role: Turn['role'];
  readonly content: TreeObject[];
}

/** @throws AppError invalid_request for unsupported content */
export function buildMessages(build: MessagesBuild): readonly TreeObject[] {
  const { content, warnings, flags } = build;
  const writer = new BlockWriter(build);
  const messages: Message[] = [];
  for (const turn of pairResults(content.turns, warnings)) {
    if (turn.role === 'system') addInstruction(messages, turn, writer, flags);
    else join(messages, turn.role, writer.writeAll(inOrder(turn.parts), turn.role));
  }
  endPrefill(messages, flags);
  const [first] = messages;
  if (first === undefined) throw malformed('messages', 'must contain user content');
  if (first.role !== 'assistant') return messages.map(asTree);
  warnings.warn('user_message_inserted', 'messages');
  return [{ role: 'user', content: [{ type: 'text', text: INSERTED_USER_TEXT }] }, ...messages.map(asTree)];
}

const asTree = ({ role, content }: Message): TreeObject => ({ role, content });

/** In place if the model supports it; otherwise after the user's text, so that the prefix stays cached. */
function addInstruction(messages: Message[], turn: Turn, writer: BlockWriter, flags: MessagesFlags): void {
  const before = messages.at(-1)?.role;
  const isNative = flags.takesSystemTurns && (before === 'user' || before === 'system');
  const parts = isNative ? turn.parts : turn.parts.map(asReminder);
  join(messages, isNative ? 'system' : 'user', writer.writeAll(parts, 'system'));
}

/** Adds a message or merges it into the previous one of the same role. */
function join(messages: Message[], role: Turn['role'], blocks: readonly TreeObject[]): void {
  const last = messages.at(-1);
  if (blocks.length === 0) return;
  if (last?.role !== role) messages.push({ role, content: [...blocks] });
  // Too many for spread arguments.
  else for (const block of blocks) last.content.push(block);
}

/** Order within a message: reasoning first, tool calls last. */
const RANKS: Readonly<Partial<Record<Part['kind'], number>>> = { reasoning: 0, 'tool-result': 0, 'tool-call': 2 };
const rankOf = ({ kind }: Part): number => RANKS[kind] ?? 1;

const inOrder = (parts: readonly Part[]): readonly Part[] =>
  parts.toSorted((one, other) => rankOf(one) - rankOf(other));

/** Prefilled text must not end with white space, and newer models reject prefill. */
function endPrefill(messages: readonly Message[], { takesPrefill }: MessagesFlags): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || typeof block?.['text'] !== 'string') return;
  if (!takesPrefill) throw prefillUnsupported();
  last.content[last.content.length - 1] = { ...block, text: block['text'].trimEnd() };
}

/** Whether reasoning is missing in the middle of tool calls: models with budgets reject that. */
export function lacksReasoning(turns: readonly Turn[], family: string): boolean {
  const [caller, reply] = turns.filter(({ role }) => role !== 'system').slice(-2);
  const isLoop = reply?.parts.some((part): part is ToolResultPart => part.kind === 'tool-result') === true;
  return isLoop && caller?.parts.some((part) => isReplayable(part, family)) !== true;
}

const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** Blank texts are rejected. */
const hasText = (text: string): boolean => text.trim() !== '';

/** Whether the part is reasoning that this upstream must get back. */
const isReplayable = (part: Part, family: string): part is ReasoningPart =>
  part.kind === 'reasoning' &&
  part.opaque?.family === family &&
  (part.opaque.kind === 'signature' || part.opaque.kind === 'redacted');

class BlockWriter {
  private readonly ids = new ToolIds();

  constructor(private readonly build: MessagesBuild) {}

  writeAll(parts: readonly Part[], role: Turn['role']): readonly TreeObject[] {
    return parts.flatMap((part) => this.write(part, role));
  }

  /** Empty if the part has no text or is unsupported. */
  private write(part: Part, role: Turn['role']): readonly TreeObject[] {
    switch (part.kind) {
      case 'text':
        return hasText(part.text) ? [{ type: 'text', text: part.text, ...this.build.marks.on(part) }] : [];
      case 'refusal':
        return hasText(part.text) ? [{ type: 'text', text: part.text }] : [];
      case 'image':
      case 'file':
        return role === 'assistant' ? this.drop() : [this.shown(part)];
      case 'audio':
        throw audioUnsupported();
      case 'reasoning':
        return isReplayable(part, this.build.target.family) ? [reasoningBlock(part)] : [];
      case 'tool-call':
        return [this.call(part)];
      case 'tool-result':
        return [this.result(part)];
      default:
        return part satisfies never;
    }
  }

  /** Images in assistant turns are dropped. */
  private drop(): readonly TreeObject[] {
    this.build.warnings.warn('unsupported_content', 'messages');
    return [];
  }

  private shown(part: ImagePart | FilePart): TreeObject {
    const mark = this.build.marks.on(part);
    if (part.kind === 'image') return { type: 'image', source: this.imageSource(part), ...mark };
    return { type: 'document', source: documentSource(part), title: part.name, ...mark };
  }

  private imageSource({ source }: ImagePart): TreeObject {
    if (source.from === 'url') {
      if (!this.build.flags.takesImageUrls) throw unsupported('messages', 'contain an image URL; send the image data');
      return { type: 'url', url: source.url };
    }
    if (!IMAGE_TYPES.includes(source.mediaType)) {
      throw unsupported('messages', `contain an image of the type ${source.mediaType}; send ${IMAGE_TYPES.join(', ')}`);
    }
    return { type: 'base64', media_type: source.mediaType, data: source.base64 };
  }

  private call(part: ToolCallPart): TreeObject {
    return {
      type: 'tool_use',
      id: this.ids.ofCall(part.id),
      name: this.build.names.wireName(part.name, part.namespace),
      input: inputOf(part),
      ...this.build.marks.on(part),
    };
  }

  private result(part: ToolResultPart): TreeObject {
    const blocks = this.writeAll(part.parts, 'user');
    const empty = this.build.flags.emptyResult === '' ? [] : [{ type: 'text', text: this.build.flags.emptyResult }];
    const content = blocks.length > 0 ? blocks : empty;
    return {
      type: 'tool_result',
      tool_use_id: this.ids.ofResult(part.id),
      content: content.length > 0 ? content : undefined,
      is_error: part.isError ? true : undefined,
      ...this.build.marks.on(part),
    };
  }
}

function reasoningBlock({ opaque }: ReasoningPart): TreeObject {
  if (opaque?.kind === 'redacted') return { type: 'redacted_thinking', data: opaque.data };
  return { type: 'thinking', thinking: opaque?.text, signature: opaque?.data };
}

function documentSource({ source }: FilePart): TreeObject {
  if (source.from === 'url') return { type: 'url', url: source.url };
  if (source.from === 'text') return plainText(source.text);
  const { mediaType, base64 } = source;
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: base64 };
  if (mediaType.startsWith('text/')) return plainText(Buffer.from(base64, 'base64').toString());
  throw unsupported('messages', `contain a file of the type ${mediaType}; send PDF or plain text`);
}

const plainText = (data: string): TreeObject => ({ type: 'text', media_type: 'text/plain', data });

/** Only objects are allowed: other arguments are wrapped. */
function inputOf({ arguments: text, isFreeform }: ToolCallPart): RawJson {
  return new RawJson(isFreeform !== true && isObjectText(text) ? text : wrapFreeform(text));
}

const RULE: NameRule = { maxLength: Infinity, invalid: /[^a-zA-Z0-9_-]/g };

/** Unique wire IDs of tool calls: other protocols may repeat IDs in later turns. */
class ToolIds {
  private readonly taken = new Set<string>();
  /** Uses of each ID, and calls without a result. */
  private readonly known = new Map<string, { copies: number; readonly open: string[] }>();

  ofCall(id: string): string {
    const known = this.known.get(id) ?? { copies: 0, open: [] };
    const wanted = conforming(id, RULE);
    let free = wanted;
    while (this.taken.has(free)) free = `${wanted}_${(known.copies += 1) + 1}`;
    this.taken.add(free);
    this.known.set(id, known);
    known.open.push(free);
    return free;
  }

  /** In order of the calls. */
  ofResult(id: string): string {
    return this.known.get(id)?.open.shift() ?? conforming(id, RULE);
  }
}
