// How quiet the machine was while the run lasted.
import { loadavg } from 'node:os';
import { cpuOfMachine } from './cpu.ts';

/** Shares of the time of one core. */
interface NoiseReading {
  readonly loadAverageBefore: readonly number[];
  readonly stolenPercent: number | undefined;
}

export class NoiseMeter {
  private readonly loadAverageBefore = loadavg();
  private readonly since = performance.now();
  private readonly before = cpuOfMachine();

  read(): NoiseReading {
    const { loadAverageBefore, before } = this;
    const after = cpuOfMachine();
    if (before === undefined || after === undefined) return { loadAverageBefore, stolenPercent: undefined };
    const wallUs = (performance.now() - this.since) * 1000;
    return { loadAverageBefore, stolenPercent: ((after.stolenUs - before.stolenUs) / wallUs) * 100 };
  }
}
