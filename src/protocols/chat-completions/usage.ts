import type { JsonObject } from '../../platform/shared/index.js';
import { cacheWrites, openAiUsage, tierIn, type TokenUsage, withPasses } from '../contract/index.js';

const TOTALS = { input: 'prompt_tokens', output: 'completion_tokens' };

/** Passes are included in the totals, since the protocol has none. */
export function renderUsage(reported: TokenUsage): JsonObject {
  const usage = withPasses(reported);
  const { input, cacheRead, output, reasoning, audioInput, audioOutput } = usage;
  const written = cacheWrites(usage);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...(written > 0 && { cache_write_tokens: written }),
      ...(audioInput !== undefined && { audio_tokens: audioInput }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...(audioOutput !== undefined && { audio_tokens: audioOutput }),
    },
  };
}

type ServedBy = Pick<TokenUsage, 'servedBy'>;

/** Includes other charged items. */
export function chatUsage(
  usage: JsonObject | undefined,
  { serviceTier, searched, ...served }: { readonly serviceTier: unknown; readonly searched: boolean } & ServedBy,
): TokenUsage | undefined {
  const tokens = openAiUsage(usage, TOTALS);
  return tokens && { ...tokens, ...served, ...tierIn(serviceTier), ...(searched && { toolUses: ONE_SEARCH }) };
}

const ONE_SEARCH = { web_search: 1 };
const ANNOTATIONS = /"annotations"\s*:\s*\[\s*\{/;

/** Whether the upstream searched the web: it does not report uses, but cites results. */
export const cites = (text: string): boolean => ANNOTATIONS.test(text);
