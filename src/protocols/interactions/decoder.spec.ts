import { aTarget, refusalOf } from '../../../test/support/calls.js';
import { aContent, decoded, resultOf } from '../../../test/support/translations.js';
import { type CallContent, type CallEvent, type CallResult, NO_TOKENS, type TokenUsage } from '../contract/index.js';
import { InteractionsUpstream } from './upstream.js';

const upstream = new InteractionsUpstream();

type Json = Readonly<Record<string, unknown>>;

const event = (event_type: string, data: Json): string => `data: ${JSON.stringify({ ...data, event_type })}\n\n`;
const CREATED = event('interaction.created', { interaction: { id: '', status: 'in_progress' } });
const start = (index: number, step: Json): string => event('step.start', { index, step });
const delta = (index: number, change: Json): string => event('step.delta', { index, delta: change });
const stop = (index: number, usage?: Json): string => event('step.stop', { index, usage });
const USAGE = { total_input_tokens: 9, total_output_tokens: 2 };
const completed = (status = 'completed', more: Json = {}): string =>
  event('interaction.completed', { interaction: { id: '', status, usage: USAGE, ...more } });
const text = (words: string): string =>
  start(0, { type: 'model_output' }) + delta(0, { type: 'text', text: words }) + stop(0);

const eventsOf = (stream: string, content: Partial<CallContent> = {}): CallEvent[] =>
  decoded(upstream.decodeStream(aContent(content), aTarget({ family: 'f' })), stream);
const responseOf = (stream: string, content?: Partial<CallContent>): CallResult => resultOf(eventsOf(stream, content));
const wholeOf = (interaction: Json): CallResult =>
  upstream.decodeResponse(JSON.stringify(interaction), aContent(), aTarget({ family: 'f' }));

const DONE = 'event: done\ndata: [DONE]\n\n';
const signature = (data: string, summary = '') => ({ kind: 'signature', family: 'f', data, text: summary }) as const;

