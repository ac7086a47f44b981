import { healthStrip } from './timelines.js';

const aStrip = (shares: readonly (number | undefined)[]) =>
  healthStrip({
    name: 'Answered by hour',
    cellName: 'Hour',
    valueName: 'Answered',
    cells: shares.map((share, index) => ({ label: `${index + 10}:00`, share })),
  });

describe('healthStrip', () => {
  it('draws a cell for each span, colored by success rate', () => {
    const { cells, width } = aStrip([1, 0.995, 0.994, 0.5, 0.499, 0]);
    expect(width).toBe(60);
    expect(cells.map(({ class: colour }) => colour)).toEqual(['f4', 'f4', 'f2', 'f2', 'fbad', 'fbad']);
    expect(cells[1]).toEqual({ title: '11:00: 99.5%', class: 'f4', x: '10', width: '7.5' });
  });

  it('draws a gray cell, noted in the table, when there were no calls', () => {
    const { cells, table } = aStrip([1, undefined, 0.5]);
    expect(cells[1]).toEqual({ title: '11:00: no calls', class: 'fidle', x: '10', width: '7.5' });
    expect(table.columns).toEqual(['Hour', 'Answered']);
    expect(table.rows).toEqual([
      { head: '10:00', cells: ['100%'] },
      { head: '11:00', cells: ['–'] },
      { head: '12:00', cells: ['50%'] },
    ]);
  });

  it('names the lowest rate in its finding', () => {
    expect(aStrip([1, 0.5, 1]).finding).toBe('Answered by hour: at least 50% in each, lowest at 11:00');
    expect(aStrip([1, undefined, 1]).finding).toBe('Answered by hour: 100% in 2 with data');
    expect(aStrip([undefined]).finding).toBe('Answered by hour: no data');
  });
});
