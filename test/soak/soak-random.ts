/** Numbers that look like chance and are the same in every run with the same seed. */

export class SoakRandom {
  constructor(private state: number) {}

  /** From 0 to below 1. */
  next(): number {
    // mulberry32
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** True so often of a hundred times. */
  percent(often: number): boolean {
    return this.next() * 100 < often;
  }

  of<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from.');
    return item;
  }
}
