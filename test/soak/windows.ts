/** When something was broken on purpose, so that what clients met then can be told from what they should not have met. */

export type Disturbance = 'upstream' | 'database' | 'restart' | 'redis';

export interface Window {
  readonly what: Disturbance;
  readonly detail: string;
  readonly fromMs: number;
  /** The end of it, with the time that things may take to be as before; open while it lasts. */
  untilMs: number;
}

export class Windows {
  readonly all: Window[] = [];

  /** @returns what closes it. @param graceMs so much longer it excuses what fails */
  open(what: Disturbance, detail: string, graceMs: number): () => void {
    const window: Window = { what, detail, fromMs: performance.now(), untilMs: Infinity };
    this.all.push(window);
    return () => (window.untilMs = performance.now() + graceMs);
  }

  /** Whether something may have failed between these moments: all but Redis is missed. */
  excuses(fromMs: number, untilMs: number): boolean {
    return this.all.some((window) => window.what !== 'redis' && window.fromMs <= untilMs && window.untilMs >= fromMs);
  }

  /** Whether the program itself was away. */
  isAway(fromMs: number, untilMs: number): boolean {
    return this.all.some((window) => window.what === 'restart' && window.fromMs <= untilMs && window.untilMs >= fromMs);
  }
}
