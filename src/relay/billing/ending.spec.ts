import type { TokenUsage } from '../../protocols/contract/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { UsageBounds } from './usage-check.js';
import { type Ending, type Progress, chargeFor } from './ending.js';

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
const progress = ({ outputUnits = 0, ...overrides }: Partial<Progress>): Progress => ({
  usage: undefined,
  outputUnits,
  shownUnits: outputUnits,
  begun: false,
  promptSent: false,
  bounds: BOUNDS,
  ...overrides,
});
const left: Ending = { status: 'cancelled', error: new AppError('context_canceled', 'context canceled') };
const failed: Ending = { status: 'failed', error: new AppError('upstream_error', 'failed') };

describe('what is charged at each ending', () => {
  it('finished with a report: the report', () => {
    expect(chargeFor({ status: 'succeeded' }, progress({ usage: reported, begun: true }), 100)).toEqual({
      basis: 'reported',
      usage: reported,
    });
  });

  it('finished without a report: what was counted', () => {
    const charge = chargeFor({ status: 'succeeded' }, progress({ outputUnits: 7, begun: true }), 100);
    expect(charge).toMatchObject({ basis: 'estimated', usage: { input: 100, output: 7 } });
  });

  it('finished without a report: the prompt as counted, and the output without what was thought out of sight', () => {
    const ended = { ...progress({ outputUnits: 7, begun: true, countedPrompt: 80 }), shownUnits: 5 };
    expect(chargeFor({ status: 'succeeded' }, ended, 100)).toMatchObject({
      basis: 'estimated',
      usage: { input: 80, output: 5 },
    });
    expect(chargeFor(left, ended, 100)).toMatchObject({ basis: 'partial', usage: { input: 80, output: 7 } });
  });

  it('finished with nothing but a report from the beginning: its prompt, and the output that was counted', () => {
    const usage = { ...reported, input: 900, cacheRead: 400, output: 1, serviceTier: 'priority' };
    const ended = progress({ usage, isProvisional: true, outputUnits: 4000, begun: true });
    expect(chargeFor({ status: 'succeeded' }, ended, 100)).toEqual({
      basis: 'estimated',
      usage: { ...usage, output: 4000 },
      findings: ['completion_missing'],
    });
    expect(chargeFor(left, ended, 100)).toEqual({ basis: 'partial', usage: { ...usage, output: 4000 } });
  });

  it('finished with a report from the beginning that knows of no prompt: all as counted', () => {
    const usage = { ...reported, input: 0, output: 0 };
    const ended = progress({ usage, isProvisional: true, outputUnits: 7, begun: true });
    expect(chargeFor({ status: 'succeeded' }, ended, 100)).toMatchObject({
      basis: 'estimated',
      usage: { input: 100, output: 7 },
    });
    expect(chargeFor({ status: 'succeeded' }, { ...ended, countedPrompt: 80 }, 100)).toMatchObject({
      basis: 'estimated',
      usage: { input: 80, output: 7 },
    });
  });

  it('client left after output began: the report so far, else prompt and streamed tokens', () => {
    expect(chargeFor(left, progress({ begun: true, outputUnits: 7, promptSent: true }), 100)).toMatchObject({
      basis: 'partial',
      usage: { input: 100, output: 7 },
    });
    expect(
      chargeFor(left, progress({ begun: true, usage: { ...reported, output: 1 }, outputUnits: 7 }), 100),
    ).toMatchObject({ basis: 'partial', usage: { input: 90, output: 7 } });
  });

  it('client left before the upstream answered: nothing; after its headers: the prompt', () => {
    expect(chargeFor(left, progress({}), 100)).toEqual({ basis: 'free', usage: undefined });
    expect(chargeFor(left, progress({ promptSent: true }), 100)).toMatchObject({
      basis: 'partial',
      usage: { input: 100, output: 0 },
    });
  });

  it('upstream failed before any output: nothing; mid-stream: as if the client had left', () => {
    expect(chargeFor(failed, progress({ promptSent: true }), 100).basis).toBe('free');
    expect(chargeFor(failed, progress({ begun: true, outputUnits: 7 }), 100)).toMatchObject({
      basis: 'partial',
      usage: { input: 100, output: 7 },
    });
  });

  it('refused: nothing', () => {
    const refused: Ending = { status: 'refused', error: new AppError('model_not_found', 'unknown') };
    expect(chargeFor(refused, progress({}), 100)).toEqual({ basis: 'free', usage: undefined });
  });
});
