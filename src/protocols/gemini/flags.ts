import { type Effort, GOOGLE_EFFORTS, type GoogleFlags, googleFlags, type UpstreamTarget } from '../contract/index.js';

/** How reasoning is controlled. */
type GeminiThinkingMode = 'level' | 'budget' | 'none';

export interface GeminiFlags extends GoogleFlags {
  readonly thinkingMode: GeminiThinkingMode;
  /** Ascending; budgets are expressed as efforts too. */
  readonly efforts: readonly Effort[];
  readonly canDisableThinking: boolean;
  readonly takesPenalties: boolean;
}

/** All models with budgets except the largest can disable reasoning. */
const EFFORTS_BY_BUDGET: readonly Effort[] = ['none', ...GOOGLE_EFFORTS];

export function geminiFlags(target: UpstreamTarget): GeminiFlags {
  const { flags } = target;
  const thinkingMode = thinkingModeOf(flags);
  const efforts = effortsOf(flags, thinkingMode);
  const common = googleFlags(target);
  return {
    ...common,
    thinkingMode,
    efforts: efforts.filter((effort) => effort !== 'none'),
    canDisableThinking: thinkingMode === 'budget' && efforts.includes('none'),
    takesPenalties: common.takesSampling && flags['penalties'] === true,
  };
}

const THINKING_MODES: readonly unknown[] = ['level', 'budget', 'none'] satisfies GeminiThinkingMode[];

/** A model that is only marked as reasoning is assumed to be current. */
function thinkingModeOf({ thinkingMode, reasoning = false }: UpstreamTarget['flags']): GeminiThinkingMode {
  if (THINKING_MODES.includes(thinkingMode)) return thinkingMode as GeminiThinkingMode;
  return reasoning === false ? 'none' : 'level';
}

function effortsOf({ efforts }: UpstreamTarget['flags'], mode: GeminiThinkingMode): readonly Effort[] {
  if (Array.isArray(efforts)) return efforts.filter((effort) => typeof effort === 'string');
  return mode === 'budget' ? EFFORTS_BY_BUDGET : GOOGLE_EFFORTS;
}
