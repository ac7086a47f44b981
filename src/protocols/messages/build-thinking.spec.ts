import { refusalOf } from '../../../test/support/calls.js';
import { aTool, build, flagged, result, toolCall } from '../../../test/support/messages-builds.js';
import type { Built } from '../../../test/support/translations.js';
import { assistant, text, user } from '../../../test/support/turns.js';
import { AppError } from '../../platform/shared/index.js';
import type { Part, Turn } from '../contract/index.js';

describe('Messages reasoning', () => {
  const adaptive = (show: 'text' | 'sealed', effort: string, flags = {}): Built =>
    flagged({ reasoning: { effort, show } }, { thinkingMode: 'adaptive', ...flags });

  it.each([
    ['minimal', 'low', undefined],
    ['low', 'low', undefined],
    ['medium', 'medium', undefined],
    ['high', 'high', undefined],
    ['xhigh', 'xhigh', undefined],
    ['max', 'max', undefined],
    ['ultra', undefined, 'unsupported_parameter:reasoning_effort'],
  ])('maps the effort %s to %s for adaptive models (case 84)', (effort, expected, warnings) => {
    const { body, warnings: given } = adaptive('text', effort);
    expect(body['thinking']).toEqual({ type: 'adaptive', display: 'summarized' });
    expect(body['output_config']).toEqual(expected === undefined ? undefined : { effort: expected });
    expect(given).toBe(warnings);
  });

  it('is shown as requested, with supported efforts', () => {
    expect(adaptive('sealed', 'high').body['thinking']).toEqual({ type: 'adaptive', display: 'omitted' });
    const { body, warnings } = adaptive('text', 'xhigh', { efforts: ['none', 'low', 'high'] });
    expect([body['output_config'], warnings]).toEqual([{ effort: 'high' }, 'substituted:reasoning_effort']);
    expect(adaptive('text', 'minimal', { efforts: ['none', 'low'] }).body['output_config']).toEqual({ effort: 'low' });
  });

  it.each([
    ['adaptive', { type: 'disabled' }, undefined],
    ['budget', { type: 'disabled' }, undefined],
    ['always', undefined, 'thinking_on:reasoning_effort'],
    ['none', undefined, undefined],
  ])('is disabled for %s (case 84)', (thinkingMode, thinking, warnings) => {
    const { body, warnings: given } = flagged({ reasoning: { effort: 'none', show: 'none' } }, { thinkingMode });
    expect([body['thinking'], given]).toEqual([thinking, warnings]);
  });

  it.each(['adaptive', 'budget', 'always', 'none'])('is left to the model by default: %s', (thinkingMode) => {
    const { text: sent, warnings } = flagged({}, { thinkingMode });
    expect(sent).not.toContain('thinking');
    expect(sent).not.toContain('output_config');
    expect(warnings).toBeUndefined();
  });

  it.each([
    ['minimal', undefined, 1280, 64_000],
    ['low', 2000, 1024, 2000],
    ['medium', 10_000, 3000, 10_000],
    ['high', 10_000, 6000, 10_000],
    ['xhigh', 10_000, 9000, 10_000],
    ['max', 10_000, 9500, 10_000],
  ])(
    "sets a budget for the effort %s within the client's limit: %s (case 84)",
    (effort, outputLimit, budget, limit) => {
      const { body, warnings } = flagged(
        { outputLimit, reasoning: { effort, show: 'text' } },
        { thinkingMode: 'budget' },
      );
      expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: budget });
      expect(body['max_tokens']).toBe(limit);
      expect(warnings).toBeUndefined();
    },
  );

  it("is disabled if the client's limit is below the budget (case 84)", () => {
    const content = { outputLimit: 500, reasoning: { effort: 'low', show: 'text' } } as const;
    const { body, warnings } = flagged(content, { thinkingMode: 'budget' });
    expect([body['thinking'], body['max_tokens'], warnings]).toEqual([
      { type: 'disabled' },
      500,
      'thinking_off:reasoning_effort',
    ]);
  });

  it('rejects the call if the affordable limit is below the budget', () => {
    const content = { reasoning: { effort: 'high', show: 'text' } } as const;
    const error = refusalOf(() => build(content, { outputLimit: 1024, flags: { thinkingMode: 'budget' } }));
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({
      kind: 'insufficient_quota',
      message: expect.stringMatching(/^insufficient quota/) as unknown,
    });
    expect(build(content, { outputLimit: 2048, flags: { thinkingMode: 'budget' } }).body).toMatchObject({
      max_tokens: 2048,
      thinking: { type: 'enabled', budget_tokens: 1228 },
    });
  });

  it('is disabled in a tool loop without its reasoning, for models with budgets', () => {
    const turns = (...thoughts: readonly Part[]): Turn[] => [
      user(text('Go')),
      assistant(...thoughts, toolCall('a')),
      user(result('a')),
    ];
    const thought: Part = {
      kind: 'reasoning',
      text: '',
      opaque: { kind: 'signature', family: 'f', data: 'x', text: '' },
    };
    const reasoning = { effort: 'high', show: 'text' } as const;
    const flags = { thinkingMode: 'budget' };
    expect(flagged({ turns: turns(), reasoning }, flags)).toMatchObject({
      body: { thinking: { type: 'disabled' } },
      warnings: 'thinking_off:reasoning_effort',
    });
    expect(flagged({ turns: turns(thought), reasoning }, flags).body).toMatchObject({ thinking: { type: 'enabled' } });
  });

  it.each([
    ['adaptive', { thinking: { type: 'disabled' }, tool_choice: { type: 'any' } }, 'thinking_off:reasoning_effort'],
    ['budget', { thinking: { type: 'disabled' }, tool_choice: { type: 'any' } }, 'thinking_off:reasoning_effort'],
    ['always', { thinking: { type: 'adaptive' }, tool_choice: { type: 'auto' } }, 'tool_not_forced:tool_choice'],
  ])('yields to a forced tool if possible: %s (case 85)', (thinkingMode, expected, warnings) => {
    const content = {
      tools: [aTool()],
      toolChoice: { mode: 'required' },
      reasoning: { effort: 'high', show: 'text' },
    } as const;
    const request = flagged(content, { thinkingMode });
    expect(request.body).toMatchObject(expected);
    expect(request.warnings).toBe(warnings);
  });

  it('is dropped with a warning if not supported', () => {
    const request = flagged({ reasoning: { effort: 'high', show: 'text' } });
    expect(request.warnings).toBe('thinking_off:reasoning_effort');
    expect(request.text).not.toContain('effort');
    expect(
      flagged({ reasoning: { effort: 'high', show: 'text' } }, { reasoning: true }).body['thinking'],
    ).toMatchObject({ type: 'adaptive' });
  });
});
