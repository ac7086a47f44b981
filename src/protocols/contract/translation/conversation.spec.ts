import { cpuMs, LINEAR_MS } from '../../../../test/support/timing.js';
import { AppError } from '../../../platform/shared/index.js';
import type { Part, ToolResultPart, Turn } from './content.js';
import { ConversationBuilder, pairResults, withErrorText } from './conversation.js';
import { TranslationWarnings } from './warnings.js';

const text = (words: string): Part => ({ kind: 'text', text: words });
const call = (id: string): Part => ({ kind: 'tool-call', id, name: 'f', arguments: '{}' });
const result = (id: string, words = id): ToolResultPart => ({
  kind: 'tool-result',
  id,
  parts: [{ kind: 'text', text: words }],
  isError: false,
});
const user = (...parts: Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts });
const system = (...parts: Part[]): Turn => ({ role: 'system', parts });
const paired = (...turns: Turn[]): readonly Turn[] => pairResults(turns, new TranslationWarnings(false));

describe('ConversationBuilder', () => {
  it('keeps instructions in the lead and in place', () => {
    const builder = new ConversationBuilder();
    builder.addInstruction('a');
    builder.addInstruction('');
    builder.addTurn('user', [text('b')]);
    builder.addInstruction('c', { ttl: '1h' });
    expect(builder.lead).toEqual([text('a')]);
    expect(builder.turns).toEqual([user(text('b')), system({ kind: 'text', text: 'c', cache: { ttl: '1h' } })]);
  });

  it('accepts more parts than a call can have arguments (case 72)', () => {
    const builder = new ConversationBuilder();
    const many = Array.from({ length: 300_000 }, () => text('a'));
    builder.addTurn('user', [text('b')]);
    builder.addTurn('user', many);
    expect(builder.turns[0]?.parts).toHaveLength(many.length + 1);
  });

  it('merges adjacent turns of a role and drops empty text (cases 72, 73)', () => {
    const builder = new ConversationBuilder();
    builder.addTurn('user', [text('a'), text('')]);
    builder.addTurn('assistant', [text('')]);
    builder.addTurn('assistant', []);
    builder.addTurn('user', [text('b')]);
    expect(builder.turns).toEqual([user(text('a'), text('b'))]);
  });
});

describe('pairResults', () => {
  it('puts results directly after their calls, first in their turn (case 67)', () => {
    expect(paired(assistant(call('a')), system(text('s')), user(text('b'), result('a')), assistant(text('c')))).toEqual(
      [assistant(call('a')), user(result('a')), system(text('s')), user(text('b')), assistant(text('c'))],
    );
    expect(paired(assistant(call('a')), user(text('b'), result('a'), text('c')))).toEqual([
      assistant(call('a')),
      user(result('a'), text('b'), text('c')),
    ]);
  });

  it('accepts results in another order and much later (case 68)', () => {
    const turns = paired(
      assistant(call('a'), call('b')),
      user(result('b'), text('t')),
      assistant(text('x')),
      user(result('a')),
    );
    expect(turns[1]).toEqual(user(result('a'), result('b'), text('t')));
    expect(turns).toHaveLength(3);
  });

  it('merges late results of any number of turns once', () => {
    const ids = Array.from({ length: 40_000 }, (_, index) => `${index}`);
    const said = [
      assistant(...ids.map(call)),
      ...ids.flatMap((id) => [user(result(id)), assistant(text(id))]),
      user(text('b')),
    ];
    let turns = paired();
    expect(cpuMs(() => (turns = paired(...said)))).toBeLessThan(LINEAR_MS);
    expect(turns.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['assistant', ids.length],
      ['user', ids.length],
      ['assistant', ids.length],
      ['user', 1],
    ]);
  });

  it('matches a result with the latest call of its ID', () => {
    const turns = paired(assistant(call('a')), user(result('a', '1')), assistant(call('a')), user(result('a', '2')));
    expect(turns).toEqual([assistant(call('a')), user(result('a', '1')), assistant(call('a')), user(result('a', '2'))]);
  });

  it('adds missing results except at the end (case 69)', () => {
    const warnings = new TranslationWarnings(false);
    const turns = pairResults([assistant(call('a')), user(text('b')), assistant(call('c'))], warnings);
    const missing = { ...result('a', '[no result]'), isError: true };
    expect(turns).toEqual([assistant(call('a')), user(missing, text('b')), assistant(call('c'))]);
    expect(warnings.header).toBe('tool_result_missing:messages');
  });

  it('converts results without a call to text (case 69)', () => {
    const warnings = new TranslationWarnings(false);
    expect(pairResults([user(result('a', 'r'))], warnings)).toEqual([
      user(text('Result of the tool call a:'), text('r')),
    ]);
    expect(warnings.header).toBe('tool_result_without_call:messages');
  });

  it('rejects additions for a strict key (case 119)', () => {
    expect(() => pairResults([user(result('a'))], new TranslationWarnings(true))).toThrow(AppError);
  });

  it('marks failed results once (case 71)', () => {
    const failed = { ...result('a', 'no'), isError: true };
    expect(withErrorText(failed)).toEqual([text('Error: no')]);
    expect(withErrorText({ ...failed, parts: [{ kind: 'text', text: 'Error: no' }] })).toEqual([text('Error: no')]);
    expect(withErrorText({ ...failed, parts: [] })).toEqual([text('Error:')]);
    expect(withErrorText(result('a', 'yes'))).toEqual([text('yes')]);
  });
});
