// Says when something else than the measured program was the limit.
import type { Line } from '../report/result.ts';
import type { Stage } from '../stage.ts';

/** From here on a core counts as full. */
const FULL_PERCENT = 92;

export function limitNotes(lines: readonly Line[], { surroundings: { cores } }: Stage): readonly string[] {
  return lines.flatMap(({ subject, figures }) => {
    const { busy_percent: busy, load_percent: load = 0, upstream_percent: upstream = 0 } = figures;
    const { database_percent: database = 0 } = figures;
    if (load >= FULL_PERCENT) return [`${subject}: the load generator was the limit (${load.toFixed(0)} % of a core).`];
    if (upstream >= FULL_PERCENT)
      return [`${subject}: the upstream was the limit (${upstream.toFixed(0)} % of a core).`];
    const shared = (load + upstream + database) / (cores?.otherCount ?? Infinity);
    if (shared < FULL_PERCENT || (busy ?? 0) >= FULL_PERCENT) return [];
    const who = database > 0 ? 'load generator, upstream and PostgreSQL' : 'load generator and upstream';
    return [
      `${subject}: ${who} had filled their share of the machine (${shared.toFixed(0)} %), so its calls/s and latencies are theirs.`,
    ];
  });
}
