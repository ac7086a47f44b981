// Every dialect that the work can be done in.
import { chatCompletions } from './chat-completions.ts';
import type { ProtocolEndpoint } from './dialect.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export const PROTOCOLS: readonly ProtocolEndpoint[] = [chatCompletions, messages, responses];

/** @throws when there is none of this name */
export function dialectOf(id: string): ProtocolEndpoint {
  const dialect = PROTOCOLS.find((known) => known.id === id);
  if (dialect === undefined)
    throw new Error(`There is no dialect ${id}; there are ${PROTOCOLS.map((known) => known.id).join(', ')}.`);
  return dialect;
}
