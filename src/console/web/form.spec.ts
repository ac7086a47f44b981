import { Type } from 'class-transformer';
import { IsEmail, IsInt, IsString, MaxLength, Min, validateSync } from 'class-validator';
import { AppError, nanos } from '../../platform/shared/index.js';
import { amountOf, countOf, Form, IsAmount, IsCount, typedAmount, typedCount } from './form.js';

class OrderForm {
  @MaxLength(5, { message: 'Enter a name of at most 5 characters.' })
  readonly name: string = '';

  @IsEmail({}, { message: 'Enter an email address.' })
  readonly email: string = '';

  @Type(() => Number)
  @IsInt({ message: 'Enter a whole number.' })
  @Min(1, { message: 'Enter 1 or more.' })
  readonly count: number = 1;

  @IsString()
  readonly password: string = '';
}

const GOOD = { name: 'Ann', email: 'ann@example.com', count: '3' };

describe('Form', () => {
  it('parses its fields', () => {
    const form = Form.read(OrderForm, GOOD);
    expect(form.value).toMatchObject({ name: 'Ann', email: 'ann@example.com', count: 3 });
    expect(form.refused).toBe(false);
  });

  it('keeps submitted values and an error per field', () => {
    const form = Form.read(OrderForm, { name: 'Annabel', email: 'ann', count: '0' });
    expect(form.errors).toEqual({
      name: 'Enter a name of at most 5 characters.',
      email: 'Enter an email address.',
      count: 'Enter 1 or more.',
    });
    expect(form.values).toEqual({ name: 'Annabel', email: 'ann', count: '0' });
    expect(form.value).toBeUndefined();
  });

  it('rejects unknown fields except those of the page itself', () => {
    expect(Form.read(OrderForm, { ...GOOD, role: 'admin' }).refused).toBe(true);
    expect(Form.read(OrderForm, { ...GOOD, _csrf: 'x', _once: 'y' }).refused).toBe(false);
  });

  it('never repeats a password', () => {
    const form = Form.read(OrderForm, { ...GOOD, password: 'correct horse' });
    expect(form.values).not.toHaveProperty('password');
  });

  it('shows an error of the work at the field that it names', async () => {
    const form = Form.read(OrderForm, GOOD);
    const refuse = (param: string) => (): Promise<never> =>
      Promise.reject(new AppError('invalid_request', 'It is taken.', { param }));
    await expect(form.attempt(refuse('email'))).resolves.toBeUndefined();
    expect(form.errors).toEqual({ email: 'It is taken.' });
    await expect(Form.read(OrderForm, GOOD).attempt(refuse('elsewhere'))).rejects.toThrow('It is taken.');
  });

  it('does not run the work when a field has an error', async () => {
    let wasRun = false;
    await Form.read(OrderForm, { ...GOOD, count: '0' }).attempt(async () => (wasRun = true));
    expect(wasRun).toBe(false);
  });
});

class Payment {
  @IsAmount({ message: 'Enter dollars.', min: nanos(10_000_000n) })
  readonly amount: string = '';

  @IsAmount({ message: 'Enter dollars, or nothing.', mayBeEmpty: true })
  readonly limit: string = '';
}

describe('typedAmount', () => {
  it.each([
    ['25', 25_000_000_000n],
    [' 1,000 ', 1_000_000_000_000n],
    ['1000', 1_000_000_000_000n],
    ['$1,234,567.5', 1_234_567_500_000_000n],
    ['0.000001', 1000n],
    ['5.', 5_000_000_000n],
    ['0', 0n],
  ])('parses %s exactly', (text, amount) => {
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
  ])('rejects “%s”', (text) => {
    expect(typedAmount(text)).toBeUndefined();
  });

  it('is optional only when the field may be empty', () => {
    expect(Form.read(Payment, { amount: '1', limit: ' ' }).errors).toEqual({});
    expect(Form.read(Payment, { amount: '', limit: 'x' }).errors).toEqual({
      amount: 'Enter dollars.',
      limit: 'Enter dollars, or nothing.',
    });
    expect([amountOf(' '), amountOf('1,000')]).toEqual([undefined, 1_000_000_000_000n]);
  });

  it('must be a single amount of at least the minimum', () => {
    expect(Form.read(Payment, { amount: '0.009999' }).errors).toHaveProperty('amount');
    expect(Form.read(Payment, { amount: '0.01' }).errors).toEqual({});
    expect(Form.read(Payment, { amount: ['1', '2'] }).errors).toHaveProperty('amount');
  });
});

class Sized {
  @IsCount({ message: 'Enter 1 to 1,000.', min: 1, max: 1000 })
  size: unknown = '';
}

const isValid = (size: unknown): boolean => validateSync(Object.assign(new Sized(), { size })).length === 0;

describe('typedCount', () => {
  it.each([
    ['60', 60],
    [' 7 ', 7],
    ['100,000', 100_000],
    ['1,000,000', 1_000_000],
    ['0', 0],
  ])('parses %j as %d', (text, count) => {
    expect(typedCount(text)).toBe(count);
  });

  it.each(['', 'many', '1.5', '-1', '1,00', '1e3', '1 000', '9'.repeat(16)])('rejects %j', (text) => {
    expect(typedCount(text)).toBeUndefined();
  });

  it('is undefined when the field is empty', () => {
    expect([countOf(' '), countOf('1,000')]).toEqual([undefined, 1000]);
    expect(() => countOf('many')).toThrow(RangeError);
  });

  it('must be empty or within bounds', () => {
    expect(['', ' ', '1', '1,000'].map(isValid)).toEqual([true, true, true, true]);
    expect(['0', '1,001', 'x', ['1'], 1, undefined].map(isValid)).toEqual(Array(6).fill(false));
  });
});
