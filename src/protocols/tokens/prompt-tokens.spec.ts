import type { PromptPlaces } from '../contract/index.js';
import { pieceTokens, promptTokens, tokensIn } from './count-tokens.js';

const PLACES: PromptPlaces = {
  conversation: ['system', 'messages'],
  definitions: ['tools'],
  ignored: ['role', 'type', 'id', 'image_url'],
  whole: ['input'],
};

const withContent = (content: unknown): number => promptTokens({ messages: [{ role: 'user', content }] }, PLACES);
/** Overhead of a prompt with one message. */
const AROUND = 7;

describe('promptTokens', () => {
  it("counts the vendor's cookbook example like its API: 124", () => {
    const example = (name: string, content: string): object => ({ role: 'system', name, content });
    const messages = [
      {
        role: 'system',
        content: 'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
      },
      example('example_user', 'New synergies will help drive top-line growth.'),
      example('example_assistant', 'Things working well together will increase revenue.'),
      example(
        'example_user',
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
      ),
      example('example_assistant', "Let's talk later when we're less busy about how to do better."),
      {
        role: 'user',
        content: "This late pivot means we don't have time to boil the ocean for the client deliverable.",
      },
    ];
    expect(promptTokens({ model: 'gpt-4o', messages }, PLACES)).toBe(124);
  });

  it('counts a string as one message', () => {
    expect(promptTokens({ system: 'hello' }, PLACES)).toBe(AROUND + 1);
  });

  it('ignores members without text', () => {
    expect(promptTokens({ model: 'hello', metadata: { user: 'hello' }, messages: [] }, PLACES)).toBe(3);
    expect(withContent([{ type: 'text', id: 'hello', text: 'hello' }])).toBe(AROUND + 1);
  });

  it('counts tool arguments completely, with IDs and names', () => {
    const args = { id: 'hello', image_url: 'hello' };
    expect(withContent([{ type: 'tool_use', input: args }])).toBe(AROUND + 2 + tokensIn('id') + tokensIn('image_url'));
  });

  it('counts names and strings of tools', () => {
    const tool = { name: 'hello', parameters: { type: 'hello', maximum: 5 } };
    const names = ['name', 'parameters', 'type', 'maximum'].reduce((sum, name) => sum + tokensIn(name), 0);
    expect(promptTokens({ messages: [], tools: [tool] }, PLACES)).toBe(3 + names + 3);
  });

  it('counts text that resembles an encoded file', () => {
    const file = Buffer.alloc(3000, 'file').toString('base64');
    const url = `data:image/png;base64,${file}`;
    for (const text of [file, url])
      for (const part of [text, [{ type: 'text', text }], [{ type: 'tool_use', input: { image_url: text } }]])
        expect(withContent(part)).toBeGreaterThan(1000);
  });

  it('ignores encoded files in every form', () => {
    const file = Buffer.alloc(3000, 'file').toString('base64');
    expect(withContent([{ type: 'image_url', image_url: { url: `data:image/png;base64,${file}` } }])).toBe(AROUND);
    expect(withContent([{ type: 'file', file: { file_data: `data:application/pdf;base64,${file}` } }])).toBe(AROUND);
    expect(withContent([{ type: 'input_audio', input_audio: { data: file } }])).toBe(AROUND);
    expect(withContent([{ source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } }])).toBe(AROUND);
    expect(withContent([{ source: { type: 'text', data: 'hello' } }])).toBe(AROUND + 1);
  });
});

describe('pieceTokens', () => {
  const places = { ...PLACES, silent: [...PLACES.ignored, 'tool_call_id'] };
  const prose = ' the quick brown fox'.repeat(15);
  const source = 'function f(a: number) {\n  return "x" + a;\n}\n'.repeat(8);
  const schema = { type: 'object', properties: { path: { type: 'string', description: prose } }, required: ['path'] };
  const call = { id: 'call_4711', type: 'function', function: { name: 'read', arguments: '{"path":"/src/x.ts"}' } };
  const turns = [
    { role: 'user', content: prose },
    { role: 'assistant', content: prose, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_4711', content: source },
  ];

  it.each([
    ['short messages', { messages: Array.from({ length: 60 }, () => ({ role: 'user', content: 'Go on, please.' })) }],
    ['calls of tools', { messages: Array.from({ length: 20 }, () => turns).flat() }],
    ['definitions', { tools: Array.from({ length: 20 }, () => ({ function: { name: 'read', parameters: schema } })) }],
  ])('is within 5 % of the whole request: %s', (_, body) => {
    const counted = promptTokens(body, places);
    const inPiece = pieceTokens(JSON.stringify(body), places.silent);
    expect(inPiece / counted).toBeGreaterThan(0.95);
    expect(inPiece / counted).toBeLessThan(1.05);
  });
});
