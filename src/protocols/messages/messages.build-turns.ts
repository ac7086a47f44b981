import {
  malformed,
  notTranslatable,
  pairResults,
  type Part,
  reminder,
  type ToolResultPart,
  type TreeObject,
  type Turn,
} from '../contract/index.js';
import { BlockWriter, isReplayable } from './messages.build-blocks.js';
import type { RequestBuild } from './messages.build-context.js';
import type { MessagesFlags } from './messages.flags.js';

interface Message {
  readonly role: Turn['role'];
  readonly content: TreeObject[];
}

/** The conversation, as the rules of this dialect want it. @throws AppError invalid_request for what it cannot hold */
export function buildMessages(build: RequestBuild): readonly TreeObject[] {
  const { content, losses, flags } = build;
  const writer = new BlockWriter(build);
  const messages: Message[] = [];
  for (const turn of pairResults(content.turns, losses)) {
    if (turn.role === 'system') addInstruction(messages, turn, writer, flags);
    else join(messages, turn.role, writer.writeAll(inOrder(turn.parts), turn.role));
  }
  endPrefill(messages, flags);
  const [first] = messages;
  if (first === undefined) throw malformed('messages', 'must contain user content');
  if (first.role !== 'assistant') return messages.map(asTree);
  losses.warn('user_message_inserted', 'messages');
  return [{ role: 'user', content: [{ type: 'text', text: '.' }] }, ...messages.map(asTree)];
}

const asTree = ({ role, content }: Message): TreeObject => ({ role, content });

/** In its place if the model allows that; behind what the user says, if not, so that what stands before it stays the same. */
function addInstruction(messages: Message[], turn: Turn, writer: BlockWriter, flags: MessagesFlags): void {
  const before = messages.at(-1)?.role;
  const isNative = flags.takesSystemTurns && (before === 'user' || before === 'system');
  const parts = isNative ? turn.parts : turn.parts.map(asReminder);
  join(messages, isNative ? 'system' : 'user', writer.writeAll(parts, 'system'));
}

/** A message of its own, or more of the one before it, which was the same side's. */
function join(messages: Message[], role: Turn['role'], blocks: readonly TreeObject[]): void {
  const last = messages.at(-1);
  if (blocks.length === 0) return;
  if (last?.role !== role) messages.push({ role, content: [...blocks] });
  // There may be more of them than a call can have arguments.
  else for (const block of blocks) last.content.push(block);
}

/** Thoughts lead, calls come last; each kind stays in its order. */
const RANKS: Readonly<Partial<Record<Part['kind'], number>>> = { reasoning: 0, 'tool-result': 0, 'tool-call': 2 };
const rankOf = ({ kind }: Part): number => RANKS[kind] ?? 1;

const inOrder = (parts: readonly Part[]): readonly Part[] =>
  parts.toSorted((one, other) => rankOf(one) - rankOf(other));

const asReminder = (part: Part): Part => (part.kind === 'text' ? { ...part, text: reminder(part.text) } : part);

/** What the assistant has begun to say: it may not end in white space, and newer models do not let it be begun at all. */
function endPrefill(messages: readonly Message[], { takesPrefill }: MessagesFlags): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || typeof block?.['text'] !== 'string') return;
  if (!takesPrefill)
    throw notTranslatable(
      'messages',
      'this model does not support assistant prefill: the last message must be from the user',
    );
  last.content[last.content.length - 1] = { ...block, text: block['text'].trimEnd() };
}

/**
 * Whether the model is in the middle of calling tools and its thoughts are not there: with a budget it must not think on
 * then.
 */
export function lacksReasoning(turns: readonly Turn[], family: string): boolean {
  const [caller, answer] = turns.filter(({ role }) => role !== 'system').slice(-2);
  const isLoop = answer?.parts.some((part): part is ToolResultPart => part.kind === 'tool-result') === true;
  return isLoop && caller?.parts.some((part) => isReplayable(part, family)) !== true;
}
