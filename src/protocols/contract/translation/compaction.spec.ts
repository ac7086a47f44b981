import { aContent as contentWith } from '../../../../test/support/translations.js';
import { NO_TOKENS } from '../call.js';
import { compacted, compactionIn, compactsFirst, onlyCompacts, sealedSummary, summarizing } from './compaction.js';
import type { CallContent, CompactionRequest, Turn } from './content.js';
import type { CallResult } from './events.js';

const user = (text: string): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] });
const TURNS: readonly Turn[] = [
  user('Plan a trip.'),
  { role: 'assistant', parts: [{ kind: 'text', text: 'Where to?' }] },
];
const aContent = (compaction: CompactionRequest, turns = TURNS): CallContent =>
  contentWith({ turns, compaction, stop: ['x'], outputLimit: 16 });
const result = (parts: CallResult['parts'], stop: CallResult['stop'] = 'end'): CallResult => ({
  parts,
  stop,
  usage: { ...NO_TOKENS, input: 9, output: 2 },
});

describe('compaction', () => {
  it('starts at the threshold', () => {
    const long = 'word '.repeat(1000);
    expect(compactsFirst(aContent({ mode: 'ahead', threshold: 500 }, [user(long)]))).toBe(true);
    expect(compactsFirst(aContent({ mode: 'ahead', threshold: 5000 }, [user(long)]))).toBe(false);
    expect(compactsFirst(aContent({ mode: 'ahead' }, [user(long)]))).toBe(false);
    expect(compactsFirst(aContent({ mode: 'ahead' }, [user('word '.repeat(200_000))]))).toBe(true);
  });

  it('is the whole response when the client asks for it, or pauses after it', () => {
    expect(onlyCompacts(aContent({ mode: 'only' }))).toBe(true);
    expect(onlyCompacts(aContent({ mode: 'ahead', threshold: 1, pauses: true }))).toBe(true);
    expect(onlyCompacts(aContent({ mode: 'ahead', threshold: 1 }))).toBe(false);
  });

  it('asks for a summary as the user, without stop sequences, and with the limit of the client only if it is all', () => {
    const { turns, stop, outputLimit, toolChoice } = summarizing(aContent({ mode: 'only', instructions: 'Sum up.' }));
    expect(turns.at(-1)).toEqual(user('Sum up.'));
    expect([turns.length, stop, outputLimit, toolChoice]).toEqual([3, [], 16, { mode: 'none' }]);
    expect(summarizing(aContent({ mode: 'ahead' })).outputLimit).toBeUndefined();
    const merged = summarizing(aContent({ mode: 'only', instructions: 'Sum up.' }, [user('Hi')]));
    expect(merged.turns.map(({ parts }) => parts.length)).toEqual([2]);
  });

  it('continues from the summary with the last message of the user, but not with tool results', () => {
    const finished = { summary: 'So far.', usage: NO_TOKENS };
    const content = aContent({ mode: 'ahead' }, [...TURNS, user('To Oslo.')]);
    const texts = ({ turns }: CallContent): string => JSON.stringify(turns);
    expect(texts(compacted(content, finished))).toMatch(/So far\..*To Oslo\./);
    const results: Turn = { role: 'user', parts: [{ kind: 'tool-result', id: 'c', parts: [], isError: false }] };
    expect(compacted(aContent({ mode: 'ahead' }, [...TURNS, results]), finished).turns[0]?.parts).toHaveLength(1);
    expect(compacted(content, { ...finished, summary: '' })).toBe(content);
  });

  it('is one part, whatever else the model wrote', () => {
    const parts: CallResult['parts'] = [
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'text', text: 'One.' },
      { kind: 'tool-call', id: 'c', name: 'f', arguments: '{}' },
      { kind: 'text', text: 'Two.' },
    ];
    const whole = compactionIn(result(parts, 'tool_calls'));
    expect(whole).toMatchObject({ parts: [{ kind: 'compaction', text: 'One.\n\nTwo.' }], stop: 'compaction' });
    expect(whole.usage).toMatchObject({ input: 9 });
    expect(compactionIn(result(parts, 'max_tokens')).stop).toBe('max_tokens');
  });

  it('fails without a summary', () => {
    expect(() => compactionIn(result([{ kind: 'text', text: ' ' }]))).toThrow('no summary');
  });

  it('is read from its seal, and from nothing else', () => {
    const sealed = (content: object): string =>
      `rly1.${Buffer.from(JSON.stringify(content)).toString('base64url')}.c2ln`;
    expect(sealedSummary(sealed({ k: 'summary', t: 'So far.' }))).toEqual({ kind: 'compaction', text: 'So far.' });
    for (const other of [sealed({ k: 'signature', t: 'x' }), 'rly1.bm8.c2ln', 'rly1.', 'opaque', undefined])
      expect(sealedSummary(other)).toBeUndefined();
  });
});
