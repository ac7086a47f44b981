import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { isConnectionLost, isDatabaseOutage } from './database.errors.js';

describe('isDatabaseOutage', () => {
  it('is true for a refused connection', async () => {
    const [error] = await once(connect(1, '127.0.0.1'), 'error').catch((thrown: unknown) => [thrown]);
    expect(isDatabaseOutage(error)).toBe(true);
  });

  it('is false for a missing file', () => {
    let error: unknown;
    try {
      readFileSync('/nowhere/at/all');
    } catch (thrown) {
      error = thrown;
    }
    expect(isDatabaseOutage(error)).toBe(false);
  });
});

describe('isConnectionLost', () => {
  const withCode = (code: string): Error => Object.assign(new Error('of the server'), { code });

  it.each([
    ['a runner whose connection was lost', new QueryRunnerAlreadyReleasedError()],
    ['a server that was shut down', withCode('57P01')],
    ['a connection exception', withCode('08006')],
    ['a socket that was reset', withCode('ECONNRESET')],
    ['a driver whose connection ended', new Error('Connection terminated unexpectedly')],
  ])('is true for %s', (_, error) => {
    expect(isConnectionLost(error)).toBe(true);
  });

  it.each([
    ['a syntax error', withCode('42601')],
    ['too many connections', withCode('53300')],
    ['a full disk', withCode('53100')],
    ['any other error', new TypeError('x is not a function')],
  ])('is false for %s', (_, error) => {
    expect(isConnectionLost(error)).toBe(false);
  });
});
