/**
 * Abilities that Telegraph has no member for, on both sides, each with the reason that the report shows. The kit skips
 * their tests, but checks that requests for them are rejected or get a warning.
 */
export const TELEGRAPH_LACKS = {
  'one call at a time': 'no member limits the number of tool calls',
  images: 'a line is text',
  'images in results': 'a line is text',
  'JSON of a schema': 'responses cannot be constrained: the prompt asks for the schema',
  'stop texts': 'no member for stop sequences: the relay enforces them',
  'reasoning shown': 'reasoning is counted but not sent',
  'reasoning given back': 'reasoning is counted but not sent',
};
