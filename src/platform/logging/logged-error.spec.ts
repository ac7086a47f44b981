import { pino } from 'pino';
import { QueryFailedError } from 'typeorm';
import { loggedError } from './pino.logger.js';

/** As the driver throws it when an address is taken. */
function duplicate(): QueryFailedError {
  const driverError = Object.assign(new Error('duplicate key value violates unique constraint "accounts_email"'), {
    code: '23505',
    constraint: 'accounts_email',
    table: 'accounts',
    detail: 'Key (email)=(ann@example.com) already exists.',
    where: 'ann@example.com',
  });
  return new QueryFailedError(
    'INSERT INTO accounts VALUES ($1, $2)',
    ['ann@example.com', 'scrypt$secret'],
    driverError,
  );
}

const logged = (err: unknown): string => {
  const lines: string[] = [];
  pino({ serializers: { err: loggedError } }, { write: (line: string) => void lines.push(line) }).error(
    { err },
    'failed',
  );
  return lines.join('');
};

describe('logged errors', () => {
  it('contain message, code and stack, but no data', () => {
    const line = logged(duplicate());
    expect(line).not.toMatch(/ann@example\.com|scrypt|INSERT/);
    expect((JSON.parse(line) as { err: unknown }).err).toEqual({
      type: 'QueryFailedError',
      message: 'duplicate key value violates unique constraint "accounts_email"',
      stack: expect.stringContaining('logged-error.spec') as string,
      code: '23505',
      constraint: 'accounts_email',
      table: 'accounts',
    });
  });

  it('contain their causes, even in a cycle', () => {
    const outer = new Error('outer', { cause: duplicate() });
    const line = logged(outer);
    expect(line).toContain('"code":"23505"');
    expect(line).not.toContain('ann@example.com');
    outer.cause = outer;
    expect(logged(outer)).toContain('"message":"outer"');
  });

  it('accept any thrown value', () => {
    expect(logged('a text')).toContain('"message":"a text"');
    expect(loggedError(undefined)).toEqual({ type: 'undefined', message: 'undefined' });
  });
});
