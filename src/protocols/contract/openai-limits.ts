import type { LimitStatus, LimitStatuses } from '../../platform/limits/index.js';

const MINUTE_S = 60;

/** How much is left of our limits, as Responses and Chat Completions say it in headers. */
export const renderOpenAiLimits = ({ requests, tokens }: LimitStatuses): Record<string, string> => ({
  ...headersOf('requests', requests),
  ...headersOf('tokens', tokens),
});

function headersOf(what: string, standing: LimitStatus | undefined): Record<string, string> {
  if (standing === undefined) return {};
  return {
    [`x-ratelimit-limit-${what}`]: String(standing.limit),
    [`x-ratelimit-remaining-${what}`]: String(standing.remaining),
    [`x-ratelimit-reset-${what}`]: durationText(standing.resetMs),
  };
}

/** `6m0s`, `1s`, `120ms`: never sooner than it is. */
function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < MINUTE_S ? `${seconds}s` : `${Math.floor(seconds / MINUTE_S)}m${seconds % MINUTE_S}s`;
}
