import { InvalidArgumentError } from 'commander';
import {
  amountArgument,
  countArgument,
  countOrNoneArgument,
  limitArgument,
  listArgument,
  networksArgument,
  timeArgument,
} from './arguments.js';

describe('amountArgument', () => {
  it('reads plain dollars, negative ones too, to the nano-dollar', () => {
    expect(['5', '-5', '0.000000001', '-0.25'].map(amountArgument)).toEqual([
      5_000_000_000n,
      -5_000_000_000n,
      1n,
      -250_000_000n,
    ]);
  });

  it.each(['', 'five', '1e3', '1,000', '0.0000000001', '--reason', '$5'])('refuses %j', (text) => {
    expect(() => amountArgument(text)).toThrow(InvalidArgumentError);
  });
});

describe('limitArgument', () => {
  it('reads dollars, and none for no limit', () => {
    expect(['5', '0', 'none'].map(limitArgument)).toEqual([5_000_000_000n, 0n, 'none']);
    expect(() => limitArgument('unlimited')).toThrow(InvalidArgumentError);
  });
});

describe('countArgument', () => {
  it('reads whole numbers', () => {
    expect(['1', '42', '1000'].map(countArgument)).toEqual([1, 42, 1000]);
  });

  it.each(['', '0', '-1', '1.5', '1e3', 'ten', '007', '9999999999'])('refuses %j', (text) => {
    expect(() => countArgument(text)).toThrow(InvalidArgumentError);
  });
});

describe('countOrNoneArgument', () => {
  it('reads whole numbers, and none for no limit', () => {
    expect(['5', 'none'].map(countOrNoneArgument)).toEqual([5, 'none']);
    expect(() => countOrNoneArgument('0')).toThrow(InvalidArgumentError);
  });
});

describe('networksArgument', () => {
  it('reads networks separated by commas, and any for no such limit', () => {
    expect(networksArgument('203.0.113.0/24, 2001:db8::1')).toEqual(['203.0.113.0/24', '2001:db8::1']);
    expect(networksArgument('any')).toEqual([]);
    expect(() => networksArgument(',')).toThrow(InvalidArgumentError);
  });
});

describe('timeArgument', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T10:30', '2026-11-20T10:30:00.000Z'],
    ['2026-11-20T10:30:15', '2026-11-20T10:30:15.000Z'],
    ['2026-11-20T10:30:15.250Z', '2026-11-20T10:30:15.250Z'],
    ['2026-11-20T10:30:15+02:00', '2026-11-20T08:30:15.000Z'],
  ])('reads %s as %s', (text, time) => {
    expect(timeArgument(text).toISOString()).toBe(time);
  });

  it.each([
    '',
    'yesterday',
    '20 Nov 2026',
    '2026-13-01',
    '2026-02-31',
    '2026-02-31T00:00:00Z',
    '2026-11-20T25:00:00Z',
    '1763630000',
  ])('refuses %j', (text) => {
    expect(() => timeArgument(text)).toThrow(InvalidArgumentError);
  });
});

describe('listArgument', () => {
  it('reads names separated by commas', () => {
    expect(listArgument('gpt-5.5, claude-x ,')).toEqual(['gpt-5.5', 'claude-x']);
  });

  it('refuses a list without a name', () => {
    expect(() => listArgument(' , ')).toThrow(InvalidArgumentError);
  });
});
