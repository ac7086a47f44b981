import type { TextPlaces } from '../contract/index.js';

/** Official names, and those that servers of this dialect are accustomed to. */
const TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal', 'name', 'arguments', 'input'];

/** Where the words of a call stand in this dialect. */
export const CHAT_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['messages'],
    definitions: ['tools', 'functions', 'response_format'],
    silent: ['role', 'type', 'id', 'tool_call_id', 'image_url', 'detail', 'file_id', 'format', 'cache_control'],
    whole: [],
  },
  answer: { within: ['choices'], texts: TEXTS },
};
