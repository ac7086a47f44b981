// The protocols of the load generator and the upstream.
import { chatCompletions } from './chat-completions.ts';
import { messages } from './messages.ts';
import type { ProtocolEndpoint } from './protocol.ts';
import { responses } from './responses.ts';

export const PROTOCOLS: readonly ProtocolEndpoint[] = [chatCompletions, messages, responses];

/** @throws if the protocol is unknown */
export function protocolOf(id: string): ProtocolEndpoint {
  const protocol = PROTOCOLS.find((known) => known.id === id);
  if (protocol === undefined)
    throw new Error(`Unknown protocol ${id}. Supported: ${PROTOCOLS.map((known) => known.id).join(', ')}.`);
  return protocol;
}
