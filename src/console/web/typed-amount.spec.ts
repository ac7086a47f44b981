import { nanos } from '../../platform/shared/index.js';
import { amountOf, Form, IsAmount, typedAmount } from './form.js';

class Payment {
  @IsAmount({ message: 'Enter dollars.', least: nanos(10_000_000n) })
  readonly amount: string = '';

  @IsAmount({ message: 'Enter dollars, or nothing.', mayBeEmpty: true })
  readonly limit: string = '';
}

describe('amounts as they are typed', () => {
  it.each([
    ['25', 25_000_000_000n],
    [' 1,000 ', 1_000_000_000_000n],
    ['1000', 1_000_000_000_000n],
    ['$1,234,567.5', 1_234_567_500_000_000n],
    ['0.000001', 1000n],
    ['5.', 5_000_000_000n],
    ['0', 0n],
  ])('%s is read to the letter', (text, amount) => {
    expect(typedAmount(text)).toBe(amount);
  });

  it.each([
    '',
    '.5',
    '-1',
    '+1',
    '1e3',
    '1,00',
    '10,00',
    '1,0000',
    ',100',
    '1.0000001',
    '0x10',
    '1 000',
    '1000000000',
    '€5',
    'ten',
  ])('“%s” is no amount', (text) => {
    expect(typedAmount(text)).toBeUndefined();
  });

  it('may be left out only where the form says so', () => {
    expect(Form.read(Payment, { amount: '1', limit: ' ' }).faults).toEqual({});
    expect(Form.read(Payment, { amount: '', limit: 'x' }).faults).toEqual({
      amount: 'Enter dollars.',
      limit: 'Enter dollars, or nothing.',
    });
    expect([amountOf(' '), amountOf('1,000')]).toEqual([undefined, 1_000_000_000_000n]);
  });

  it('are at least what the form says, and one', () => {
    expect(Form.read(Payment, { amount: '0.009999' }).faults).toHaveProperty('amount');
    expect(Form.read(Payment, { amount: '0.01' }).faults).toEqual({});
    expect(Form.read(Payment, { amount: ['1', '2'] }).faults).toHaveProperty('amount');
  });
});
