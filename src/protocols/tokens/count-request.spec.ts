import type { TextPlaces } from '../contract/index.js';
import { countRequest } from './count-tokens.js';

const places: TextPlaces = {
  prompt: { conversation: ['messages'], definitions: [], ignored: ['role'], whole: [] },
  response: { within: ['choices'], texts: ['content', 'name'] },
};
const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const prompt = bytes({ messages: [{ role: 'user', content: 'hello' }] });

describe('countRequest', () => {
  it('counts model output of a complete response only', () => {
    const response = bytes({ name: 'hello', choices: [{ message: { content: 'hello hello', name: 'hello' } }] });
    expect(countRequest({ prompt, response, places })).toEqual({ prompt: 8, output: 3 });
  });

  it('counts output in several root members, one of which may be text', () => {
    const response = bytes({ content: 'hello', calls: [{ name: 'hello' }], note: 'hello' });
    const several = { ...places, response: { within: ['content', 'calls'], texts: ['content', 'name'] } };
    expect(countRequest({ prompt, response, places: several })).toMatchObject({ output: 2 });
  });

  it('counts kept texts of a stream separately', () => {
    expect(countRequest({ prompt, response: ['hello', 'hello'], places })).toEqual({ prompt: 8, output: 2 });
  });

  it('reads views of larger buffers', () => {
    const memory = Buffer.concat([Buffer.from('xxx'), prompt, Buffer.from('yyy')]);
    const part = memory.subarray(3, 3 + prompt.length);
    expect(countRequest({ prompt: part, response: [], places })).toEqual({ prompt: 8, output: 0 });
  });

  it('reports only the name of an error', () => {
    expect(countRequest({ prompt: Buffer.from('{"a": secret}'), response: [], places })).toEqual({
      error: 'SyntaxError',
    });
  });
});
