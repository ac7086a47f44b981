import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { eventually } from '../support/eventually.js';
import { finished, SweepBench } from '../support/sweep-bench.js';

const SCRIPT = resolve(import.meta.dirname, '../support/stalling-process.mjs');
const LIMIT = { heartbeatMs: 100, deadAfterMs: 1000 };

describe('a process that stands still for longer than the limit', () => {
  let bench: SweepBench;
  let child: ChildProcess;
  beforeEach(async () => {
    bench = await SweepBench.start();
    child = fork(SCRIPT, { execArgv: [] });
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await bench.stop();
  });

  const ask = async (order: string, argument?: unknown): Promise<unknown> => {
    const response = once(child, 'message');
    child.send([order, argument]);
    return (await response)[0] as unknown;
  };

  it('loses its calls to another one, and its own late settlement replaces what that has written, charged once', async () => {
    const sweeper = await bench.process(LIMIT);
    const id = (await ask('start', { url: bench.database.url, times: LIMIT })) as string;
    const request = bench.asking(id);
    expect(await ask('admit', request)).toBe('admitted');
    // It lives: however often somebody looks, its call stays open.
    await eventually(() => expect(sweeper.presence.steadyMs).toBeGreaterThan(2 * LIMIT.deadAfterMs));
    await sweeper.sweep();
    expect(await bench.openIds()).toEqual([request.id]);

    child.kill('SIGSTOP');
    await eventually(async () => {
      await sweeper.sweep();
      expect(await bench.openIds()).toEqual([]);
    }, 20_000);
    expect(await bench.calls()).toEqual([{ id: request.id, status: 'interrupted', cost: '0' }]);
    expect(await bench.wallet()).toMatchObject({ balance: 1_000_000_000n, held: 0n });
    expect(await bench.listed()).toEqual([sweeper.self.id]);

    child.kill('SIGCONT');
    expect(await ask('settle', finished(request, 3_000_000n))).toBe('3000000');
    expect(await ask('settle', finished(request, 3_000_000n))).toBe('undefined');
    expect(await bench.calls()).toEqual([{ id: request.id, status: 'succeeded', cost: '3000000' }]);
    expect(await bench.wallet()).toMatchObject({ balance: 997_000_000n, held: 0n, holds: 0 });
    expect(await bench.ledger()).toEqual({ exact: true, differences: [] });
    // It is among the living again, and its next call is its own.
    await eventually(async () => expect(await bench.listed()).toContain(id));
    const next = bench.asking(id);
    expect(await ask('admit', next)).toBe('admitted');
    await sweeper.sweep();
    expect(await bench.openIds()).toEqual([next.id]);
    expect(await ask('settle', finished(next, 1n))).toBe('1');
    expect(await ask('end')).toBe('ended');
    await once(child, 'close');
    expect(await bench.listed()).toEqual([sweeper.self.id]);
  }, 60_000);
});
