import { cpuMs, LINEAR_MS } from '../../test/support/timing.js';
import { readCredentials } from './credentials.js';

const KEY = `sk-${'a'.repeat(48)}`;
const OTHER = `sk-${'b'.repeat(48)}`;

/** As Node hands over a request's headers: names in lower case once, and all of them as they were sent. */
function read(...sent: readonly (readonly [name: string, value: string])[]) {
  const headers: Record<string, string> = {};
  for (const [name, value] of sent) {
    const lower = name.toLowerCase();
    if (lower === 'authorization') headers[lower] ??= value;
    else headers[lower] = lower in headers ? `${headers[lower]}, ${value}` : value;
  }
  return readCredentials(headers, sent.flat());
}

describe('readCredentials', () => {
  it.each([
    ['Authorization', `Bearer ${KEY}`],
    ['authorization', `bearer ${KEY}`],
    ['AUTHORIZATION', `BEARER ${KEY}`],
    ['authorization', `Bearer ${KEY} `],
    ['x-api-key', KEY],
    ['X-Api-Key', ` ${KEY}`],
    ['api-key', KEY],
  ])('finds the key in "%s: %s"', (name, value) => {
    expect(read([name, value])).toEqual({ candidates: [KEY], error: undefined });
  });

  it.each([
    ['', 'is empty'],
    ['Bearer', 'no API key after "Bearer"'],
    ['Bearer ', 'no API key after "Bearer"'],
    ['bearer', 'no API key after "Bearer"'],
    [`Bearer  ${KEY}`, 'more than one space between "Bearer" and the key'],
    [`Bearer ${KEY} x`, 'unexpected text after the key'],
    [`Bearer ${KEY}, Bearer ${OTHER}`, 'unexpected text after the key'],
    [KEY, 'has no "Bearer" before the key'],
    [`Basic ${KEY}`, 'scheme is Basic, not Bearer'],
    [`Bearer: ${KEY}`, 'does not start with "Bearer"'],
    [`${KEY} ${OTHER}`, 'does not start with "Bearer"'],
    [`Bearer "${KEY}"`, 'enclosed in quotation marks'],
    [`Bearer '${KEY}'`, 'enclosed in quotation marks'],
    [`Bearer\t${KEY}`, 'contains a tab'],
    [`Bearer ${KEY}\tx`, 'contains a tab'],
    [`Bearer Bearer ${KEY}`, 'contains "Bearer" twice'],
    [`Bearer ${KEY}\u00e9`, 'non-ASCII characters'],
    [`Bearer \u00e2\u0080\u009c${KEY}\u00e2\u0080\u009d`, 'non-ASCII characters'],
  ])('explains the error in "authorization: %s"', (value, error) => {
    const credentials = read(['authorization', value]);
    expect(credentials.candidates).toEqual([]);
    expect(credentials.error).toContain(error);
    expect(credentials.error).toContain('Authorization: Bearer sk-…');
  });

  it.each([`Bearer ${KEY} x`, KEY, `${KEY} x`, `Basic ${KEY}`, `Bearer "${KEY}"`, `Bearer:${KEY}`])(
    'does not repeat the secret of "%s"',
    (value) => {
      expect(read(['authorization', value]).error).not.toContain(KEY);
    },
  );

  it('refuses two Authorization headers, even with the same key', () => {
    const credentials = read(['Authorization', `Bearer ${KEY}`], ['authorization', `Bearer ${KEY}`]);
    expect(credentials.candidates).toEqual([]);
    expect(credentials.error).toContain('duplicate Authorization');
  });

  it('reports a missing API key when no header carries one', () => {
    expect(read(['content-type', 'application/json'])).toEqual({
      candidates: [],
      error: expect.stringContaining('missing API key') as string,
    });
  });

  it('lists different keys in the order Authorization, x-api-key, api-key', () => {
    const third = `sk-${'c'.repeat(48)}`;
    const { candidates } = read(['api-key', third], ['x-api-key', OTHER], ['authorization', `Bearer ${KEY}`]);
    expect(candidates).toEqual([KEY, OTHER, third]);
  });

  it('lists a key once when several headers carry it', () => {
    expect(read(['x-api-key', KEY], ['authorization', `Bearer ${KEY}`]).candidates).toEqual([KEY]);
  });

  it('accepts a well-formed x-api-key beside a malformed Authorization', () => {
    const credentials = read(['authorization', 'Bearer'], ['x-api-key', KEY]);
    expect(credentials.candidates).toEqual([KEY]);
    expect(credentials.error).toContain('no API key after "Bearer"');
  });

  it.each([
    ['', 'the x-api-key header is empty'],
    ['"sk-quoted"', 'enclosed in quotation marks in the x-api-key header'],
    ['sk-one two', 'contains spaces'],
    ['sk-\u00fc', 'non-ASCII'],
  ])('explains the error in "x-api-key: %s"', (value, error) => {
    expect(read(['x-api-key', value])).toEqual({ candidates: [], error: expect.stringContaining(error) as string });
  });

  it('rejects two x-api-key headers', () => {
    expect(read(['x-api-key', KEY], ['x-api-key', OTHER]).candidates).toEqual([]);
  });

  it('takes linear time for a run of spaces', () => {
    const value = `a${' '.repeat(200_000)}b`;
    expect(cpuMs(() => read(['authorization', value]))).toBeLessThan(LINEAR_MS);
  });
});
