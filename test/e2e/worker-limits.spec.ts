import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Decision, Acquisition } from '../../src/platform/limits/counts.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';

const PRIMARY = resolve(import.meta.dirname, '../support/counting-primary.mjs');

describe('rate limits of the workers of one service', () => {
  let primary: ChildProcess;
  let responses: (Decision & { readonly id: string })[];
  beforeAll(async () => {
    primary = fork(PRIMARY);
    await once(primary, 'message');
    responses = [];
    primary.on('message', (message) => {
      if (typeof message === 'object') responses.push(message as never);
    });
  }, TIMEOUT_MS);
  afterAll(() => primary.disconnect());

  let acquisitions = 0;
  /** Both workers in turn ask for so many at once. */
  const ask = async (
    count: number,
    acquisition: Omit<Acquisition, 'id'>,
    workers: readonly number[] = [0, 1],
  ): Promise<number> => {
    const first = (acquisitions += count) - count;
    const ids = Array.from({ length: count }, (_, index) => `acquisition ${first + index}`);
    ids.forEach((id, index) => primary.send([workers[index % workers.length], { ...acquisition, id }]));
    const ours = (): typeof responses => responses.filter(({ id }) => ids.includes(id));
    await eventually(() => expect(ours()).toHaveLength(count), 20_000);
    return ours().filter(({ refusal }) => refusal === undefined).length;
  };

  it('are exact: the primary counts for all of them', async () => {
    const requests = { key: 'requests', windowMs: 36_000_000, limit: 31, amount: 1 };
    expect(await ask(100, { counts: [requests], slots: [] })).toBe(31);
    expect(await ask(40, { counts: [], slots: [{ key: 'running', limit: 8 }] })).toBe(8);
  });

  it('have the slots of a worker back that was killed', async () => {
    const slots = [{ key: 'lent', limit: 6 }];
    expect(await ask(6, { counts: [], slots })).toBe(6);
    expect(await ask(4, { counts: [], slots }, [0])).toBe(0);
    primary.send([1]);
    await once(primary, 'message');
    await eventually(async () => expect(await ask(4, { counts: [], slots }, [0])).toBe(3));
  });
});
