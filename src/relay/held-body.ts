import type { CallBody } from '../call/index.js';

/**
 * A request's body in memory, and its share of what all bodies may take. Both are kept while another channel may be
 * tried, and for no longer: a prompt of 60 MB must not lie here for the half hour that its answer takes.
 */
export class HeldBody implements CallBody {
  private kept: Buffer | undefined;

  constructor(
    bytes: Buffer,
    private readonly release: () => void,
  ) {
    this.kept = bytes;
  }

  get bytes(): Buffer {
    if (this.kept === undefined) throw new TypeError('The body of a call was asked for after it had been dropped.');
    return this.kept;
  }

  /** Again does nothing. */
  drop(): void {
    this.kept = undefined;
    this.release();
  }
}
