/** Requests and responses of the kit and the matrix, independent of protocols. */

import type { NeutralRequest, NeutralToolCall } from '../support/neutral-request.js';
import type { NeutralResponse } from '../support/neutral-response.js';
import { type ResponseOptions, THOUGHT, TIME_CALL, WEATHER_CALL } from '../support/scripted-content.js';

/** One pixel, in base64. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

export const TOOLS = [
  { name: 'get_weather', description: 'Looks out of the window.', schema: SCHEMA },
  { name: 'get_time', schema: { type: 'object', properties: {} } },
];

export const HELLO: NeutralRequest = { turns: [{ by: 'user', text: 'Hello ☃ 😀' }], outputLimit: 500 };
export const WITH_TOOLS: NeutralRequest = { ...HELLO, tools: TOOLS };

export const CALLED: readonly [NeutralToolCall, NeutralToolCall] = [
  { id: 'call_9', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  { id: 'call_10', name: 'get_time', arguments: '{}' },
];

/** A call and its result, with text around them. */
export const ANSWERED_CALL: NeutralRequest = {
  ...WITH_TOOLS,
  turns: [
    ...HELLO.turns,
    { by: 'assistant', text: 'Let me see.', calls: [CALLED[0]] },
    { by: 'tool', id: 'call_9', text: 'Snow.' },
    { by: 'user', text: 'Well?' },
  ],
};

/** Two calls in one turn with results. */
export const ANSWERED_CALLS: NeutralRequest = {
  ...WITH_TOOLS,
  turns: [
    ...HELLO.turns,
    { by: 'assistant', calls: CALLED },
    { by: 'tool', id: 'call_9', text: 'Snow.' },
    { by: 'tool', id: 'call_10', text: 'Noon.' },
  ],
};

export const PICTURED: NeutralRequest = { ...HELLO, turns: [{ by: 'user', text: 'What is this?', image: PIXEL }] };

export const PICTURED_RESULT: NeutralRequest = {
  ...WITH_TOOLS,
  turns: [
    ...HELLO.turns,
    { by: 'assistant', calls: [CALLED[0]] },
    { by: 'tool', id: 'call_9', text: 'A picture:', image: PIXEL },
  ],
};

/** Choices of tools, and a forced one. */
export const CHOICES = ['auto', 'required', 'none'] as const;
export const ONE_TOOL: NeutralRequest = { ...WITH_TOOLS, toolChoice: { name: 'get_time' } };

export const USAGE = { prompt: 1000, cacheRead: 0, completion: 200, reasoning: 0 };
export const SAID: NeutralResponse = { text: '', reasoning: '', refusal: '', calls: [], stop: 'end', usage: USAGE };

export const WEATHER = 'call_9 get_weather {"city":"Oslo"}';
export const TIME = 'call_10 get_time {}';

export const CALLING: ResponseOptions = { toolCalls: [WEATHER_CALL] };
export const CALLING_TWICE: ResponseOptions = { toolCalls: [WEATHER_CALL, TIME_CALL] };
export const THINKING_AND_CALLING: ResponseOptions = { reasoning: THOUGHT, ...CALLING };

/** A response, and what is read of it. */
export const COUNTED: { readonly response: ResponseOptions; readonly received: Partial<NeutralResponse> } = {
  response: { usage: { prompt: 777, completion: 33 } },
  received: { text: 'Hello', usage: { ...USAGE, prompt: 777, completion: 33 } },
};

/** Responses that are read as written. */
export const LIMITED = { text: 'Once upon', stop: 'length' } as const;
export const FILTERED = { text: 'I', stop: 'filter' } as const;
