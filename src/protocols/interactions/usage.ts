import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  countIn,
  irregularIn,
  type IrregularTotals,
  NO_TOKENS,
  objectsIn,
  type TokenUsage,
  withParts,
} from '../contract/index.js';

// https://ai.google.dev/api/interactions-api: `usage` of an interaction, also in events.

/**
 * Undefined if empty. The input excludes that of hosted tools, and the output excludes reasoning, which is charged as
 * output.
 */
export function usageIn(reported: unknown): TokenUsage | undefined {
  if (!isJsonObject(reported)) return undefined;
  const prompt = countIn(reported, 'total_input_tokens');
  const written = countIn(reported, 'total_output_tokens');
  // The prompt's share of a total is unknown.
  if ((prompt ?? written) === undefined) return undefined;
  const reasoning = countIn(reported, 'total_thought_tokens') ?? 0;
  const input = (prompt ?? 0) + (countIn(reported, 'total_tool_use_tokens') ?? 0);
  const output = written ?? Math.max(0, (countIn(reported, 'total_tokens') ?? 0) - input - reasoning);
  const searches = searchesIn(reported);
  return withParts({
    input,
    cacheRead: countIn(reported, 'total_cached_tokens') ?? 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: output + reasoning,
    reasoning,
    ...mediaCounts(reported),
    ...(searches > 0 && { toolUses: { [WEB_SEARCH]: searches } }),
    ...irregular(reported, output + reasoning > 0),
  });
}

/** By the name of the tool in every protocol. */
const WEB_SEARCH = 'web_search';

const TOTALS = { input: 'total_input_tokens', output: 'total_output_tokens' };

/** Zeros may be omitted, so missing output is fine if other counts are present. */
function irregular(reported: JsonObject, isOutputKnown: boolean): { readonly irregular?: IrregularTotals } {
  const { input, output } = irregularIn(reported, TOTALS).irregular ?? {};
  const isOutputIrregular = output !== undefined && output !== '' && !isOutputKnown;
  if (input === undefined && !isOutputIrregular) return {};
  return { irregular: { ...(input !== undefined && { input }), ...(isOutputIrregular && { output }) } };
}

/** `[{ type: 'google_search', count: 2 }, …]` */
function searchesIn(reported: JsonObject): number {
  const counts = objectsIn(reported['grounding_tool_count']).filter(({ type }) => type === 'google_search');
  return counts.reduce((sum, entry) => sum + (countIn(entry, 'count') ?? 0), 0);
}

/** Both totals are missing, and are counted instead. */
export const UNREPORTED: TokenUsage = { ...NO_TOKENS, irregular: { input: '', output: '' } };

/** Searches of the response's steps, where the usage has none. */
export const withSearches = (usage: TokenUsage, searches: number): TokenUsage =>
  usage.toolUses === undefined ? withMoreSearches(usage, searches) : usage;

export const withMoreSearches = (usage: TokenUsage, searches: number): TokenUsage =>
  searches === 0 ? usage : { ...usage, toolUses: { [WEB_SEARCH]: (usage.toolUses?.[WEB_SEARCH] ?? 0) + searches } };

function mediaCounts(reported: JsonObject): Pick<TokenUsage, 'imageInput' | 'audioInput' | 'audioOutput'> {
  const imageInput = tokensOf(reported, 'input_tokens_by_modality', 'image');
  const audioInput = tokensOf(reported, 'input_tokens_by_modality', 'audio');
  const audioOutput = tokensOf(reported, 'output_tokens_by_modality', 'audio');
  return {
    ...(imageInput > 0 && { imageInput }),
    ...(audioInput > 0 && { audioInput }),
    ...(audioOutput > 0 && { audioOutput }),
  };
}

/** `[{ modality: 'text', tokens: 9 }, …]` */
const tokensOf = (reported: JsonObject, member: string, modality: string): number =>
  objectsIn(reported[member]).reduce(
    (sum, entry) => sum + (entry['modality'] === modality ? (countIn(entry, 'tokens') ?? 0) : 0),
    0,
  );
