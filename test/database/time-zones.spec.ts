import { jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AuthModule, InvalidAccount, TimeZones } from '../../src/auth/index.js';
import { dayOf } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

describe('time zones', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let zones: TimeZones;

  beforeAll(async () => {
    database = await freshDatabase();
    app = await startOn(database, [AuthModule]);
    zones = app.get(TimeZones, { strict: false });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it('that are offered are known to PostgreSQL and to Node, UTC first', async () => {
    const offered = await zones.list();
    expect(offered[0]).toBe('UTC');
    expect(offered).toEqual(expect.arrayContaining(['Europe/Berlin', 'America/New_York', 'Asia/Tokyo']));
    for (const zone of offered) {
      await app.get(DataSource).query('SELECT now() AT TIME ZONE $1', [zone]);
      expect(dayOf(new Date(0), zone)).toMatch(/^19(69|70)-/);
    }
  });

  it('are found by the names that browsers use', async () => {
    expect(await zones.named('Europe/Berlin')).toBe('Europe/Berlin');
    expect(await zones.named('Asia/Kolkata')).toBe(await zones.named('Asia/Calcutta'));
    expect(await zones.list()).toContain(await zones.named('Asia/Kolkata'));
    for (const name of ['Middle/Earth', '', undefined, ['UTC']]) expect(await zones.named(name)).toBeUndefined();
  });

  it('are not to be had when PostgreSQL does not know them', async () => {
    const query = jest.spyOn(app.get(DataSource), 'query').mockResolvedValueOnce([{ name: 'UTC' }]);
    const without = new TimeZones(app.get(DataSource));
    await expect(without.list()).resolves.toEqual(['UTC']);
    await expect(without.check('Europe/Berlin')).rejects.toThrow(InvalidAccount);
    query.mockRestore();
  });
});
