import { INTERESTS, isRefused, read, refused } from '../../../test/support/body-members.js';
import { refusalOf } from '../../../test/support/calls.js';
import { AppError } from '../../platform/shared/index.js';
import { type JsonFields, JsonReader, readJsonFields } from './json-fields.js';

describe('incremental reading', () => {
  /** The fields read, or the error message, when the body arrives in pieces with these ends. */
  function readCut(json: string | Buffer, cuts: readonly number[]): unknown {
    const bytes = Buffer.from(json as string);
    const reader = new JsonReader(INTERESTS);
    try {
      for (const cut of cuts) reader.next(bytes.subarray(0, cut));
      return reported(reader.end({ bytes }));
    } catch (error) {
      return error instanceof AppError ? { param: error.details.param, isRefused: true } : error;
    }
  }
  const reported = (fields: JsonFields): unknown => ({
    size: fields.size,
    places: ['', 'model', 'stream', 'messages', 'max_tokens', 'stream_options', 'reasoning.effort'].map((path) =>
      fields.field(path),
    ),
  });
  const everywhere = (json: string | Buffer): number[] =>
    Array.from({ length: Buffer.byteLength(json) }, (_, at) => at);

  it.each<[string, string | Buffer]>([
    ['escapes', String.raw`{"mod\u0065l":"\\\"\n\ud83d\ude00","x":"${'\\'.repeat(50)}\""}`],
    ['characters of many bytes', `{"model":"Größe 日本 😀 ${'é'.repeat(40)}"}`],
    ['numbers and words', '{"stream":true,"max_tokens":-1.5e+3,"reasoning":{"effort":null},"x":[false,0,12]}'],
    ['images', String.raw`{"messages":[{"type":"image"},{"typ\u0065":"im\u0061ge"},{"type":"imagine"}]}`],
    ['a data URL', `{"x":"data:image/png;base64,${'iVBOR\\/w0KGgo'.repeat(60)}==","y":"${'abcd'.repeat(200)}="}`],
    [
      'what only begins as one',
      `{"x":"data:image/png;base64,${'iVBORw0KGgo'.repeat(60)}=x","y":"${'abcd'.repeat(200)} "}`,
    ],
    ['white space', '\r\n{ \t"model" : "m" , "messages" : [ ] }\n '],
    ['invalid UTF-8', Buffer.concat([Buffer.from('{"model":"m","x":"'), Buffer.of(0xe2, 0x82), Buffer.from('"}')])],
    ['half a character at the end', Buffer.concat([Buffer.from('{}'), Buffer.of(0xf0, 0x9f)])],
    ['a fault', '{"model":"m","messages":[1,}'],
    ['no end', '{"model":"m","x":"abc'],
  ])('equals reading the whole body, wherever it is cut: %s', (_what, json) => {
    const whole = readCut(json, []);
    expect(readCut(json, everywhere(json))).toEqual(whole);
    for (const cut of everywhere(json)) expect(readCut(json, [cut])).toEqual(whole);
  });

  it.each([0, 1, 2, 3])('is independent of memory alignment: %i', (offset) => {
    for (let length = 0; length < 180; length += length < 5 ? 1 : 33) {
      const json = String.raw`{"${'é'.repeat(length)}\"":"${'a'.repeat(length)}\\\"\n${'é'.repeat(length)}\\","model":"m\u00e9"}`;
      const bytes = Buffer.from(json);
      const memory = Buffer.from(new ArrayBuffer(offset + bytes.length + 5)).fill('"');
      bytes.copy(memory, offset);
      const view = memory.subarray(offset, offset + bytes.length);
      const reader = new JsonReader(INTERESTS);
      for (let cut = 1; cut < bytes.length; cut++) reader.next(view.subarray(0, cut));
      for (const fields of [reader.end({ bytes: view }), readJsonFields(view, INTERESTS)]) {
        expect(fields.field('')).toEqual({ start: 0, end: bytes.length, kind: 'object' });
        expect(fields.value('model')).toBe('mé');
      }
    }
  });

  it('rejects control characters at every position of a string, also after a backslash', () => {
    for (let length = 0; length < 180; length += length < 5 ? 1 : 33) {
      for (const fault of ['\n', '\\\n', '\\"\u001f', '\\"\\\0']) {
        const text = 'é'.repeat(length) + fault;
        const at = Buffer.byteLength(`{"x":"${text}`) - 1;
        expect(refused(`{"x":"${text}${'a'.repeat(9)}"}`).message).toContain(`at byte ${at}:`);
      }
    }
  });

  it('rejects a body as soon as the error arrives', () => {
    const reader = new JsonReader(INTERESTS);
    reader.next(Buffer.from('{"model":"m",'));
    expect(refusalOf(() => reader.next(Buffer.from('{"model":"m",}'))).message).toContain('at byte 13');
  });

  it('rejects excessively long numbers', () => {
    expect(refused(`{"x":${'1'.repeat(2000)}}`).message).toContain('digits');
    expect(isRefused(`{"x":${'1'.repeat(1000)}}`)).toBe(false);
    const reader = new JsonReader(INTERESTS);
    const digits = Buffer.from(`{"x":${'1'.repeat(2000)}`);
    expect(refusalOf(() => reader.next(digits)).message).toContain('digits');
  });

  it('rejects by length without decoding', () => {
    const long = 'm'.repeat(100_000);
    const model = read(`{"model":"${long}","stream":"${long}","max_tokens":1}`);
    expect(refusalOf(() => model.requireString('model', { maxLength: 256 })).message).toContain('256');
    expect(refusalOf(() => model.optionalBoolean('stream')).message).toContain('true or false');
    expect(isRefused(`{"${'k'.repeat(100_000)}":1}`)).toBe(false);
  });
});
