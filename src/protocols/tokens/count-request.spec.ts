import type { TextPlaces } from '../contract/index.js';
import { countRequest } from './count-tokens.js';

const places: TextPlaces = {
  prompt: { conversation: ['messages'], definitions: [], ignored: ['role'], whole: [] },
  response: { within: ['choices'], texts: ['content', 'name'] },
};
const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const prompt = bytes({ messages: [{ role: 'user', content: 'hello' }] });

describe('answerCount', () => {
  it('counts a whole answer where the model wrote, and nothing beside it', () => {
    const answer = bytes({ name: 'hello', choices: [{ message: { content: 'hello hello', name: 'hello' } }] });
    expect(countRequest({ prompt, response: answer, places })).toEqual({ prompt: 8, output: 3 });
  });

  it('counts an answer that stands in several members at its top, of which one may be the text itself', () => {
    const answer = bytes({ content: 'hello', calls: [{ name: 'hello' }], note: 'hello' });
    const several = { ...places, response: { within: ['content', 'calls'], texts: ['content', 'name'] } };
    expect(countRequest({ prompt, response: answer, places: several })).toMatchObject({ output: 2 });
  });

  it('counts texts that were kept of a stream each by itself', () => {
    expect(countRequest({ prompt, response: ['hello', 'hello'], places })).toEqual({ prompt: 8, output: 2 });
  });

  it('reads what lies within a larger piece of memory', () => {
    const memory = Buffer.concat([Buffer.from('xxx'), prompt, Buffer.from('yyy')]);
    const part = memory.subarray(3, 3 + prompt.length);
    expect(countRequest({ prompt: part, response: [], places })).toEqual({ prompt: 8, output: 0 });
  });

  it('says of what it cannot read nothing but the kind of fault', () => {
    expect(countRequest({ prompt: Buffer.from('{"a": secret}'), response: [], places })).toEqual({
      error: 'SyntaxError',
    });
  });
});
