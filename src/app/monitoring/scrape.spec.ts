import { Metrics } from '../../platform/metrics/index.js';
import { type Figures, mergeFigures, WorkersFigures } from './scrape.js';

/** Counts of a worker, as it sends them to other processes. */
async function figuresOf(calls: number, running: number, longest = 0): Promise<Figures> {
  const metrics = new Metrics();
  metrics.counter('calls_total', 'calls', ['status']).inc({ status: 'succeeded' }, calls);
  metrics.gauge('running', 'running').set(running);
  metrics.gauge('longest', 'longest', [], undefined, 'max').set(longest);
  metrics.gauge('unknown', 'not known yet').set(Number.NaN);
  metrics.histogram('seconds', 'seconds', [1, 10]).observe(calls);
  return JSON.parse(JSON.stringify(await metrics.registry.getMetricsAsJSON())) as Figures;
}

async function linesOf(figures: readonly Figures[]): Promise<string[]> {
  const text = await mergeFigures(figures).metrics();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('metrics of several workers', () => {
  it('sum counters, and take the maximum of maximums', async () => {
    const workers = new WorkersFigures();
    const all = workers.learn(
      new Map([
        [1, await figuresOf(3, 2, 7)],
        [2, await figuresOf(20, 1, 4)],
      ]),
    );
    expect(await linesOf(all)).toEqual([
      'switchboard_calls_total{status="succeeded"} 23',
      'switchboard_running 3',
      'switchboard_longest 7',
      'switchboard_seconds_bucket{le="1"} 0',
      'switchboard_seconds_bucket{le="10"} 1',
      'switchboard_seconds_bucket{le="+Inf"} 2',
      'switchboard_seconds_sum 23',
      'switchboard_seconds_count 2',
    ]);
  });

  it('keep the counters of a worker that has ended, but not its gauges', async () => {
    const workers = new WorkersFigures();
    workers.learn(
      new Map([
        [1, await figuresOf(3, 2)],
        [2, await figuresOf(20, 1)],
      ]),
    );
    workers.end(1);
    workers.learn(
      new Map([
        [2, await figuresOf(21, 1)],
        [3, await figuresOf(1, 5)],
      ]),
    );
    workers.end(3);
    // Its response was on its way when it ended.
    const all = workers.learn(new Map([[3, await figuresOf(1, 5)]]));
    expect(await linesOf(all)).toEqual(
      expect.arrayContaining([
        'switchboard_calls_total{status="succeeded"} 25',
        'switchboard_running 1',
        'switchboard_seconds_count 3',
      ]),
    );
  });

  it('use the last reply of a worker that does not respond', async () => {
    const workers = new WorkersFigures();
    workers.learn(
      new Map([
        [1, await figuresOf(3, 2)],
        [2, await figuresOf(20, 1)],
      ]),
    );
    const all = workers.learn(
      new Map<number, unknown>([
        [1, undefined],
        [2, await figuresOf(22, 0)],
      ]),
    );
    expect(await linesOf(all)).toContain('switchboard_calls_total{status="succeeded"} 25');
  });

  it('are empty before the first reply', async () => {
    expect(await linesOf(new WorkersFigures().learn(new Map([[1, 'nonsense']])))).toEqual([]);
  });
});
