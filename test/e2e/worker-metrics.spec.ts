import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { type MetricValues, readMetrics } from '../support/metrics.js';

interface CountingWorker {
  readonly pid: number;
  readonly port: number;
}

describe('the metrics of a service of several workers', () => {
  let primary: ChildProcess;
  let workers: ReadonlyMap<number, CountingWorker>;
  beforeAll(async () => {
    let output = '';
    primary = fork(resolve(import.meta.dirname, '../support/counting-cluster.mjs'), { silent: true });
    primary.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    primary.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await eventually(() => {
      const lines = [...output.matchAll(/^(\d+) (\d+) (\d+)$/gm)];
      workers = new Map(lines.map(([, id, pid, port]) => [Number(id), { pid: Number(pid), port: Number(port) }]));
      if (workers.size < 3) throw new Error(`There are not three workers yet: ${output}`);
    }, TIMEOUT_MS);
  }, TIMEOUT_MS);
  afterAll(() => primary.kill('SIGKILL'));

  const worker = (id: number): CountingWorker => workers.get(id) ?? { pid: 0, port: 0 };

  /** What a worker says, and how long it took. */
  async function ask(id: number): Promise<{ counted: number; processes: number; tookMs: number }> {
    const begunMs = performance.now();
    const response = await fetch(`http://127.0.0.1:${worker(id).port}/`);
    const measured: MetricValues = readMetrics(await response.text());
    const counted = measured.get('switchboard_counted_total') ?? 0;
    return { counted, processes: measured.get('switchboard_processes') ?? 0, tookMs: performance.now() - begunMs };
  }

  it('are those of all, whichever of them is asked', async () => {
    for (const id of workers.keys()) expect(await ask(id)).toMatchObject({ counted: 1110, processes: 3 });
  });

  it('come in time while one of them stands still, with what it said last', async () => {
    process.kill(worker(3).pid, 'SIGSTOP');
    try {
      const { counted, tookMs } = await ask(1);
      expect(counted).toBe(1110);
      expect(tookMs).toBeLessThan(20_000);
    } finally {
      process.kill(worker(3).pid, 'SIGCONT');
    }
  });

  it('keep what one of them has counted that was killed', async () => {
    process.kill(worker(2).pid, 'SIGKILL');
    await eventually(async () => expect(await ask(1)).toMatchObject({ counted: 1110, processes: 2 }), TIMEOUT_MS);
  });
});
