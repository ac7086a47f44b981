import { type MonoTypeOperatorFunction, concatMap, from, map, of } from 'rxjs';
import type { Frame } from '../protocols/contract/index.js';

/** Holds the end of an answer back until it is kept: its client may name it as soon as it has it. */
export const firstFrameBuffer = (keep: (last: Uint8Array) => Promise<void>): MonoTypeOperatorFunction<Frame> =>
  concatMap((frame) => (frame.last ? from(keep(frame.bytes)).pipe(map(() => frame)) : of(frame)));
