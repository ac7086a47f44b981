import type { TextPlaces } from '../contract/index.js';

const TEXTS = ['text', 'thinking', 'name', 'input', 'partial_json'];

/** Where the words of a call stand in this dialect. */
export const MESSAGES_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['system', 'messages'],
    definitions: ['tools'],
    silent: ['role', 'type', 'id', 'tool_use_id', 'media_type', 'url', 'file_id', 'signature', 'cache_control'],
    whole: ['input'],
  },
  answer: { within: ['content'], texts: TEXTS },
};
