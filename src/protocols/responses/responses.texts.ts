import type { TextPlaces } from '../contract/index.js';

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
