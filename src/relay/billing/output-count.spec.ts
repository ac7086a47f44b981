import { NO_TOKENS } from '../../protocols/contract/index.js';
import { OutputCount } from './output-count.js';

const at = (ms: number) => (): number => ms;
const report = (output: number) => ({ ...NO_TOKENS, input: 10, output });

describe('OutputCount', () => {
  it('sums estimates', () => {
    const output = new OutputCount(0, 0);
    output.begin(0);
    output.show(500);
    output.estimate(3);
    output.estimate(4);
    expect(output.total(at(60_000))).toBe(7);
  });

  it('sums the report and estimates since', () => {
    const output = new OutputCount(0, 0);
    output.estimate(40);
    output.report(report(25), 0);
    output.estimate(5);
    expect(output.total(at(0))).toBe(30);
  });

  it('ignores a report without output', () => {
    const output = new OutputCount(0, 0);
    output.estimate(40);
    output.report(report(0), 0);
    expect(output.total(at(0))).toBe(40);
  });

  it('grows every second from the headers while a model with hidden reasoning shows nothing', () => {
    const output = new OutputCount(150, 64_000);
    expect(output.total(at(10_000))).toBe(0);
    output.begin(10_000);
    expect(output.total(at(12_000))).toBe(300);
    output.show(14_000);
    output.estimate(5);
    expect(output.total(at(60_000))).toBe(605);
  });

  it('replaces estimates with a tokenizer’s count and adds later estimates', () => {
    const output = new OutputCount(0, 0, true);
    output.estimate(10.5, 'Hello ');
    output.estimate(10.2, 'there');
    expect(output.total(at(0))).toBe(21);
    const uncounted = output.takeUncounted();
    output.estimate(4.3, ', you');
    uncounted?.replaceBy(2);
    expect([uncounted?.content, output.total(at(0))]).toEqual([['Hello there'], 7]);
    expect(output.takeUncounted()?.content).toEqual([', you']);
    expect(output.takeUncounted()).toBeUndefined();
  });

  it('ignores a count that a report has superseded', () => {
    const output = new OutputCount(0, 0, true);
    output.estimate(10, 'Hello there');
    const uncounted = output.takeUncounted();
    output.report(report(3), 0);
    uncounted?.replaceBy(2);
    expect([output.total(at(0)), output.takeUncounted()]).toEqual([3, undefined]);
  });

  it('joins a character split across two pieces', () => {
    const output = new OutputCount(0, 0, true);
    output.estimate(1, `${'a'.repeat(5000)}\ud83c`);
    output.estimate(1, '\udf0d');
    expect(output.takeUncounted()?.content).toEqual([`${'a'.repeat(5000)}🌍`]);
  });

  it('separates interleaved texts', () => {
    const output = new OutputCount(0, 0, true);
    for (const text of ['hel', 'lo']) for (const lane of [0, 1]) output.estimate(1, text, lane);
    const uncounted = output.takeUncounted();
    uncounted?.replaceBy(2);
    expect([uncounted?.content, output.total(at(0))]).toEqual([['hello', 'hello'], 2]);
  });

  it('extrapolates the count to text that was not kept', () => {
    const output = new OutputCount(0, 0, true);
    const text = 'hello '.repeat(20_000);
    for (let piece = 0; piece < 10; piece++) output.estimate(30_000, text);
    const uncounted = output.takeUncounted();
    // 120,000 characters each: three are kept of ten.
    expect(uncounted?.content).toEqual([text.repeat(3)]);
    uncounted?.replaceBy(60_000);
    expect(output.total(at(0))).toBe(200_000);
  });

  it('replaces everything with the count of an unstreamed body', () => {
    const output = new OutputCount(0, 0, true);
    output.estimate(40, 'Hello');
    output.report(report(3), 0);
    const whole = Buffer.from('{}');
    output.setBody(whole);
    const uncounted = output.takeUncounted();
    uncounted?.replaceBy(7);
    expect([uncounted?.content, output.total(at(0)), output.takeUncounted()]).toEqual([whole, 7, undefined]);
  });

  it('starts over with another upstream', () => {
    const output = new OutputCount(150, 64_000);
    output.begin(0);
    output.report(report(25), 0);
    output.estimate(40);
    output.restart();
    expect(output.total(at(10_000))).toBe(0);
  });

  it('is corrected by a report and continues from there', () => {
    const output = new OutputCount(100, 64_000);
    output.begin(0);
    output.report(report(1), 5000);
    expect(output.total(at(5000))).toBe(1);
    expect(output.total(at(6000))).toBe(101);
    output.show(6000);
    output.report(report(40), 7000);
    expect(output.total(at(9000))).toBe(40);
  });

  it('starts over with another attempt', () => {
    const output = new OutputCount(100, 64_000);
    output.begin(0);
    output.begin(5000);
    expect(output.total(at(6000))).toBe(100);
  });

  it('limits assumed reasoning to the output limit', () => {
    const output = new OutputCount(150, 200);
    output.begin(0);
    expect(output.total(at(60_000))).toBe(200);
    output.show(60_000);
    output.estimate(7);
    expect(output.total(at(60_000))).toBe(207);
  });
});
