import { Form } from '../web/index.js';
import { requestCode } from './playground-code.js';
import { addressOf, bodyOf, PlaygroundForm, sentBody, textOf } from './playground-form.js';

const typed = (fields: Record<string, string>): Form<PlaygroundForm> =>
  Form.read(PlaygroundForm, {
    key: 'key_1',
    model: 'v/m',
    protocol: 'responses',
    message: 'Hi',
    limit: '1,000',
    ...fields,
  });
const valid = (fields: Record<string, string>): PlaygroundForm => typed(fields).value!;

describe('the request of the playground', () => {
  it('has the fields of its protocol', () => {
    const instructions = 'Be brief';
    expect(bodyOf(valid({ instructions }))).toEqual({
      model: 'v/m',
      instructions: 'Be brief',
      input: 'Hi',
      max_output_tokens: 1000,
    });
    expect(bodyOf(valid({ instructions, protocol: 'chat-completions', limit: '' }))).toEqual({
      model: 'v/m',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
      max_completion_tokens: 1000,
    });
    expect(bodyOf(valid({ protocol: 'messages', tools: '[{"name": "f"}]' }))).toEqual({
      model: 'v/m',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    });
    const tools = '[{"name": "f", "parameters": {"type": "object"}}, {"name": "g"}]';
    expect(bodyOf(valid({ protocol: 'gemini', instructions, tools, schema: '{"type": "array"}' }))).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }, { name: 'g' }] }],
      generationConfig: {
        maxOutputTokens: 1000,
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'array' },
      },
    });
  });

  it('names model and streaming in the path of Gemini', () => {
    const form = valid({ protocol: 'gemini' });
    expect(addressOf(form, false)).toEqual({ path: '/v1beta/models/v%2Fm:generateContent', query: '' });
    expect(addressOf(form, true)).toEqual({ path: '/v1beta/models/v%2Fm:streamGenerateContent', query: 'alt=sse' });
    expect(sentBody(form, true)).not.toMatch(/stream|store|model"/);
    expect(addressOf(valid({}), true)).toEqual({ path: '/v1/responses', query: '' });
  });

  it.each([
    ['responses', 'input'],
    ['chat-completions', 'messages'],
    ['messages', 'messages'],
  ])('sends earlier messages before the new one in %s', (protocol, member) => {
    const turns = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
    ];
    const body = bodyOf(valid({ protocol, turns: JSON.stringify(turns) }));
    expect(body[member]).toEqual([...turns, { role: 'user', content: 'Hi' }]);
  });

  it('sends earlier messages before the new one in gemini, where the model has a role of its own', () => {
    const turns = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
    ];
    const { contents } = bodyOf(valid({ protocol: 'gemini', turns: JSON.stringify(turns) }));
    expect((contents as { role: string }[]).map(({ role }) => role)).toEqual(['user', 'model', 'user']);
  });

  it('asks for usage in streams, and never for storage', () => {
    expect(JSON.parse(sentBody(valid({}), true))).toMatchObject({ stream: true, store: false });
    expect(JSON.parse(sentBody(valid({ protocol: 'chat-completions' }), true))).toMatchObject({
      stream_options: { include_usage: true },
    });
    expect(sentBody(valid({ protocol: 'messages' }), false)).not.toMatch(/stream|store/);
  });

  it.each([
    ['tools', '{}'],
    ['tools', '[]'],
    ['tools', '[{"type": "function"}]'],
    ['schema', '[1]'],
    ['schema', '{'],
    ['limit', '15'],
    ['protocol', 'other'],
    ['turns', '[{"role": "system", "content": "Obey"}]'],
  ])('rejects %s %j', (field, value) => {
    expect(Object.keys(typed({ [field]: value }).errors)).toEqual([field]);
  });
});

describe('the code of a request', () => {
  const code = (protocol: string, fields: Record<string, string> = {}): Record<string, string> =>
    Object.fromEntries(
      requestCode(valid({ protocol, ...fields }), 'https://relay.example').map(({ label, blocks }) => [
        label,
        blocks[0]!.code.map(({ text }) => text).join(''),
      ]),
    );

  it('calls the endpoint with the SDK of its protocol', () => {
    expect(code('responses')['curl']).toContain(`curl https://relay.example/v1/responses \\`);
    expect(code('responses')['Python']).toContain('client.responses.create(\n    model="v/m",\n    input="Hi",');
    expect(code('messages')['JavaScript']).toContain('client.messages.create({');
    expect(code('chat-completions')['JavaScript']).toContain("import OpenAI from 'openai';");
    const { curl, Python, JavaScript } = code('gemini', { instructions: 'Be brief' });
    expect(curl).toContain("curl 'https://relay.example/v1beta/models/v%2Fm:generateContent' \\");
    expect(Python).toContain('client.models.generate_content(\n    model="v/m",\n    contents=[');
    expect(JavaScript).toContain('"config": {');
    expect(JavaScript).not.toContain('generationConfig');
  });

  it('writes literals of the language, and quotes what was typed', () => {
    const schema = '{"type": "object", "additionalProperties": false, "title": "false"}';
    const { Python, JavaScript, curl } = code('responses', { schema, message: `it's "it"` });
    expect(Python).toContain('"additionalProperties": False, "title": "false"');
    expect(JavaScript).toContain('"additionalProperties": false');
    expect(Python).toContain(String.raw`input="it's \"it\"",`);
    expect(curl).toContain(String.raw`it'\''s \"it\"`);
  });
});

describe('the text of a response', () => {
  it.each([
    ['Responses', { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }] }, 'Hi'],
    ['Responses', { output: [{ type: 'function_call', name: 'f', arguments: '{"a":1}' }] }, 'f {"a":1}'],
    ['Chat Completions', { choices: [{ message: { role: 'assistant', content: 'Hi' } }] }, 'Hi'],
    [
      'Chat Completions',
      { choices: [{ message: { content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] } }] },
      'f {}',
    ],
    [
      'Messages',
      {
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'tool_use', name: 'f', input: { a: 1 } },
        ],
      },
      'Hi\nf {"a":1}',
    ],
    [
      'Gemini',
      {
        candidates: [
          {
            content: {
              parts: [
                { text: 'Hm', thought: true },
                { text: 'Hi' },
                { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'x' },
              ],
            },
          },
        ],
      },
      'Hi\nf {"a":1}',
    ],
    ['nothing', null, ''],
  ])('of %s is found', (_, response, text) => {
    expect(textOf(response)).toBe(text);
  });
});
