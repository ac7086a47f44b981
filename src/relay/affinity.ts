import { type Call, headerOf } from '../protocols/contract/index.js';
import { type Affinity, affinityOf } from './routing/index.js';
import type { Caller } from '../keys/index.js';

/** By which clients name a conversation, the surest first: agents send one of them with every call. */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'thread-id',
  'x-session-id',
  'x-conversation-id',
  'session_id',
  'conversation_id',
] as const;
/** A longer one is read up to here. */
const MAX_LENGTH = 256;

/**
 * What keeps the calls of one conversation with one channel, whose cache knows how they begin; undefined when the client
 * says nothing of it. What it says of caches counts before its sessions, and these before its users. Of an account: names
 * are only the client's own.
 */
export function affinityOfCall(
  { head, request }: Call,
  { accountId }: Pick<Caller, 'accountId'>,
): Affinity | undefined {
  const name = head.affinity?.cache ?? sessionIn(request) ?? head.affinity?.user;
  return name === undefined ? undefined : affinityOf(accountId, name.slice(0, MAX_LENGTH));
}

function sessionIn(request: Call['request']): string | undefined {
  for (const name of SESSION_HEADERS) {
    const value = headerOf(request, name);
    if (value !== undefined) return value;
  }
  return undefined;
}
