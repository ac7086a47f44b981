import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDataDir } from '../support/temporary-data-dir.js';

type Figures = Readonly<Record<string, number>>;

interface Result {
  readonly scenarios: readonly {
    readonly name: string;
    readonly lines: readonly { readonly subject: string; readonly figures: Figures }[];
  }[];
  readonly targets: readonly Verdict[];
}

interface Verdict {
  readonly target: string;
  readonly measured?: string;
  readonly met?: boolean;
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
    // The benchmark's own upstream, as a gateway that adds nothing.
    const gateway = { name: 'upstream', address: 'http://127.0.0.1:9700', key: 'sk-any', model: 'bench-any' };
    writeFileSync(join(folder, 'upstream.json'), JSON.stringify(gateway));
    const out = join(folder, 'results');
    const args = [SCRIPT, 'peers', folder, 'small-16', 'translated', 'overload', '--quick', '--out', out];
    ({ stdout: printed } = await promisify(execFile)(process.execPath, args));
    [file = ''] = readdirSync(out);
    result = JSON.parse(readFileSync(join(out, file), 'utf8')) as Result;
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  const figuresOf = (scenario: string): Record<string, Figures> => {
    const lines = result.scenarios.find(({ name }) => name === scenario)?.lines ?? [];
    return Object.fromEntries(lines.map(({ subject, figures }) => [subject, figures]));
  };

  it('measures the relay beside a bare proxy, the upstream itself, and a gateway that is described by a file', () => {
    const figures = figuresOf('small-16');
    expect(Object.keys(figures)).toEqual(['direct', 'proxy', 'relay', 'upstream']);
    for (const { failed, calls_per_second: rate, p50_ms: p50, p99_ms: p99 = 0 } of Object.values(figures)) {
      expect(failed).toBe(0);
      expect(rate).toBeGreaterThan(0);
      expect(p50).toBeGreaterThan(0);
      expect(p99).toBeGreaterThanOrEqual(p50 ?? Infinity);
    }
  });

  it('measures streams between two protocols beside the upstream alone: a bare proxy cannot translate', () => {
    const figures = figuresOf('translated');
    expect(Object.keys(figures)).toEqual(['direct', 'relay']);
    for (const { failed, lost_events: lost, calls_per_second: rate } of Object.values(figures)) {
      expect([failed, lost]).toEqual([0, 0]);
      expect(rate).toBeGreaterThan(0);
    }
  });

  it('loses no event of streams that start faster than the relay can start them', () => {
    const figures = figuresOf('overload');
    expect(Object.keys(figures)).toEqual(['direct', 'proxy', 'relay', 'upstream']);
    for (const { failed, lost_events: lost } of Object.values(figures)) expect([failed, lost]).toEqual([0, 0]);
  });

  it('prints what it writes down, and judges no target by so short a run', () => {
    for (const text of ['small-16: ', 'not run', 'too short to judge', 'Noise: ', file])
      expect(printed).toContain(text);
    expect(printed).not.toMatch(/^ +(?:met|MISSED) /m);
    const measured = result.targets.filter((verdict) => verdict.measured !== undefined);
    expect(measured.length).toBeGreaterThan(0);
    expect(measured.length).toBeLessThan(result.targets.length);
    expect(result.targets.filter(({ met }) => met !== undefined)).toEqual([]);
  });

  it('judges by a run of full length what it has measured, and nothing else', async () => {
    // By a name that the compiler does not follow: the benchmark is compiled with settings of its own.
    const { judge } = (await import(resolve(import.meta.dirname, '../../bench/report/targets.ts'))) as {
      readonly judge: (scenarios: unknown[], options: { quick: boolean }) => readonly Verdict[];
    };
    const relay = { subject: 'relay', figures: { cpu_ratio: 3.1, both_ratio: 4.5 }, rounds: [] };
    const scenarios = [{ name: 'small-64', title: '', lines: [relay], notes: [] }];
    const reported = (quick: boolean): unknown[] =>
      judge(scenarios, { quick })
        .filter(({ measured }) => measured !== undefined)
        .map(({ measured, met }) => [measured, met]);
    expect(reported(false)).toEqual([
      ['3.10', false],
      ['4.50', true],
    ]);
    expect(reported(true)).toEqual([
      ['3.10', undefined],
      ['4.50', undefined],
    ]);
  });

  // Only Linux tells what each process has used.
  (process.platform === 'linux' ? it : it.skip)('tells the CPU of the relay from that of its database', () => {
    const { proxy, relay } = figuresOf('small-16');
    expect(proxy?.['cpu_us']).toBeGreaterThan(0);
    expect(relay?.['cpu_us']).toBeGreaterThan(0);
    expect(relay?.['cpu_ratio']).toBeGreaterThan(0);
    expect(relay?.['database_us']).toBeGreaterThan(0);
    expect(relay).not.toHaveProperty('event_us');
    expect(figuresOf('translated')['relay']?.['event_us']).toBeGreaterThan(0);
    expect(figuresOf('memory')['relay']?.['idle_rss_mb']).toBeGreaterThan(50);
  });
});
