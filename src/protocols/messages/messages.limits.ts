import type { LimitStatus, LimitStatuses } from '../../platform/limits/index.js';

/** How much is left of our limits, as Messages says it in headers. */
export const renderMessagesLimits = ({ requests, tokens }: LimitStatuses): Record<string, string> => ({
  ...headersOf('requests', requests),
  ...headersOf('tokens', tokens),
});

function headersOf(what: string, standing: LimitStatus | undefined): Record<string, string> {
  if (standing === undefined) return {};
  return {
    [`anthropic-ratelimit-${what}-limit`]: String(standing.limit),
    [`anthropic-ratelimit-${what}-remaining`]: String(standing.remaining),
    // The vendor's has whole seconds: never sooner than it is.
    [`anthropic-ratelimit-${what}-reset`]: new Date(Math.ceil(standing.resetsAt / 1000) * 1000)
      .toISOString()
      .replace('.000Z', 'Z'),
  };
}
