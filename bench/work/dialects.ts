// Every dialect that the work can be done in.
import { chatCompletions } from './chat-completions.ts';
import type { Dialect } from './dialect.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export const DIALECTS: readonly Dialect[] = [chatCompletions, messages, responses];

/** @throws when there is none of this name */
export function dialectOf(id: string): Dialect {
  const dialect = DIALECTS.find((known) => known.id === id);
  if (dialect === undefined)
    throw new Error(`There is no dialect ${id}; there are ${DIALECTS.map((known) => known.id).join(', ')}.`);
  return dialect;
}
