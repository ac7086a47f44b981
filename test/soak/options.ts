/** The command line of the soak. */

import { parseArgs } from 'node:util';

export interface Options {
  readonly minutes: number;
  readonly workers: number;
  readonly clients: number;
  /** The same number gives the same faults in the same order. */
  readonly seed: number;
}

export const USAGE = `npm run soak -- [options]

  --minutes N   how long clients call (10; 2 at least; the long form is 60)
  --workers N   processes that serve (1)
  --clients N   how many call at a time (12)
  --seed N      another order of faults (1)
`;

/** @throws with a line that says what is wrong */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      workers: { type: 'string', default: '1' },
      clients: { type: 'string', default: '12' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const number = (name: 'minutes' | 'workers' | 'clients' | 'seed'): number => {
    const value = Number(values[name]);
    if (!(value > 0) || (name !== 'minutes' && !Number.isInteger(value)))
      throw new Error(`--${name} takes a number above 0.`);
    return value;
  };
  const [minutes, workers] = [number('minutes'), number('workers')];
  if (minutes < 2)
    throw new Error('--minutes takes 2 at least: in less not everything that is to happen has its turn.');
  return { minutes, workers, clients: number('clients'), seed: number('seed') };
}
