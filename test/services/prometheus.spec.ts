import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { ProcessMetrics } from '../../src/app/monitoring/index.js';
import { Metrics } from '../../src/platform/metrics/index.js';
import { findProgram } from '../support/debian-programs.js';
import { RelayApp } from '../support/relay-app.js';

const ROOT = resolve(import.meta.dirname, '../..');
const RULES = join(ROOT, 'deploy/prometheus/rules.yaml');
/** Added by Prometheus itself. */
const OF_PROMETHEUS = { metrics: ['up'], labels: ['instance', 'job'] };
/** What is not a metric in an expression: functions, operators and their keywords are followed or preceded by these. */
const KEYWORDS = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'or',
  'and',
  'unless',
  'bool',
  'group_left',
  'group_right',
]);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly title: string;
  readonly description: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap(({ rules: all }) => all);
const dashboards = globSync('deploy/grafana/*.json', { cwd: ROOT }).map((path) => ({
  path,
  ...(JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Dashboard),
}));
const panels = dashboards.flatMap(({ path, panels: all }) =>
  all.map((panel) => ({ ...panel, where: `${basename(path)}: ${panel.title}` })),
);

/** The metrics and labels that an expression names, without texts in quotes. */
function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const plain = expression.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, '');
  const grouped = [...plain.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)].flatMap(([, all = '']) =>
    all.split(',').map((label) => label.trim()),
  );
  const matched = [...plain.matchAll(/(\w+) ?(?:=~|!~|!=|=)(?!=)/g)].map(([, label = '']) => label);
  const outside = plain.replaceAll(/\{[^}]*\}/g, ' ').replaceAll(/\b(?:by|without|on|ignoring) \([^)]*\)/g, ' ');
  const metrics = [...outside.matchAll(/\b[a-z]\w*\b(?!\s*\()/gi)]
    .map(([name]) => name)
    .filter((name) => !KEYWORDS.has(name));
  return { metrics, labels: [...grouped, ...matched].filter((label) => label !== 'le') };
}

/** Prometheus' own check, of expressions too, with Grafana's variables filled in. */
function checkedByPromtool(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-promtool-'));
  try {
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, text);
    return execFileSync(findProgram('promtool'), ['check', 'rules', '--lint=all', '--lint-fatal', file], {
      encoding: 'utf8',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');

describe('alert rules and dashboards', () => {
  let relay: RelayApp;
  /** Labels of every metric of a running server, histograms by the names of their series. */
  let known: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    relay = await RelayApp.start();
    relay.get(ProcessMetrics).watch();
    known = new Map(
      relay
        .get(Metrics)
        .registry.getMetricsAsArray()
        .flatMap((metric) => {
          const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: readonly string[] };
          return ['', '_bucket', '_sum', '_count'].map((suffix) => [name + suffix, labelNames] as const);
        }),
    );
    for (const name of OF_PROMETHEUS.metrics) (known as Map<string, readonly string[]>).set(name, []);
  });
  afterAll(() => relay.close());

  const unknownIn = (expression: string, legend = ''): string[] => {
    const { metrics, labels } = namesIn(expression);
    expect(metrics).not.toEqual([]);
    const used = [...labels, ...[...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)];
    const allowed = new Set([...OF_PROMETHEUS.labels, ...metrics.flatMap((name) => known.get(name) ?? [])]);
    return [...metrics.filter((name) => !known.has(name)), ...used.filter((label) => !allowed.has(label))];
  };

  it('notices a metric and labels that do not exist', () => {
    const wrong = 'sum by (nowhere) (rate(switchboard_no_such_total{absent=~"x"}[5m])) / switchboard_processes';
    expect(unknownIn(wrong, '{{missing}}')).toEqual(['switchboard_no_such_total', 'nowhere', 'absent', 'missing']);
  });

  it.each(rules)('$alert uses metrics and labels of a running server', ({ expr, annotations }) => {
    const legend = Object.values(annotations)
      .join(' ')
      .replaceAll(/\$labels\.(\w+)/g, '{{$1}}');
    expect(unknownIn(expr, legend.replaceAll(/\{\{ (\{\{\w+\}\}) \}\}/g, '$1'))).toEqual([]);
  });

  it.each(panels)('$where uses metrics and labels of a running server', ({ targets }) => {
    expect(targets).not.toHaveLength(0);
    for (const { expr, legendFormat } of targets) expect(unknownIn(expr, legendFormat)).toEqual([]);
  });

  it.each(rules)('$alert says what is the matter, and links to what to do', ({ annotations }) => {
    expect(annotations['summary']).toMatch(/\.$/);
    const [, file = '', anchor = ''] = /^(docs\/[\w-]+\.md)#([\w-]+)$/.exec(annotations['runbook'] ?? '') ?? [];
    const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#+ (.+)$/gm);
    expect([...headings].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'))).toContain(anchor);
  });

  it('are accepted by promtool, every expression of a dashboard included', () => {
    expect(checkedByPromtool(readFileSync(RULES, 'utf8'))).toContain(`${rules.length} rules found`);
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => filledIn(expr)));
    const recorded = expressions.map((expr, index) => ({ record: `dashboard:${index}`, expr }));
    const text = JSON.stringify({ groups: [{ name: 'dashboards', rules: recorded }] });
    expect(checkedByPromtool(text)).toContain(`${expressions.length} rules found`);
    expect(() => checkedByPromtool(text.replace('sum(', 'sum((('))).toThrow('parse error');
  });

  it('fire and stay silent as promtool plays it', () => {
    const output = execFileSync(
      findProgram('promtool'),
      ['test', 'rules', join(ROOT, 'deploy/prometheus/rules.test.yaml')],
      {
        encoding: 'utf8',
      },
    );
    expect(output).toContain('SUCCESS');
  });

  it('have dashboards with an explanation for each panel, and names of their own', () => {
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(3);
    expect(panels.filter(({ description }) => !description.endsWith('.')).map(({ where }) => where)).toEqual([]);
  });
});
