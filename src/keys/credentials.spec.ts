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
    expect(read([name, value])).toEqual({ candidates: [KEY], fault: undefined });
  });

  it.each([
    ['', 'is empty'],
    ['Bearer', 'no API key after "Bearer"'],
    ['Bearer ', 'no API key after "Bearer"'],
    ['bearer', 'no API key after "Bearer"'],
    [`Bearer  ${KEY}`, 'more than one blank between Bearer and the key'],
    [`Bearer ${KEY} x`, 'something follows the key'],
    [`Bearer ${KEY}, Bearer ${OTHER}`, 'something follows the key'],
    [KEY, 'does not say Bearer before the key'],
    [`Basic ${KEY}`, 'says Basic where Bearer is expected'],
    [`Bearer: ${KEY}`, 'does not start with the word Bearer'],
    [`${KEY} ${OTHER}`, 'does not start with the word Bearer'],
    [`Bearer "${KEY}"`, 'quotation marks around the key'],
    [`Bearer '${KEY}'`, 'quotation marks around the key'],
    [`Bearer\t${KEY}`, 'holds a tab'],
    [`Bearer ${KEY}\tx`, 'holds a tab'],
    [`Bearer Bearer ${KEY}`, 'says Bearer twice'],
    [`Bearer ${KEY}\u00e9`, 'characters that are not ASCII'],
    [`Bearer \u00e2\u0080\u009c${KEY}\u00e2\u0080\u009d`, 'characters that are not ASCII'],
  ])('names the fault of "authorization: %s"', (value, fault) => {
    const credentials = read(['authorization', value]);
    expect(credentials.candidates).toEqual([]);
    expect(credentials.fault).toContain(fault);
    expect(credentials.fault).toContain('Authorization: Bearer sk-…');
  });

  it.each([`Bearer ${KEY} x`, KEY, `${KEY} x`, `Basic ${KEY}`, `Bearer "${KEY}"`, `Bearer:${KEY}`])(
    'does not repeat the secret of "%s"',
    (value) => {
      expect(read(['authorization', value]).fault).not.toContain(KEY);
    },
  );

  it('refuses two Authorization headers, even with the same key', () => {
    const credentials = read(['Authorization', `Bearer ${KEY}`], ['authorization', `Bearer ${KEY}`]);
    expect(credentials.candidates).toEqual([]);
    expect(credentials.fault).toContain('sent twice');
  });

  it('says that no key was sent when there is no header that carries one', () => {
    expect(read(['content-type', 'application/json'])).toEqual({
      candidates: [],
      fault: expect.stringContaining('no key was sent') as string,
    });
  });

  it('lists different keys in the order Authorization, x-api-key, api-key', () => {
    const third = `sk-${'c'.repeat(48)}`;
    const { candidates } = read(['api-key', third], ['x-api-key', OTHER], ['authorization', `Bearer ${KEY}`]);
    expect(candidates).toEqual([KEY, OTHER, third]);
  });

  it('lists a key that several headers carry once', () => {
    expect(read(['x-api-key', KEY], ['authorization', `Bearer ${KEY}`]).candidates).toEqual([KEY]);
  });

  it('still offers a well-formed x-api-key beside an Authorization it cannot read', () => {
    const credentials = read(['authorization', 'Bearer'], ['x-api-key', KEY]);
    expect(credentials.candidates).toEqual([KEY]);
    expect(credentials.fault).toContain('no API key after "Bearer"');
  });

  it.each([
    ['', 'the x-api-key header is empty'],
    ['"sk-quoted"', 'quotation marks around the key in the x-api-key header'],
    ['sk-one two', 'holds blanks'],
    ['sk-\u00fc', 'not ASCII'],
  ])('names the fault of "x-api-key: %s"', (value, fault) => {
    expect(read(['x-api-key', value])).toEqual({ candidates: [], fault: expect.stringContaining(fault) as string });
  });

  it('does not take two x-api-key headers for one key', () => {
    expect(read(['x-api-key', KEY], ['x-api-key', OTHER]).candidates).toEqual([]);
  });

  it('takes no longer over a run of blanks than over any other header', () => {
    const value = `a${' '.repeat(200_000)}b`;
    expect(cpuMs(() => read(['authorization', value]))).toBeLessThan(LINEAR_MS);
  });
});
