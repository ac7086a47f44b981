import { malformed, notTranslatable, pairResults, type Part, reminder, type TreeObject } from '../contract/index.js';
import type { RequestBuild } from './gemini.build-context.js';
import { PartWriter } from './gemini.build-parts.js';
import { placeSignatures, startOfLoop } from './gemini.signatures.js';

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: TreeObject[];
}

/** The conversation. @throws AppError invalid_request for what this dialect cannot hold */
export function buildContents(build: RequestBuild): readonly TreeObject[] {
  const { content, losses, flags, target } = build;
  const turns = pairResults(content.turns, losses);
  const writer = new PartWriter(build);
  const contents: Content[] = [];
  const checkedFrom = flags.thinkingMode === 'level' ? startOfLoop(turns) : turns.length;
  for (const [index, { role, parts }] of turns.entries()) {
    if (role === 'system') join(contents, 'user', writer.said(parts.map(asReminder)));
    else if (role === 'user') join(contents, 'user', writer.said(parts));
    else join(contents, 'model', writer.answered(parts, placeSignatures(parts, target.family, index >= checkedFrom)));
  }
  const [first] = contents;
  if (first === undefined) throw malformed('messages', 'must contain user content');
  if (contents.at(-1)?.role === 'model' && !flags.takesPrefill) {
    throw notTranslatable(
      'messages',
      'this model does not support assistant prefill: the last message must be from the user',
    );
  }
  if (first.role === 'user') return contents.map(asTree);
  losses.warn('user_message_inserted', 'messages');
  return [{ role: 'user', parts: [{ text: '.' }] }, ...contents.map(asTree)];
}

const asTree = ({ role, parts }: Content): TreeObject => ({ role, parts });

/** A content of its own, or more of the one before it, which was the same side's. */
function join(contents: Content[], role: Content['role'], parts: readonly TreeObject[]): void {
  const last = contents.at(-1);
  if (parts.length === 0) return;
  if (last?.role !== role) contents.push({ role, parts: [...parts] });
  // There may be more of them than a call can have arguments.
  else for (const part of parts) last.parts.push(part);
}

/** Instructions stand in front of a conversation only; within it the user says them. */
const asReminder = (part: Part): Part => (part.kind === 'text' ? { ...part, text: reminder(part.text) } : part);
