import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { isDatabaseOutage } from './outage.js';

describe('isDatabaseOutage', () => {
  it('takes a connection that was refused for an outage', async () => {
    const [error] = await once(connect(1, '127.0.0.1'), 'error').catch((thrown: unknown) => [thrown]);
    expect(isDatabaseOutage(error)).toBe(true);
  });

  it('takes a file that is missing for none', () => {
    let error: unknown;
    try {
      readFileSync('/nowhere/at/all');
    } catch (thrown) {
      error = thrown;
    }
    expect(isDatabaseOutage(error)).toBe(false);
  });
});
