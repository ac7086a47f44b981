import { countIn, irregularIn, objectIn, withParts, type IrregularTotals, type TokenUsage } from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';

/** As the vendor calls the service that everybody gets. No other one is asked for here, so that none may be charged for. */
const DEFAULT_TIER = 'standard';

/**
 * The tokens of a `usageMetadata`; undefined when it says nothing. The prompt includes what was cached, and gets what the
 * upstream's own tools put before the model; the candidates are without the thoughts, which are charged like them.
 */
export function usageIn(reported: JsonObject): TokenUsage | undefined {
  const prompt = countIn(reported, 'promptTokenCount');
  const total = countIn(reported, 'totalTokenCount');
  const reasoning = countIn(reported, 'thoughtsTokenCount') ?? 0;
  const said = countIn(reported, 'candidatesTokenCount');
  // How much of a total was the prompt cannot be told.
  if ((prompt ?? said) === undefined) return undefined;
  const input = (prompt ?? 0) + (countIn(reported, 'toolUsePromptTokenCount') ?? 0);
  const answer = said ?? Math.max(0, (total ?? 0) - input - reasoning);
  return withParts({
    input,
    cacheRead: countIn(reported, 'cachedContentTokenCount') ?? 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: answer + reasoning,
    reasoning,
    ...mediaCounts(reported),
    ...irregular(reported, answer + reasoning > 0),
    serviceTier: DEFAULT_TIER,
  });
}

const TOTALS = { input: 'promptTokenCount', output: 'candidatesTokenCount' };

/** Zeros are left out in this dialect, and what other counts say of an answer is enough. */
function irregular(reported: JsonObject, isOutputKnown: boolean): { readonly irregular?: IrregularTotals } {
  const { input, output } = irregularIn(reported, TOTALS).irregular ?? {};
  const isOutputIrregular = output !== undefined && output !== '' && !isOutputKnown;
  if (input === undefined && !isOutputIrregular) return {};
  return { irregular: { ...(input !== undefined && { input }), ...(isOutputIrregular && { output }) } };
}

/** Whether a report speaks of the answer. */
export const speaksOfOutput = (reported: JsonObject): boolean =>
  countIn(reported, 'candidatesTokenCount') !== undefined || (usageIn(reported)?.output ?? 0) > 0;

function mediaCounts(reported: JsonObject): Pick<TokenUsage, 'imageInput' | 'audioInput' | 'audioOutput'> {
  const imageInput = tokensOf(reported, 'promptTokensDetails', 'IMAGE');
  const audioInput = tokensOf(reported, 'promptTokensDetails', 'AUDIO');
  const audioOutput = tokensOf(reported, 'candidatesTokensDetails', 'AUDIO');
  return {
    ...(imageInput > 0 && { imageInput }),
    ...(audioInput > 0 && { audioInput }),
    ...(audioOutput > 0 && { audioOutput }),
  };
}

/** `[{ modality: 'TEXT', tokenCount: 9 }, …]` */
function tokensOf(reported: JsonObject, member: string, modality: string): number {
  const details = reported[member];
  if (!Array.isArray(details)) return 0;
  const counts = (details as unknown[]).map((detail) =>
    isJsonObject(detail) && detail['modality'] === modality ? (countIn(detail, 'tokenCount') ?? 0) : 0,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The `usageMetadata` of an answer or a piece of it. */
export const reportIn = (response: JsonObject): JsonObject => objectIn(response, 'usageMetadata');