describe('Interactions decoding', () => {
  it('ends with the interaction, whatever follows', () => {
    const { parts, stop: reason } = responseOf(CREATED + text('Hi') + completed() + text('!') + DONE);
    expect([parts, reason]).toEqual([[{ kind: 'text', text: 'Hi' }], 'end']);
  });

  it('ignores unknown events, steps and deltas', () => {
    const unknown =
      event('step.progress', { index: 0 }) +
      start(7, { type: 'code_execution_call', id: 'x', arguments: { code: 'print(1)' } }) +
      delta(7, { type: 'code_execution_call', arguments: { code: 'print(1)' } }) +
      delta(0, { type: 'image', data: 'aW1n' }) +
      stop(7);
    expect(responseOf(CREATED + unknown + text('Hi') + completed()).parts).toEqual([{ kind: 'text', text: 'Hi' }]);
  });

  it('reads content at the start of a step, and deltas without a start', () => {
    const begun = start(0, { type: 'model_output', content: [{ type: 'text', text: 'Once ' }] });
    const rest = delta(0, { type: 'text', text: 'upon' }) + delta(1, { type: 'text', text: ' a time' });
    expect(responseOf(CREATED + begun + rest + completed()).parts).toEqual([
      { kind: 'text', text: 'Once upon' },
      { kind: 'text', text: ' a time' },
    ]);
  });

  it('seals a thought with its summary, and omits the seal without a signature', () => {
    const thought = (index: number, ...deltas: readonly string[]): string =>
      start(index, { type: 'thought', signature: '' }) + deltas.join('') + stop(index);
    const summary = (index: number): string =>
      delta(index, { type: 'thought_summary', content: { type: 'text', text: 'Hm.' } });
    const signed = delta(0, { type: 'thought_signature', signature: 'QQ==' });
    expect(
      responseOf(CREATED + thought(0, summary(0), signed) + thought(1, summary(1)) + thought(2) + completed()).parts,
    ).toEqual([
      { kind: 'reasoning', text: 'Hm.', opaque: signature('QQ==', 'Hm.') },
      { kind: 'reasoning', text: 'Hm.' },
    ]);
  });

  it('reads calls whose arguments or signature are at the start of the step', () => {
    const call = { type: 'function_call', id: 'c1', name: 'look', arguments: { at: 'door' }, signature: 'QQ==' };
    const { parts, stop: reason } = responseOf(CREATED + start(0, call) + stop(0) + completed());
    expect([parts, reason]).toEqual([
      [
        { kind: 'reasoning', text: '', opaque: signature('QQ==') },
        { kind: 'tool-call', id: 'c1', name: 'look', arguments: '{"at":"door"}' },
      ],
      'tool_calls',
    ]);
  });

  it.each([
    ['completed', 'end'],
    ['incomplete', 'max_tokens'],
    ['requires_continuation', 'max_tokens'],
    ['budget_exceeded', 'max_tokens'],
    ['some_new_status', 'end'],
  ])('translates the status %s', (status, reason) => {
    expect(responseOf(CREATED + text('Hi') + completed(status)).stop).toBe(reason);
    expect(wholeOf({ status, steps: [] }).stop).toBe(reason);
  });

  it.each(['failed', 'cancelled', 'in_progress', 'queued'])('throws on the status %s', (status) => {
    const refusals = [() => responseOf(CREATED + completed(status)), () => wholeOf({ status, steps: [] })];
    for (const refusal of refusals)
      expect(refusalOf(refusal)).toMatchObject({ kind: 'upstream_error', details: { failover: true } });
  });

  it('classifies errors of failed interactions and steps', () => {
    const overloaded = { code: 'service_unavailable', message: 'Retry.' };
    expect(refusalOf(() => wholeOf({ status: 'failed', errors: [overloaded] })).kind).toBe('server_is_overloaded');
    const steps = [{ type: 'model_output', error: { code: 13, message: 'Internal.' } }];
    expect(refusalOf(() => wholeOf({ status: 'failed', steps })).message).toContain('Internal.');
    expect(refusalOf(() => wholeOf({ error: overloaded })).kind).toBe('server_is_overloaded');
    expect(refusalOf(() => responseOf(CREATED + event('error', { error: overloaded }))).kind).toBe(
      'server_is_overloaded',
    );
  });

  it.each(['content_blocked', 'safety', 'prohibited_content', 'recitation'])(
    'ends at the filter that blocked it: %s',
    (code) => {
      const error = { code, message: 'Blocked.' };
      const streamed = responseOf(CREATED + text('I') + event('error', { error }));
      expect([streamed.parts, streamed.stop]).toEqual([[{ kind: 'text', text: 'I' }], 'content_filter']);
      expect(wholeOf({ status: 'failed', errors: [error], usage: USAGE })).toMatchObject({
        stop: 'content_filter',
        usage: { input: 9, output: 2 },
      });
    },
  );

  it('ends normally when the status is not a string', () => {
    const strange = event('interaction.completed', { interaction: { status: { valueOf: 1, toString: 1 } } });
    expect(responseOf(CREATED + text('Hi') + strange).stop).toBe('end');
  });

  it('rejects responses of other protocols', () => {
    expect(refusalOf(() => wholeOf({ choices: [] })).kind).toBe('upstream_error');
    expect(refusalOf(() => responseOf('data: {"choices":[]}\n\n')).kind).toBe('upstream_truncated');
  });
});

