import { TIMEOUT_MS } from '../support/eventually.js';
import { kill, ServiceUnderLoad } from '../support/service-under-load.js';

/** How often the server is killed, and the database. `npm run test:long` takes the short way; by hand, `KILLS=10` is 20 and 10. */
const TURNS = Number(process.env['KILLS'] ?? 1);
const SERVER_KILLS = 2 * TURNS;

describe('kill -9 again and again while clients call', () => {
  let busy: ServiceUnderLoad;
  beforeAll(async () => {
    busy = await ServiceUnderLoad.start();
  }, 2 * TIMEOUT_MS);
  afterAll(() => busy.close(), TIMEOUT_MS);

  it(
    'loses no call that a client saw complete, charges none twice, and leaves none open',
    async () => {
      for (let time = 1; time <= SERVER_KILLS; time += 1) {
        await busy.untilBusy();
        kill(busy.service.relayPid);
        await busy.service.ended;
        await busy.restart();
        if (time % 2 === 0) await busy.killDatabase();
        await busy.expectSwept();
      }
      await busy.untilBusy();
      await busy.load.stop();
      await busy.expectNothingOpen();
      await busy.expectExact();
      const ends = await busy.query<{ status: string; calls: number; free: boolean }>(ENDS);
      expect(ends.find(({ status }) => status === 'interrupted')).toMatchObject({ free: true });
      if (TURNS > 1)
        process.stdout.write(
          `${SERVER_KILLS} and ${TURNS} kills: ${busy.load.complete.length} seen complete, ${JSON.stringify(ends)}\n`,
        );
    },
    (2 * TURNS + 2) * TIMEOUT_MS,
  );
});

const ENDS = `
  SELECT status, count(*)::int AS calls, bool_and(cost = 0 AND billing_basis = 'free') AS free
    FROM calls GROUP BY status ORDER BY status`;
