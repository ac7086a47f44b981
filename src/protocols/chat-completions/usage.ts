import type { JsonObject } from '../../platform/shared/index.js';
import {
  cacheWrites,
  countIn,
  hasAny,
  irregularIn,
  mediaIn,
  mediaOut,
  objectIn,
  tierIn,
  type TokenUsage,
  withParts,
  withPasses,
} from '../contract/index.js';

const TOTALS = { input: 'prompt_tokens', output: 'completion_tokens' };

/** Reported usage; undefined if there is none. The prompt includes cached tokens. */
function tokenUsage(usage: JsonObject | undefined): TokenUsage | undefined {
  const input = countIn(usage, 'prompt_tokens');
  const output = countIn(usage, 'completion_tokens');
  if (!hasAny(usage, 'prompt_tokens', 'completion_tokens')) return undefined;
  const completion = objectIn(usage, 'completion_tokens_details');
  const prompt = objectIn(usage, 'prompt_tokens_details');
  const written = countIn(prompt, 'cache_write_tokens') ?? 0;
  const written12h = countIn(objectIn(prompt, 'cache_write_tokens_details'), 'ttl_12h_tokens') ?? 0;
  return withParts({
    input: input ?? 0,
    cacheRead: countIn(prompt, 'cached_tokens') ?? 0,
    cacheWrite: Math.max(0, written - written12h),
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: countIn(completion, 'reasoning_tokens') ?? 0,
    ...(written12h > 0 && { cacheWrite12h: written12h }),
    ...mediaIn(prompt),
    ...mediaOut(completion),
    ...irregularIn(usage, TOTALS),
  });
}

/** Usage for clients with all details. Passes are included in the totals, since the protocol has none. */
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

/** Usage with other charged items. */
export function chatUsage(
  usage: JsonObject | undefined,
  { serviceTier, searched, ...served }: { readonly serviceTier: unknown; readonly searched: boolean } & ServedBy,
): TokenUsage | undefined {
  const tokens = tokenUsage(usage);
  return tokens && { ...tokens, ...served, ...tierIn(serviceTier), ...(searched && { toolUses: ONE_SEARCH }) };
}

const ONE_SEARCH = { web_search: 1 };
/** A quoted name before a colon is a member, never text. */
const ANNOTATIONS = /"annotations"\s*:\s*\[\s*\{/;

/** Whether the upstream searched the web: it does not report uses, but cites results. */
export const cites = (text: string): boolean => ANNOTATIONS.test(text);
