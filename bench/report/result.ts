// What a run comes to; the result file is this, as JSON.
import type { Figures } from './figures.ts';

export interface Line {
  /** Whose figures these are: a subject's, or what was asked of it where there is only one. */
  readonly subject: string;
  /** The median of the rounds. */
  readonly figures: Figures;
  /** Each round for itself; empty where there is only one. */
  readonly rounds: readonly Figures[];
}

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly lines: readonly Line[];
  /** What a reader must know to read the figures rightly. */
  readonly notes: readonly string[];
}

export interface Verdict {
  readonly target: string;
  /** What was measured, in words; undefined when it was not. */
  readonly measured: string | undefined;
  /** Undefined when it was not measured, or for too short a time to say. */
  readonly met: boolean | undefined;
}

interface Noise {
  readonly loadAverageBefore: readonly number[];
  readonly stolenPercent: number | undefined;
  /** CPU time that went to programs which are no part of the run, of one core. */
  readonly foreignPercent: number | undefined;
  /** Largest less smallest CPU of the bare proxy between rounds, of its median, in the noisiest scenario. */
  readonly proxySpreadPercent: number | undefined;
}

export interface Result {
  readonly startedAt: string;
  readonly seconds: number;
  readonly commit: string | undefined;
  readonly node: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryMb: number };
  readonly pinned: boolean;
  readonly peer: string | undefined;
  readonly arguments: readonly string[];
  readonly noise: Noise;
  readonly scenarios: readonly ScenarioResult[];
  readonly targets: readonly Verdict[];
}

export function figuresOf(scenario: ScenarioResult | undefined, subject: string): Figures {
  return scenario?.lines.find((line) => line.subject === subject)?.figures ?? {};
}
