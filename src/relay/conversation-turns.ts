import { isJsonObject, newId } from '../platform/shared/index.js';
import type { Call, ScopedId } from '../protocols/contract/index.js';
import type { ConversationItem, ResponseOwner } from './stored-responses/index.js';

/** A call that continues a stored conversation, to which its input and output are added. */
export interface ConversationTurn {
  readonly owner: ResponseOwner;
  readonly id: string;
  /** The call's own input as JSON; kept, because the body is not. */
  readonly input: string;
}

/** ID of the conversation that a request names; undefined if none. */
export const conversationNamedBy = ({ head: { demands } }: Call): string | undefined =>
  demands?.scopedIds.find(({ kind }) => kind === 'conversation')?.id;

/** ID of the message from which a request continues a thread; undefined if none. Counts do not need the thread. */
export const threadNamedBy = ({ head: { demands, outside } }: Call): string | undefined =>
  outside === undefined ? undefined : demands?.scopedIds.find(({ kind }) => kind === 'thread')?.id;

/** The call without its references to what is stored here. */
export function withoutState(call: Call, named: ScopedId['kind']): Call {
  const { head } = call;
  if (head.demands === undefined) return call;
  const scopedIds = head.demands.scopedIds.filter(({ kind }) => kind !== named);
  return { ...call, head: { ...head, demands: { ...head.demands, scopedIds } } };
}

/** A request's own input as JSON. */
export function ownInputOf({ head: { fields } }: Call): string {
  const field = fields.field('input');
  return field === undefined ? '[]' : fields.text(field);
}

/** Items with IDs of their own where they have none. A string is a message of the user; references are not stored. */
export function itemsToStore(input: unknown): readonly ConversationItem[] {
  if (typeof input === 'string')
    return itemsToStore([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]);
  const items: readonly unknown[] = Array.isArray(input) ? input : [];
  return items.filter(isJsonObject).flatMap((item) => {
    const type = item['type'] ?? ('role' in item ? 'message' : 'item_reference');
    if (type === 'item_reference') return [];
    const { id: given } = item;
    const id = typeof given === 'string' && given !== '' && !given.includes('\0') ? given : newId('item', Date.now());
    return [{ id, text: JSON.stringify({ ...item, type, id }) }];
  });
}
