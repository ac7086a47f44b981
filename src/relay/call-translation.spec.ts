import fc from 'fast-check';
import { type CallEvent, EventGrammar, SseEvent, type StreamDecoder } from '../protocols/contract/index.js';
import { StoppingDecoder } from './call-translation.js';

const NOTHING = new SseEvent(Buffer.from(''));

/** Gives one list of events for each server-sent event. */
class Scripted implements StreamDecoder {
  constructor(private readonly script: CallEvent[][]) {}

  next(): readonly CallEvent[] {
    return this.script.shift() ?? [];
  }

  end(): readonly CallEvent[] {
    return [];
  }
}

const textOf = (pieces: readonly string[]): CallEvent[][] => [
  [{ type: 'call-start' }, { type: 'part-start', start: { kind: 'text' } }],
  ...pieces.filter((text) => text !== '').map((text): CallEvent[] => [{ type: 'part-delta', text }]),
  [
    { type: 'part-end', part: { kind: 'text', text: pieces.join('') } },
    { type: 'call-stop', reason: 'end' },
    { type: 'call-end' },
  ],
];

function run(script: CallEvent[][], ...stops: string[]): { readonly events: CallEvent[]; readonly stopped: boolean } {
  const decoder = new StoppingDecoder(new Scripted([...script]), stops);
  const events: CallEvent[] = [];
  for (let turn = 0; turn < script.length; turn += 1) events.push(...decoder.next(NOTHING));
  events.push(...decoder.end());
  const grammar = new EventGrammar();
  for (const event of events) grammar.next(event);
  grammar.end();
  return { events, stopped: decoder.stopped };
}

const words = (events: readonly CallEvent[]): string =>
  events.map((event) => (event.type === 'part-delta' ? event.text : '')).join('');

describe('a stop sequence enforced by the relay', () => {
  it('ends the response before it when it arrives in pieces (case 35)', () => {
    const { events, stopped } = run(textOf(['one ST', 'OP two']), 'STOP');
    expect([words(events), stopped]).toEqual(['one ', true]);
    expect(events.at(-2)).toEqual({ type: 'call-stop', reason: 'stop_sequence', sequence: 'STOP' });
  });

  it('holds back only its possible beginning', () => {
    const decoder = new StoppingDecoder(new Scripted(textOf(['abcdef'])), ['STOP']);
    decoder.next(NOTHING);
    expect(words(decoder.next(NOTHING))).toBe('abc');
  });

  it('ends the response at the earliest of several', () => {
    expect(words(run(textOf(['a-b+c']), '+', '-').events)).toBe('a');
  });

  it('is found among many', () => {
    const stops = Array.from({ length: 200_000 }, (_, index) => `<${index}>`);
    const decoder = new StoppingDecoder(new Scripted(textOf(['a<199999>b'])), stops);
    decoder.next(NOTHING);
    expect(words(decoder.next(NOTHING))).toBe('a');
  });

  it('is ignored in reasoning and tool arguments', () => {
    const script: CallEvent[][] = (['reasoning', 'refusal'] as const).map((kind) => [
      ...(kind === 'reasoning' ? [{ type: 'call-start' } as const] : []),
      { type: 'part-start', start: { kind } },
      { type: 'part-delta', text: 'STOP' },
      { type: 'part-end', part: { kind, text: 'STOP' } },
    ]);
    expect(run([...script, [{ type: 'call-stop', reason: 'end' }, { type: 'call-end' }]], 'STOP').stopped).toBe(false);
  });

  it('changes nothing when it does not occur, however the response is split', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('S', 'T', 'O', 'P', 'STO', 'a', '😀') })), (pieces) => {
        const text = pieces.join('');
        const at = text.indexOf('STOP');
        expect(words(run(textOf(pieces), 'STOP').events)).toBe(at === -1 ? text : text.slice(0, at));
      }),
    );
  });
});
