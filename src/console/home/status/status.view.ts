import { healthStrip } from '../../web/index.js';
import { clockTime, percent } from '../../../platform/format/index.js';
import type { OutcomeCounts, ModelOutcomes } from '../../../usage/index.js';
import type { CountedResponses } from './counted-responses.js';

const HOUR_MS = 3_600_000;
/** Success rate from which a model counts as operational: tolerates single failures among many calls. */
const WELL = 0.995;
const MAJORITY = 0.5;

export interface StatusFacts {
  /** Names of the models that the visitor can call. */
  readonly models: readonly string[];
  /** Undefined until a count has succeeded. */
  readonly counted: CountedResponses | undefined;
  /** Whether the service accepts calls. */
  readonly takesCalls: boolean;
  readonly timeZone: string;
}

/** Shows rates only: call volumes are not public. */
export function statusView({ models, counted, takesCalls, timeZone }: StatusFacts) {
  const rows = counted === undefined ? [] : models.map((name) => rowOf(name, counted, timeZone));
  return {
    takesCalls,
    verdict: takesCalls ? verdictOf(rows) : 'The service is not accepting calls',
    tone: takesCalls ? toneOf(rows) : 'bad',
    countedAt: counted?.countedAt,
    hasModels: models.length > 0,
    isQuiet: rows.length > 0 && rows.every(({ share }) => share === undefined),
    rows: rows.map(({ share, ...row }) => ({ ...row, share: share === undefined ? undefined : percent(share, 1) })),
  };
}

function rowOf(name: string, { models, hours }: CountedResponses, timeZone: string) {
  const answers = models.get(name);
  const share = answers && shareOf(answers);
  return {
    name,
    share,
    badge: badgeOf(share),
    firstTokenMs: answers?.firstTokenMs,
    strip: stripOf(name, answers, hours, timeZone),
  };
}

const stripOf = (name: string, answers: ModelOutcomes | undefined, hours: readonly number[], timeZone: string) =>
  healthStrip({
    name: `Success rate of ${name} by hour`,
    cellName: 'From',
    valueName: 'Success rate',
    cells: hours.map((start) => {
      const counts = answers?.hours.get(start / HOUR_MS);
      return { label: clockTime(new Date(start), timeZone, 'minutes'), share: counts && shareOf(counts) };
    }),
  });

function shareOf({ answered, failed }: OutcomeCounts): number | undefined {
  return answered + failed === 0 ? undefined : answered / (answered + failed);
}

function badgeOf(share: number | undefined): { readonly tone: string; readonly label: string } {
  if (share === undefined) return { tone: '', label: 'No calls' };
  if (share >= WELL) return { tone: 'ok', label: 'Operational' };
  return share >= MAJORITY ? { tone: 'warn', label: 'Some calls fail' } : { tone: 'bad', label: 'Most calls fail' };
}

type Rows = readonly { readonly badge: { readonly tone: string }; readonly share: number | undefined }[];

const toneOf = (rows: Rows): string =>
  ['bad', 'warn'].find((tone) => rows.some(({ badge }) => badge.tone === tone)) ?? 'ok';

function verdictOf(rows: Rows): string {
  const failing = rows.filter(({ badge }) => badge.tone === 'bad' || badge.tone === 'warn').length;
  if (failing > 0)
    return `Calls of ${failing === 1 ? 'one model' : `${failing} models`} have failed in the last 24 hours`;
  return rows.some(({ share }) => share !== undefined) ? 'All models operational' : 'The service is operational';
}
