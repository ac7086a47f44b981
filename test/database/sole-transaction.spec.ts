import { DataSource } from 'typeorm';
import { soleTransaction } from '../../src/platform/database/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

const LOCK = 1;
const OTHER_LOCK = 2;

describe('a sole transaction', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeEach(async () => {
    database = await freshDatabase();
    dataSource = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    await dataSource.query('CREATE TABLE done (what text)');
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const attempt = (what: string, lock = LOCK, during = async (): Promise<void> => undefined): Promise<unknown> =>
    soleTransaction(dataSource, lock, async (manager) => {
      await manager.query('INSERT INTO done VALUES ($1)', [what]);
      await during();
      return what;
    });
  const done = async (): Promise<readonly string[]> => {
    const rows = await dataSource.query<{ what: string }[]>('SELECT what FROM done ORDER BY 1');
    return rows.map(({ what }) => what);
  };

  it('is not begun while another holds the lock, and is when that has ended; another lock is free', async () => {
    const meanwhile: unknown[] = [];
    const first = await attempt('first', LOCK, async () => {
      meanwhile.push(await attempt('second'), await attempt('beside it', OTHER_LOCK));
    });
    expect([first, ...meanwhile]).toEqual(['first', undefined, 'beside it']);
    expect(await attempt('third')).toBe('third');
    expect(await done()).toEqual(['beside it', 'first', 'third']);
  });

  it('leaves neither what it wrote nor the lock behind when its work fails', async () => {
    const failing = attempt('failed', LOCK, () => Promise.reject(new Error('no more')));
    await expect(failing).rejects.toThrow('no more');
    expect(await attempt('again')).toBe('again');
    expect(await done()).toEqual(['again']);
  });
});
