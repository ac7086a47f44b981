/** Numbers that look drawn by chance and are the same in every run (the generator is mulberry32). */
export class SeededRandom {
  constructor(private state: number) {}

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Another sequence, which this one goes on without: for draws of which nobody knows how many it takes. */
  fork(): SeededRandom {
    return new SeededRandom(Math.floor(this.next() * 4_294_967_296));
  }

  /** True in this share of cases. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number; small ones as often as those ten times as large, which is how sizes and times are spread. */
  spread(least: number, most: number): number {
    return Math.round(least * (most / least) ** this.next());
  }

  /** One of the entries, each by its weight. @throws RangeError when there is none */
  weighted<Entry extends { readonly weight: number }>(entries: readonly Entry[]): Entry {
    let left = this.next() * entries.reduce((sum, { weight }) => sum + weight, 0);
    const drawn = entries.find(({ weight }) => (left -= weight) < 0) ?? entries.at(-1);
    if (drawn === undefined) throw new RangeError('Cannot draw from an empty list.');
    return drawn;
  }

  /** One of the entries, each as likely as another. @throws RangeError when there is none */
  pick<Entry>(entries: readonly Entry[]): Entry {
    return this.weighted(entries.map((entry) => ({ entry, weight: 1 }))).entry;
  }
}
