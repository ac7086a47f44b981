import type { Dialect } from '../dialects.js';
import { referenceView } from './reference.view.js';

/** What the documentation is told of this service. */
export interface Documented {
  readonly dialects: readonly Dialect[];
  /** Where people reach it, without a trailing slash. */
  readonly base: string;
  readonly maxBodyBytes: number;
}

const MIB = 1024 * 1024;

export const docsView = ({ dialects, base, maxBodyBytes }: Documented) => ({
  base,
  addresses: dialects.map((dialect, index) => ({ ...dialect, id: `base-${index}`, address: base + dialect.base })),
  maxBody: `${Math.floor((maxBodyBytes / MIB) * 10) / 10} MiB`,
  operations: referenceView(),
});
