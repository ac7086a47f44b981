import { AppError } from '../../platform/shared/index.js';
import type { TokenUsage } from '../../protocols/contract/index.js';
import { type Ending, type Progress, chargeFor } from './charge.js';
import type { UsageBounds } from './usage-check.js';

const reported: TokenUsage = { input: 90, output: 20, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
const BOUNDS: UsageBounds = {
  prompt: 1000,
  likelyPrompt: 100,
  isCountable: true,
  completion: 8000,
  completionShown: undefined,
  contextWindow: 200_000,
  hasHostedTools: false,
  addsPasses: false,
  maxPasses: 0,
  maxToolUses: () => 10,
};
const progress = ({ outputTokens = 0, ...overrides }: Partial<Progress>): Progress => ({
  usage: undefined,
  outputTokens,
  visibleTokens: outputTokens,
  begun: false,
  promptSent: false,
  bounds: BOUNDS,
  ...overrides,
});
const left: Ending = { status: 'cancelled', error: new AppError('context_canceled', 'context canceled') };
const failed: Ending = { status: 'failed', error: new AppError('upstream_error', 'failed') };

describe('chargeFor', () => {
  it('charges the report when the call succeeded with one', () => {
    expect(chargeFor({ status: 'succeeded' }, progress({ usage: reported, begun: true }), 100)).toEqual({
      basis: 'reported',
      usage: reported,
    });
  });

  it('charges counted tokens when the call succeeded without a report', () => {
    const charge = chargeFor({ status: 'succeeded' }, progress({ outputTokens: 7, begun: true }), 100);
    expect(charge).toMatchObject({ basis: 'estimated', usage: { input: 100, output: 7 } });
  });

  it('charges the counted prompt and the visible output when the call succeeded without a report', () => {
    const ended = { ...progress({ outputTokens: 7, begun: true, countedPrompt: 80 }), visibleTokens: 5 };
    expect(chargeFor({ status: 'succeeded' }, ended, 100)).toMatchObject({
      basis: 'estimated',
      usage: { input: 80, output: 5 },
    });
    expect(chargeFor(left, ended, 100)).toMatchObject({ basis: 'partial', usage: { input: 80, output: 7 } });
  });

  it('charges the reported prompt and the counted output when the only report came first', () => {
    const usage = { ...reported, input: 900, cacheRead: 400, output: 1, serviceTier: 'priority' };
    const ended = progress({ usage, isProvisional: true, outputTokens: 4000, begun: true });
    expect(chargeFor({ status: 'succeeded' }, ended, 100)).toEqual({
      basis: 'estimated',
      usage: { ...usage, output: 4000 },
      findings: ['completion_missing'],
    });
    expect(chargeFor(left, ended, 100)).toEqual({ basis: 'partial', usage: { ...usage, output: 4000 } });
  });

  it('charges counted tokens when the only report came first and has no prompt', () => {
    const usage = { ...reported, input: 0, output: 0 };
    const ended = progress({ usage, isProvisional: true, outputTokens: 7, begun: true });
    expect(chargeFor({ status: 'succeeded' }, ended, 100)).toMatchObject({
      basis: 'estimated',
      usage: { input: 100, output: 7 },
    });
    expect(chargeFor({ status: 'succeeded' }, { ...ended, countedPrompt: 80 }, 100)).toMatchObject({
      basis: 'estimated',
      usage: { input: 80, output: 7 },
    });
  });

  it('charges the report so far, else prompt and streamed tokens, when the client left after output began', () => {
    expect(chargeFor(left, progress({ begun: true, outputTokens: 7, promptSent: true }), 100)).toMatchObject({
      basis: 'partial',
      usage: { input: 100, output: 7 },
    });
    expect(
      chargeFor(left, progress({ begun: true, usage: { ...reported, output: 1 }, outputTokens: 7 }), 100),
    ).toMatchObject({ basis: 'partial', usage: { input: 90, output: 7 } });
  });

  it('charges nothing when the client left before the upstream responded, and the prompt when it left after the headers', () => {
    expect(chargeFor(left, progress({}), 100)).toEqual({ basis: 'free', usage: undefined });
    expect(chargeFor(left, progress({ promptSent: true }), 100)).toMatchObject({
      basis: 'partial',
      usage: { input: 100, output: 0 },
    });
  });

  it('charges nothing when the upstream failed before output, and as for a cancellation when it failed mid-stream', () => {
    expect(chargeFor(failed, progress({ promptSent: true }), 100).basis).toBe('free');
    expect(chargeFor(failed, progress({ begun: true, outputTokens: 7 }), 100)).toMatchObject({
      basis: 'partial',
      usage: { input: 100, output: 7 },
    });
  });

  it('charges nothing when the call was refused', () => {
    const refused: Ending = { status: 'refused', error: new AppError('model_not_found', 'unknown') };
    expect(chargeFor(refused, progress({}), 100)).toEqual({ basis: 'free', usage: undefined });
  });
});
