import { objectIn, parseData, type SseEvent, type TextPiece, type TextPlaces } from '../../call/index.js';

const TEXTS = ['text', 'refusal', 'name', 'arguments', 'input', 'code'];

/** Where the words of a call stand in this dialect. */
export const RESPONSES_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['instructions', 'input'],
    definitions: ['tools', 'text'],
    silent: [
      'role',
      'type',
      'id',
      'call_id',
      'status',
      'image_url',
      'detail',
      'file_id',
      'file_url',
      'encrypted_content',
    ],
    whole: [],
  },
  answer: { within: ['output'], texts: TEXTS },
};

const NAMED = 'response.output_item.added';
/** What a delta belongs to. */
const PLACES = ['output_index', 'content_index', 'summary_index'];

/** Deltas alone: behind them everything is said again, more than once. A call's name comes with its item. */
export function responsesTextsIn(event: SseEvent): readonly TextPiece[] {
  const data = parseData(event);
  const type = data?.['type'] ?? event.name;
  if (data === undefined || typeof type !== 'string') return [];
  const text = type === NAMED ? objectIn(data, 'item')['name'] : type.endsWith('.delta') ? data['delta'] : undefined;
  if (typeof text !== 'string') return [];
  return [{ lane: `${type} ${JSON.stringify(PLACES.map((name) => data[name]))}`, text }];
}
