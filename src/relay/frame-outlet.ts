import type { Subscriber } from 'rxjs';
import type { Frame } from '../protocols/contract/index.js';

/** Where the frames of an answer go: a subscriber, or what stands in front of it. */
export type FrameOutlet = Pick<Subscriber<Frame>, 'next' | 'error' | 'complete'>;
