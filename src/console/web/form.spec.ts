import { IsEmail, IsInt, IsString, MaxLength, Min } from 'class-validator';
import { Type } from 'class-transformer';
import { AppError } from '../../platform/shared/index.js';
import { Form } from './form.js';

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
  it('says what its fields mean', () => {
    const form = Form.read(OrderForm, GOOD);
    expect(form.value).toMatchObject({ name: 'Ann', email: 'ann@example.com', count: 3 });
    expect(form.refused).toBe(false);
  });

  it('says of each field what to enter, and keeps what was typed', () => {
    const form = Form.read(OrderForm, { name: 'Annabel', email: 'ann', count: '0' });
    expect(form.faults).toEqual({
      name: 'Enter a name of at most 5 characters.',
      email: 'Enter an email address.',
      count: 'Enter 1 or more.',
    });
    expect(form.values).toEqual({ name: 'Annabel', email: 'ann', count: '0' });
    expect(form.value).toBeUndefined();
  });

  it('refuses fields that it does not know, but not those of the page itself', () => {
    expect(Form.read(OrderForm, { ...GOOD, role: 'admin' }).refused).toBe(true);
    expect(Form.read(OrderForm, { ...GOOD, _csrf: 'x', _once: 'y' }).refused).toBe(false);
  });

  it('never shows a password again', () => {
    const form = Form.read(OrderForm, { ...GOOD, password: 'correct horse' });
    expect(form.values).not.toHaveProperty('password');
  });

  it('puts a refusal by what it asks for beside the field that the refusal names', async () => {
    const form = Form.read(OrderForm, GOOD);
    const refuse = (param: string) => (): Promise<never> =>
      Promise.reject(new AppError('invalid_request', 'It is taken.', { param }));
    await expect(form.attempt(refuse('email'))).resolves.toBeUndefined();
    expect(form.faults).toEqual({ email: 'It is taken.' });
    await expect(Form.read(OrderForm, GOOD).attempt(refuse('elsewhere'))).rejects.toThrow('It is taken.');
  });

  it('asks for nothing when a field was refused', async () => {
    let asked = false;
    await Form.read(OrderForm, { ...GOOD, count: '0' }).attempt(async () => (asked = true));
    expect(asked).toBe(false);
  });
});
