/** Who says what in a conversation, as the specs of built requests write it. */

import type { Part, Turn } from '../../src/protocols/contract/index.js';

export const text = (said: string): Part => ({ kind: 'text', text: said });
export const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
export const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
