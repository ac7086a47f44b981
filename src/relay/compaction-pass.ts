import { concat, concatMap, defer, type Observable, of } from 'rxjs';
import { type FinishedCompaction, type Frame, NO_BYTES, type TokenUsage } from '../protocols/contract/index.js';
import type { CallTranslation } from './call-translation.js';

/**
 * Frames of a summary, whose last one has its text, and of the response after it. The client sees nothing of the summary
 * before the response begins, but is charged if it leaves.
 */
export function compactedFirst(
  frames: Observable<Frame>,
  translation: CallTranslation,
  goOn: (finished: FinishedCompaction) => Observable<Frame>,
): Observable<Frame> {
  return defer(() => {
    let reported: TokenUsage | undefined;
    let output = 0;
    return frames.pipe(
      concatMap((frame) => {
        for (const signal of frame.signals) {
          if (signal.type === 'usage' && signal.isProvisional !== true) reported = signal.usage;
          if (signal.type === 'output') output += signal.units;
        }
        const hidden: Frame = { bytes: NO_BYTES, signals: frame.signals, last: false };
        if (!frame.last) return of(hidden);
        const usage = reported ?? translation.estimate(Math.ceil(output)).usage;
        const finished = { summary: Buffer.from(frame.bytes).toString('utf8'), usage };
        return concat(
          of(hidden),
          defer(() => goOn(finished)),
        );
      }),
    );
  });
}
