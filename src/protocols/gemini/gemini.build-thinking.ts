import { nearestEffort, requestedEffort, type Effort, type TreeObject } from '../contract/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { RequestBuild } from './gemini.build-context.js';

/** Where warnings say that the fault lies. */
const EFFORT = 'reasoning_effort';

/** Tokens that stand for an effort, as Google itself takes efforts in its compatible API. */
const BUDGETS: ReadonlyMap<Effort, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
]);
/** What every model with budgets takes. */
const MIN_BUDGET = 512;
const MAX_BUDGET = 24_576;

/**
 * How a model is to think: `thinkingConfig`; undefined leaves it to the model.
 * @param limit tokens that the model may write, thoughts included
 * @throws AppError insufficient_quota when thinking would use up all that can be paid
 */
export function planThinking(build: RequestBuild, limit: number): TreeObject | undefined {
  const { content, flags, losses } = build;
  const wished = requestedEffort(content.reasoning);
  if (flags.thinkingMode === 'none') {
    const isMissed = content.reasoning.thinking === 'on' || (wished !== undefined && wished !== 'none');
    if (isMissed) losses.warn('thinking_off', EFFORT);
    return undefined;
  }
  if (wished === 'none') return rested(build);
  const shown = content.reasoning.show === 'text' ? { includeThoughts: true } : {};
  const amount = wished === undefined ? {} : amountOf(build, wished, limit);
  if (amount['thinkingBudget'] === 0) return amount;
  const plan = { ...shown, ...amount };
  return Object.keys(plan).length > 0 ? plan : undefined;
}

/** As little as the model can. */
function rested({ flags, losses }: RequestBuild): TreeObject | undefined {
  if (flags.canRest) return { thinkingBudget: 0 };
  losses.warn('thinking_on', EFFORT);
  if (flags.thinkingMode === 'budget') return { thinkingBudget: MIN_BUDGET };
  const least = nearestEffort('minimal', flags.efforts);
  return least === undefined ? undefined : { thinkingLevel: least.toUpperCase() };
}

function amountOf(build: RequestBuild, wished: Effort, limit: number): TreeObject {
  const { content, flags, losses } = build;
  const { budget } = content.reasoning;
  if (flags.thinkingMode === 'budget' && budget !== undefined)
    return { thinkingBudget: ownBudget(build, budget, limit) };
  const effort = nearestEffort(wished, flags.efforts);
  // The least that the model has a word for is no substitute.
  if (effort !== wished && wished !== 'minimal')
    losses.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', EFFORT);
  if (effort === undefined) return {};
  if (flags.thinkingMode === 'level') return { thinkingLevel: effort.toUpperCase() };
  // What the client has not measured itself leaves half of the limit to the answer.
  const most = Math.floor(limit / 2);
  return { thinkingBudget: affordable(build, Math.min(BUDGETS.get(effort) ?? MAX_BUDGET, most), limit) };
}

/** A budget that the client names: as much as the model takes, and never all that it may write. */
function ownBudget(build: RequestBuild, budget: number, limit: number): number {
  const fitting = Math.min(Math.max(budget, MIN_BUDGET), MAX_BUDGET, limit - 1);
  if (fitting < budget) build.losses.warn('clamped', EFFORT);
  return affordable(build, fitting, limit);
}

/** The budget, if there is room for any. */
function affordable({ flags, losses, target }: RequestBuild, budget: number, limit: number): number {
  if (budget >= MIN_BUDGET) return budget;
  if (target.outputLimit === limit) throw unaffordable(limit);
  if (!flags.canRest) return MIN_BUDGET;
  losses.warn('thinking_off', EFFORT);
  return 0;
}

function unaffordable(limit: number): AppError {
  const message = `insufficient quota: the remaining credit covers ${limit} output tokens, too few for reasoning and a response. Lower ${EFFORT} or add credit.`;
  return new AppError('insufficient_quota', message, { param: EFFORT });
}
