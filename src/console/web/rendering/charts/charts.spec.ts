import { nanos } from '../../../../platform/shared/index.js';
import {
  balanceForecast,
  chartTable,
  COUNT,
  DOLLARS,
  latencyLines,
  patchPanel,
  quotaMeter,
  shareBar,
  stackedBars,
  waterfall,
} from '../../index.js';
import { roundedMaximum, spread } from './chart.js';

const usd = (dollars: number) => nanos(BigInt(Math.round(dollars * 1e9)));

const aSpend = (series: readonly { name: string; values: readonly (bigint | null)[] }[]) =>
  stackedBars({
    id: 'spend',
    finding: 'Spend per day. Total $3.00',
    caption: 'Spend per day',
    bucketName: 'Day',
    buckets: ['18 Nov', '19 Nov', '20 Nov'],
    series,
    restName: 'Other models',
    unit: DOLLARS,
  });

describe('stacked bars', () => {
  it('stack from zero in proportion to a round maximum', () => {
    const { chart } = aSpend([
      { name: 'small', values: [usd(1), null, usd(0.5)] },
      { name: 'large', values: [usd(2), null, usd(1)] },
    ]);
    expect(chart.yLabels).toEqual(['$3', '$1.50', '$0']);
    expect(chart.bars[0]).toEqual({
      title: '18 Nov: large $2.00, small $1.00',
      parts: [
        { class: 'f1', path: 'M46.67 100V33.3h240V100z' },
        { class: 'f2', path: 'M46.67 33.3V0h240V33.3z' },
      ],
    });
  });

  it('separate the thousands of counts on the axis', () => {
    const input = { id: 'calls', finding: '', caption: '', bucketName: '', buckets: ['18 Nov'], restName: '' };
    const { chart } = stackedBars({ ...input, series: [{ name: 'Calls', values: [3020] }], unit: COUNT });
    expect(chart.yLabels).toEqual(['4,000', '2,000', '0']);
  });

  it('leave a gap without data, and show it in the table', () => {
    const { chart, table } = aSpend([{ name: 'gpt', values: [usd(1), null, usd(0)] }]);
    expect(chart.bars).toHaveLength(1);
    expect(table.rows.map(({ cells }) => cells)).toEqual([['$1.00'], ['–'], ['$0.00']]);
  });

  it('show the four largest and sum the rest', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { chart, table } = aSpend(names.map((name, index) => ({ name, values: [usd(index + 1), null, null] })));
    expect(chart.legend.map(({ name, class: colour }) => [name, colour])).toEqual([
      ['f', 'f1'],
      ['e', 'f2'],
      ['d', 'f3'],
      ['c', 'f4'],
      ['Other models', 'f5'],
    ]);
    expect(table.columns).toEqual(['Day', 'f', 'e', 'd', 'c', 'Other models', 'Total']);
    expect(table.rows[0]?.cells).toEqual(['$6.00', '$5.00', '$4.00', '$3.00', '$3.00', '$21.00']);
  });

  it('assign colors in a given order so that charts of a page agree', () => {
    const series = [
      { name: 'a', values: [usd(1)] },
      { name: 'b', values: [usd(9)] },
    ];
    const { chart } = stackedBars({
      id: 'x',
      finding: '',
      caption: '',
      bucketName: 'Day',
      buckets: ['18 Nov'],
      series,
      restName: '',
      unit: DOLLARS,
      order: ['a', 'b'],
    });
    expect(chart.legend.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('draw nothing when there is no data', () => {
    const { chart } = aSpend([]);
    expect(chart).toMatchObject({ bars: [], yLabels: ['$1', '$0.50', '$0'] });
  });
});

describe('axes', () => {
  it.each([
    [0, 1],
    [4.87, 6],
    [6, 6],
    [6.0001, 8],
    [0.00042, 0.0006],
    [114, 120],
    [99, 100],
    [1_000_000, 1_000_000],
  ])('that must hold %s end at %s', (maximum, end) => {
    expect(roundedMaximum(maximum)).toBeCloseTo(end, 9);
  });

  it.each([
    [0, 2],
    [1, 2],
    [3, 4],
    [5, 6],
    [11, 12],
    [25, 30],
  ])('that must hold %s of what is counted end at %s, whose half is counted too', (maximum, end) => {
    expect(roundedMaximum(maximum, true)).toBe(end);
  });

  it('name the first, the last and two buckets between', () => {
    expect(spread(Array.from({ length: 14 }, (_, index) => `${index + 7}`))).toEqual(['7', '11', '16', '20']);
    expect(spread(['1', '2', '3', '4', '5', '6'])).toEqual(['1', '6']);
    expect(spread(['1', '2', '3', '4', '5', '6', '7'])).toEqual(['1', '3', '5', '7']);
    expect(spread(['1', '2'])).toEqual(['1', '2']);
    expect(spread(['1'])).toEqual(['1']);
  });
});

describe('latencies', () => {
  it('break the line without data, and draw an isolated point as a dash', () => {
    const { lines, areas } = latencyLines({
      id: 'l',
      finding: '',
      buckets: ['1', '2', '3', '4', '5'],
      median: [100, 100, null, 100, null],
      p95: [null, null, null, null, null],
    });
    expect(lines).toEqual([{ class: 'l1', path: 'M0 0L250 0M746 0h8' }]);
    expect(areas).toEqual(['M0 100L0 0L250 0L250 100Z', 'M750 100L750 0L750 100Z']);
  });

  it('share a table', () => {
    const table = chartTable(
      'Per hour',
      'Hour',
      ['15:00'],
      [
        { name: 'Calls', values: [1284], unit: COUNT },
        { name: 'Cost', values: [null], unit: DOLLARS },
      ],
    );
    expect(table).toEqual({
      caption: 'Per hour',
      columns: ['Hour', 'Calls', 'Cost'],
      rows: [{ head: '15:00', cells: ['1,284', '–'] }],
    });
  });
});

describe('the balance forecast', () => {
  const past = [
    { at: new Date('2026-11-10T12:00:00Z'), balance: usd(100) },
    { at: new Date('2026-11-20T12:00:00Z'), balance: usd(60) },
  ];
  const forecast = (emptyAt?: string) =>
    balanceForecast({
      id: 'f',
      finding: '',
      past,
      emptyAt: emptyAt === undefined ? undefined : new Date(emptyAt),
      timeZone: 'UTC',
    });

  it('continues in a straight line until the balance is used up', () => {
    const { chart, table } = forecast('2026-11-30T12:00:00Z');
    expect(chart.lines).toEqual([
      { class: 'l1', path: 'M0 0L500 40' },
      { class: 'l5', path: 'M500 40L1000 100' },
    ]);
    expect(chart.xLabels).toEqual(['10 Nov', 'Today', '30 Nov']);
    expect(table.rows.at(-1)).toEqual({ head: '30 Nov 2026, forecast', cells: ['$0.00'] });
  });

  it('looks no further ahead than back', () => {
    const { chart, table } = forecast('2026-12-10T12:00:00Z');
    expect(chart.lines[1]).toEqual({ class: 'l5', path: 'M500 40L1000 70' });
    expect(table.rows.at(-1)).toEqual({ head: '30 Nov 2026, forecast', cells: ['$30.00'] });
  });

  it('is omitted when unknown', () => {
    expect(forecast().chart).toMatchObject({ lines: [{ class: 'l1' }], xLabels: ['10 Nov', 'Today'] });
  });
});

describe('a timeline', () => {
  it('has no fractions of a millisecond on its axis when the call took next to none', () => {
    expect(waterfall([], 0).ticks).toEqual(['0', '1 ms']);
    expect(waterfall([], 3).ticks).toEqual(['0', '3 ms']);
    expect(waterfall([], 4).ticks).toEqual(['0', '1', '2', '3', '4 ms']);
  });

  it('puts every step on one scale, at least the minimum width and never outside', () => {
    const { ticks, steps } = waterfall(
      [
        { name: 'Attempt 1', rank: 'whole', atMs: 0, tookMs: 500, tone: 'failed' },
        { name: 'Settled', atMs: 1000, tookMs: 0, tone: 'ours' },
        { name: 'Unknown', atMs: null, tookMs: 3, tone: 'wait' },
        {
          name: 'Twice',
          atMs: 100,
          tookMs: 30,
          bars: [
            { atMs: 100, tookMs: 10 },
            { atMs: 900, tookMs: 20 },
          ],
          tone: 'client',
        },
      ],
      1000,
    );
    expect(ticks).toEqual(['0', '250', '500', '750', '1,000 ms']);
    expect(steps.map(({ class: colour, bars }) => [colour, ...bars])).toEqual([
      ['fbad', { x: '0', width: '500' }],
      ['f5', { x: '996', width: '4' }],
      ['f2'],
      ['f3', { x: '100', width: '10' }, { x: '900', width: '20' }],
    ]);
  });
});

describe('shares', () => {
  it('fill the bar except for the gaps', () => {
    const bar = shareBar('Share of tokens', [
      { name: 'new', value: 3, class: 'f1' },
      { name: 'cached', value: 1, class: 'f4' },
      { name: 'none', value: 0, class: 'f2' },
    ]);
    expect(bar).toEqual({
      label: 'Share of tokens: 75% new, 25% cached',
      parts: [
        { name: 'new', share: '75%', class: 'f1', x: '0', width: '747.75' },
        { name: 'cached', share: '25%', class: 'f4', x: '750.75', width: '249.25' },
      ],
    });
    expect(shareBar('Share', [{ name: 'none', value: 0, class: 'f1' }])).toBeUndefined();
  });

  it.each([
    [36, { width: '36', percent: 36, class: 'f1' }],
    [79.9, { width: '79.9', percent: 79, class: 'f1' }],
    [80, { width: '80', percent: 80, class: 'f2' }],
    [99.9999, { width: '99.9', percent: 99, class: 'f2' }],
    [100, { width: '100', percent: 100, class: 'fbad' }],
    [130, { width: '100', percent: 100, class: 'fbad' }],
  ])('%s of a quota of 100 looks like %j', (used, meter) => {
    expect(quotaMeter(usd(used), usd(100))).toEqual(meter);
  });

  it('shows a quota of 0 as fully used', () => {
    expect(quotaMeter(usd(0), usd(0))).toMatchObject({ percent: 100, class: 'fbad' });
  });
});

describe('the patch panel', () => {
  const protocols = ['responses', 'chat', 'messages'].map((id) => ({ id, name: id, path: `/v1/${id}` }));
  const endsOf = (...models: readonly { name: string; protocols: readonly string[] }[]) => {
    const { wires, ...panel } = patchPanel(protocols, models);
    return wires.map(({ fromY, toY }) => [
      panel.protocols.find(({ y }) => y === fromY)?.id,
      panel.models.find(({ y }) => y === toY)?.name,
    ]);
  };

  it('leads each protocol to a model that supports it, to a different one each if possible', () => {
    expect(
      endsOf(
        { name: 'a', protocols: ['messages'] },
        { name: 'b', protocols: ['responses', 'chat'] },
        {
          name: 'c',
          protocols: ['chat'],
        },
      ),
    ).toEqual([
      ['responses', 'b'],
      ['chat', 'c'],
      ['messages', 'a'],
    ]);
    expect(endsOf({ name: 'a', protocols: ['responses', 'chat', 'messages'] }).map(([, model]) => model)).toEqual([
      'a',
      'a',
      'a',
    ]);
  });

  it('omits a wire when no model supports its protocol', () => {
    expect(endsOf({ name: 'a', protocols: ['messages'] })).toEqual([['messages', 'a']]);
    expect(endsOf()).toEqual([]);
  });

  it('has six jacks, some empty when there are few models, and shortens names', () => {
    const { models, finding } = patchPanel(protocols, [{ name: 'a-very-long-name-of-a-model', protocols: [] }]);
    expect(models.map(({ name }) => name)).toEqual(['a-very-long-name-…', '', '', '', '', '']);
    expect(finding).toBe('responses, chat, messages: 1 model behind one address');
    const many = Array.from({ length: 9 }, (_, index) => ({ name: `m${index}`, protocols: [] }));
    expect(patchPanel(protocols, many).models.map(({ name }) => name)).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5']);
  });
});
