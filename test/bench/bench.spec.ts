import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDataDir } from '../support/temporary-data-dir.js';

type Figures = Readonly<Record<string, number>>;

interface Result {
  readonly scenarios: readonly {
    readonly name: string;
    readonly lines: readonly { readonly subject: string; readonly figures: Figures }[];
  }[];
  readonly targets: readonly { readonly met?: boolean }[];
}

const SCRIPT = resolve(import.meta.dirname, '../../scripts/bench.mjs');

/** Whether the figures are good is for a quiet machine to say; here, that there are figures and that they make sense. */
describe('the benchmark', () => {
  let folder: string;
  let file: string;
  let printed: string;
  let result: Result;
  beforeAll(async () => {
    folder = temporaryDataDir();
    const args = [SCRIPT, 'small-16', '--quick', '--no-peers', '--out', folder];
    printed = (await promisify(execFile)(process.execPath, args)).stdout;
    [file = ''] = readdirSync(folder);
    result = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Result;
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  const figuresOf = (scenario: string): Record<string, Figures> => {
    const lines = result.scenarios.find(({ name }) => name === scenario)?.lines ?? [];
    return Object.fromEntries(lines.map(({ subject, figures }) => [subject, figures]));
  };

  it('measures the relay beside a bare proxy and the upstream itself', () => {
    const figures = figuresOf('small-16');
    expect(Object.keys(figures)).toEqual(['direct', 'proxy', 'relay']);
    for (const { failed, calls_per_second: rate, p50_ms: p50, p99_ms: p99 = 0 } of Object.values(figures)) {
      expect(failed).toBe(0);
      expect(rate).toBeGreaterThan(0);
      expect(p50).toBeGreaterThan(0);
      expect(p99).toBeGreaterThanOrEqual(p50 ?? Infinity);
    }
  });

  it('prints what it writes down, and only judges what it has measured', () => {
    for (const text of ['small-16: ', 'not run', 'Noise: ', file]) expect(printed).toContain(text);
    const judged = result.targets.filter(({ met }) => met !== undefined);
    expect(judged.length).toBeGreaterThan(0);
    expect(judged.length).toBeLessThan(result.targets.length);
  });

  // Only Linux tells what each process has used.
  (process.platform === 'linux' ? it : it.skip)('tells the CPU of the relay from that of its database', () => {
    const { proxy, relay } = figuresOf('small-16');
    expect(proxy?.['cpu_us']).toBeGreaterThan(0);
    expect(relay?.['cpu_us']).toBeGreaterThan(0);
    expect(relay?.['cpu_ratio']).toBeGreaterThan(0);
    expect(relay?.['database_us']).toBeGreaterThan(0);
    expect(figuresOf('memory')['relay']?.['idle_rss_mb']).toBeGreaterThan(50);
  });
});