describe('Interactions usage in responses', () => {
  const usages = (stream: string): unknown[] => eventsOf(stream).filter(({ type }) => type === 'usage-update');
  const update = (more: Json) => ({ type: 'usage-update', ...more });

  it('is provisional until the end', () => {
    const step =
      start(0, { type: 'model_output' }) +
      delta(0, { type: 'text', text: 'Hi' }) +
      stop(0, { ...USAGE, total_output_tokens: 1 });
    expect(usages(CREATED + step + completed('completed', { service_tier: 'priority' }))).toEqual([
      update({ usage: { ...NO_TOKENS, input: 9, output: 1 }, isProvisional: true }),
      update({ usage: { ...NO_TOKENS, input: 9, output: 2, serviceTier: 'priority' } }),
    ]);
  });

  it('ends a blocked response only if nothing followed it', () => {
    const blocked = event('error', { error: { code: 'content_blocked' } });
    const reported = CREATED + start(0, { type: 'model_output' }) + stop(0, USAGE);
    const last = (stream: string): unknown => usages(stream).at(-1);
    expect(last(reported + blocked)).toEqual(update({ usage: { ...NO_TOKENS, input: 9, output: 2 } }));
    expect(last(reported + text('more') + blocked)).toMatchObject({ isProvisional: true });
  });

  it('counts the queries of a search unless they are reported', () => {
    const search =
      start(0, { type: 'google_search_call', id: 's' }) +
      delta(0, { type: 'google_search_call', arguments: { queries: ['a', 'b'] } }) +
      stop(0);
    const unknown = start(1, { type: 'google_search_call', id: 't' }) + stop(1);
    const toolUses = (usage: Json): unknown =>
      responseOf(CREATED + search + unknown + completed('completed', { usage })).usage?.toolUses;
    expect(toolUses(USAGE)).toEqual({ web_search: 3 });
    expect(toolUses({ ...USAGE, grounding_tool_count: [{ type: 'google_search', count: 5 }] })).toEqual({
      web_search: 5,
    });
    const step = { type: 'google_search_call', id: 's', arguments: { queries: ['a', 'b'] } };
    expect(wholeOf({ status: 'completed', steps: [step], usage: USAGE }).usage?.toolUses).toEqual({ web_search: 2 });
  });

  const searched = (index: number, ...queries: readonly string[]): string =>
    start(index, { type: 'google_search_call', id: `s${index}` }) +
    delta(index, { type: 'google_search_call', arguments: { queries } });

  it('reports searches at once, for clients that leave before the end', () => {
    const stream = CREATED + searched(0, 'a', 'b') + stop(0, USAGE) + searched(1, 'c') + completed();
    const first = { input: 0, toolUses: { web_search: 1 }, irregular: { input: '', output: '' } };
    expect(usages(stream)).toMatchObject([
      update({ usage: first, isProvisional: true }),
      update({ usage: { ...first, toolUses: { web_search: 2 } }, isProvisional: true }),
      update({ usage: { input: 9, output: 2, toolUses: { web_search: 2 } }, isProvisional: true }),
      update({ usage: { input: 9, output: 2, toolUses: { web_search: 3 } }, isProvisional: true }),
      update({ usage: { input: 9, output: 2, toolUses: { web_search: 3 } } }),
    ]);
  });

  it('adds searches that follow a report to those in it', () => {
    const counted = { ...USAGE, grounding_tool_count: [{ type: 'google_search', count: 1 }] };
    const stream = CREATED + searched(0, 'a', 'b') + stop(0, counted) + searched(1, 'c', 'd');
    const toolUses = usages(stream + completed('completed', { usage: undefined })).map(
      (reported) => (reported as { usage: TokenUsage }).usage.toolUses,
    );
    expect(toolUses.slice(2)).toEqual([1, 2, 3, 3].map((web_search) => ({ web_search })));
  });

  it('keeps searches when the end has no usage', () => {
    const end = completed('completed', { usage: undefined });
    const blocked = event('error', { error: { code: 'content_blocked' } });
    for (const last of [end, blocked])
      expect(usages(CREATED + searched(0, 'a', 'b') + text('Hi') + last).at(-1)).toMatchObject(
        update({ usage: { input: 0, toolUses: { web_search: 2 } }, isProvisional: true }),
      );
    const step = { type: 'google_search_call', id: 's', arguments: { queries: ['a', 'b'] } };
    expect(wholeOf({ status: 'completed', steps: [step] }).usage).toEqual({
      ...NO_TOKENS,
      toolUses: { web_search: 2 },
      irregular: { input: '', output: '' },
    });
    expect(usages(CREATED + text('Hi') + end)).toEqual([]);
  });
});
