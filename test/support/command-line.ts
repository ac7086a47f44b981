import { jest } from '@jest/globals';
import { run, withApp } from '../../src/app/cli/index.js';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In this process, with what it prints caught. */
export const switchboard = (...args: string[]): Promise<Outcome> => commandIn(withApp, ...args);

/** The same with an application that a test has changed. */
export async function commandIn(inApp: typeof withApp, ...args: string[]): Promise<Outcome> {
  const caught = { stdout: '', stderr: '' };
  const catching = (stream: 'stdout' | 'stderr') =>
    jest.spyOn(process[stream], 'write').mockImplementation(((chunk: unknown, ...rest: unknown[]) => {
      caught[stream] += String(chunk);
      const done = rest.at(-1);
      if (typeof done === 'function') (done as () => void)();
      return true;
    }) as never);
  const spies = [catching('stdout'), catching('stderr')];
  try {
    return { code: await run(args, inApp), ...caught };
  } finally {
    spies.forEach((spy) => spy.mockRestore());
  }
}

/** The object that a command printed; fails when the command did. */
export async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await switchboard(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}
