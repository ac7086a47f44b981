import { setTimeout as sleep } from 'node:timers/promises';
import { RecurringWork } from './recurring-work.js';

describe('recurring work', () => {
  const reported: string[] = [];
  const report = (error: unknown): void => void reported.push(String(error));
  beforeEach(() => void reported.splice(0));

  it('starts immediately, and again after the delay its run returns', async () => {
    let turns = 0;
    const work = new RecurringWork({ run: async () => (++turns === 1 ? 1 : 60_000), afterFailureMs: 1, report });
    work.start();
    await sleep(50);
    expect(turns).toBe(2);
    await work.stop();
  });

  it('runs once, however often it is started', async () => {
    let turns = 0;
    const work = new RecurringWork({ run: async () => (turns++, 60_000), afterFailureMs: 1, report });
    work.start();
    work.start();
    await work.stop();
    expect(turns).toBe(1);
  });

  it('continues after a failure, and reports it when it begins, changes or recurs', async () => {
    const failures = ['away', 'away', 'full', undefined, 'full'];
    const work = new RecurringWork({
      run: async () => {
        const failure = failures.shift();
        if (failure !== undefined) throw new Error(failure);
        return failures.length === 0 ? 60_000 : 1;
      },
      afterFailureMs: 1,
      report,
    });
    work.start();
    await sleep(80);
    expect(reported).toEqual(['Error: away', 'Error: full', 'Error: full']);
    await work.stop();
  });

  it('aborts and awaits the current run when stopped, and reports nothing more', async () => {
    let told = false;
    const work = new RecurringWork({
      run: async (stopped) => {
        await sleep(20);
        told = stopped.aborted;
        throw new Error('the database is closed');
      },
      afterFailureMs: 1,
      report,
    });
    work.start();
    await work.stop();
    expect(told).toBe(true);
    expect(reported).toEqual([]);
  });
});
