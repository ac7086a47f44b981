import {
  type Effort,
  nearestEffort,
  REASONING_EFFORT,
  type ReasoningRequest,
  type TreeObject,
} from '../contract/index.js';
import { lacksReasoning, type MessagesBuild } from './build-turns.js';
import { unaffordableThinking } from './errors.js';

interface ThinkingPlan {
  readonly thinking?: TreeObject;
  readonly effort?: Effort | undefined;
  readonly isOn: boolean;
}

/** `open`: the model decides. */
export function requestedThinking({ effort, thinking }: ReasoningRequest): 'on' | 'off' | 'open' {
  if (thinking === 'off' || effort === 'none') return 'off';
  return effort !== undefined || thinking === 'on' ? 'on' : 'open';
}

const DISABLED = { type: 'disabled' };

/**
 * @param maxTokens output limit including reasoning
 * @param isForced a tool call is forced, which excludes reasoning
 * @throws AppError insufficient_quota when reasoning would use up the affordable limit
 */
export function planThinking(build: MessagesBuild, maxTokens: number, isForced: boolean): ThinkingPlan {
  const { content, warnings, flags } = build;
  const { thinkingMode: mode } = flags;
  const requested = requestedThinking(content.reasoning);
  if (requested === 'open') return { isOn: mode === 'always' };
  if (requested === 'off') {
    if (mode === 'always') warnings.warn('thinking_on', REASONING_EFFORT);
    const hasSwitch = mode === 'adaptive' || mode === 'budget';
    return { ...(hasSwitch && { thinking: DISABLED }), isOn: mode === 'always' };
  }
  if (mode === 'none' || (isForced && mode !== 'always')) {
    warnings.warn('thinking_off', REASONING_EFFORT);
    return { ...(mode !== 'none' && { thinking: DISABLED }), isOn: false };
  }
  if (mode === 'budget') return planBudget(build, maxTokens);
  const display = content.reasoning.show === 'text' ? 'summarized' : 'omitted';
  return { thinking: { type: 'adaptive', display }, effort: effortOf(build), isOn: true };
}

/** Share of the output limit by effort. */
const SHARES: ReadonlyMap<string, number> = new Map([
  ['minimal', 0.02],
  ['low', 0.1],
  ['medium', 0.3],
  ['high', 0.6],
  ['xhigh', 0.9],
  ['max', 0.95],
]);
const MIN_BUDGET = 1024;

function planBudget({ content, target, warnings }: MessagesBuild, maxTokens: number): ThinkingPlan {
  const { effort = '', budget: wanted } = content.reasoning;
  const share = SHARES.get(effort);
  const budget = wanted ?? (share === undefined ? undefined : Math.floor(maxTokens * share));
  if (budget === undefined) {
    if (effort !== '') warnings.warn('unsupported_parameter', REASONING_EFFORT);
    return { isOn: false };
  }
  const effective = Math.max(budget, MIN_BUDGET);
  if (target.outputLimit !== undefined && target.outputLimit <= effective) {
    throw unaffordableThinking(target.outputLimit, REASONING_EFFORT, effective);
  }
  if (maxTokens <= effective || lacksReasoning(content.turns, target.family)) {
    warnings.warn('thinking_off', REASONING_EFFORT);
    return { thinking: DISABLED, isOn: false };
  }
  return { thinking: { type: 'enabled', budget_tokens: effective }, isOn: true };
}

function effortOf({ content, flags, warnings }: MessagesBuild): Effort | undefined {
  const { effort } = content.reasoning;
  if (effort === undefined) return undefined;
  const nearest = nearestEffort(effort, flags.efforts);
  // The lowest supported effort is no substitute.
  if (nearest !== effort && effort !== 'minimal')
    warnings.warn(nearest === undefined ? 'unsupported_parameter' : 'substituted', REASONING_EFFORT);
  return nearest;
}
