import { DataSource } from 'typeorm';
import { actingAs, type AuditEntry, AuditLog, COMMAND_LINE } from '../../src/platform/audit/index.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';
import { signedIn } from '../support/signed-in.js';

const LOG = '/admin/audit';
const MARKUP = '<img src=x onerror=alert(1)>';

describe('the audit log', () => {
  let relay: RelayApp;
  let sql: DataSource;
  let operator: PageVisitor;

  const record = (entry: AuditEntry, name = 'ann@example.com'): Promise<void> =>
    actingAs({ kind: 'account', accountId: 'acc_1', name, ip: '203.0.113.9' }, () =>
      sql.transaction((manager) => relay.get(AuditLog).record(entry, manager)),
    );
  const page = async (path: string): Promise<string> => {
    const { status, text } = await operator.get(path);
    expect(status).toBe(200);
    return text;
  };
  /** The cells of each row. */
  const rows = (html: string): string[] =>
    [...html.matchAll(/<tr role="row" id="c-.*?<\/tr>/gs)].map(([row]) =>
      row.replaceAll(/<br>|<\/t[hd]>|<small>/g, ' | ').replaceAll(/<[^>]+>/g, ''),
    );

  beforeAll(async () => {
    relay = await RelayApp.start();
    sql = relay.get(DataSource);
    operator = (await operatorVisit(relay)).browser;
    const object = { kind: 'channel', id: 'chn_1', name: 'deepseek' } as const;
    await record({ action: 'changed', object, lines: ['tier 1 → 2', 'weight 1 → 5'], reason: 'it is slow' });
    await record({ action: 'disabled', object }, 'ben@example.com');
    await record({ action: 'changed', object: { kind: 'model', id: 'mod_1', name: MARKUP }, lines: ['input $1 → $2'] });
    await actingAs(COMMAND_LINE, () =>
      sql.transaction((manager) =>
        relay
          .get(AuditLog)
          .record({ action: 'credited', object: { kind: 'account', id: 'acc_2', name: 'cy' } }, manager),
      ),
    );
  });
  afterAll(() => relay.close());

  it('returns 404 to users who are not administrators', async () => {
    const { accountId } = await relay.caller();
    const browser = await signedIn(relay, accountId);
    for (const path of [LOG, `${LOG}.csv`]) expect((await browser.get(path)).status).toBe(404);
  });

  it('lists changes newest first, with actor, IP address, values and reason', async () => {
    const [newest] = rows(await page(LOG));
    expect(newest).toContain('Command line | credited cy | User');
    const all = rows(await page(`${LOG}?object=chn_1`));
    expect(all).toHaveLength(2);
    expect(all[0]).toMatch(/ben@example\.com \| disabled deepseek \| Channel \| – \| 203\.0\.113\.9/);
    expect(all[1]).toMatch(/ann@example\.com \| changed deepseek \| Channel \| .*?tier 1 → 2 .*?203\.0\.113\.9/);
  });

  it('opens a change with the diff of each field and the reason', async () => {
    const closed = await page(`${LOG}?object=chn_1`);
    expect(closed).not.toContain('<ins>');
    const [, href = ''] = [...closed.matchAll(/data-toggle href="([^"]+)"/g)].at(-1)!;
    const opened = await page(href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='));
    expect(rows(opened)).toHaveLength(2);
    expect(opened).toContain('<dt>tier</dt><dd><del>1</del> → <ins>2</ins></dd>');
    expect(opened).toContain('<dt>weight</dt><dd><del>1</del> → <ins>5</ins></dd>');
    expect(opened).toContain('<dt>Reason</dt><dd>it is slow</dd>');
  });

  it.each([
    ['who=BEN', 1],
    ['kind=model', 1],
    ['kind=nothing-like-it', undefined],
    ['text=weight', 1],
    ['text=slow', 1],
    ['text=DEEPSEEK', 2],
    ['object=chn_1&who=ann', 1],
    ['from=2020-01-01&to=2020-01-02', 0],
    ['who=command', 1],
  ])('is filtered by query parameters: %s', async (filter, found) => {
    const shown = rows(await page(`${LOG}?${filter}`));
    if (found === undefined) expect(shown.length).toBeGreaterThanOrEqual(4);
    else expect(shown).toHaveLength(found);
  });

  it('reports invalid days', async () => {
    expect(await page(`${LOG}?from=yesterday`)).toContain('Invalid date range');
    expect(await page(`${LOG}?from=2026-11-02&to=2026-11-01`)).toContain('on or before the end date');
  });

  it('escapes markup', async () => {
    const html = await page(`${LOG}?kind=model`);
    expect(html).not.toContain(MARKUP);
    expect(html).toContain('&lt;img src&#x3D;x');
  });

  it('paginates with the same filters', async () => {
    const object = { kind: 'code', id: 'cod_1', name: 'batch' } as const;
    for (let number = 1; number <= 52; number += 1)
      await record({ action: 'made', object, lines: [`number ${number}`] });
    const first = await page(`${LOG}?object=cod_1`);
    expect(rows(first)).toHaveLength(50);
    expect(rows(first)[0]).toContain('number 52');
    const older = /href="([^"]+)" rel="next"/.exec(first)![1]!.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
    const second = await page(older);
    expect(rows(second).map((row) => /number \d+/.exec(row)?.[0])).toEqual(['number 2', 'number 1']);
    const newer = /href="([^"]+)" rel="prev"/.exec(second)![1]!.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
    expect(rows(await page(newer))).toEqual(rows(first));
    expect(await page(`${LOG}?before=x`)).toContain('Page no longer available');
  });

  it('exports filtered changes with all their lines', async () => {
    const { status, text } = await operator.get(`${LOG}.csv?object=chn_1`);
    expect(status).toBe(200);
    expect(text.split('\n')[0]).toBe('time,id,who,action,kind,object_id,object,changes,reason,address');
    expect(text).toContain('ben@example.com,disabled,channel,chn_1,deepseek,,,203.0.113.9');
    expect(text).toContain('"tier 1 → 2\nweight 1 → 5",it is slow,203.0.113.9');
  });

  it.each([
    ['changed', `UPDATE audit_entries SET reason = ''`],
    ['deleted', 'DELETE FROM audit_entries'],
    ['emptied', 'TRUNCATE audit_entries'],
  ])('cannot be %s in the database', async (_, statement) => {
    await expect(sql.query(statement)).rejects.toThrow(/append-only|history/i);
  });

  it('keeps the order of changes made at the same time', async () => {
    const object = { kind: 'group', id: 'many', name: 'many' } as const;
    const numbers = Array.from({ length: 20 }, (_, index) => `number ${index}`);
    await actingAs(COMMAND_LINE, () =>
      sql.transaction(async (manager) => {
        for (const line of numbers)
          await relay.get(AuditLog).record({ action: 'changed', object, lines: [line] }, manager);
      }),
    );
    const stored = await sql.query<{ lines: string[] }[]>(
      `SELECT lines FROM audit_entries WHERE object_id = 'many' ORDER BY id`,
    );
    expect(stored.map(({ lines }) => lines[0])).toEqual(numbers);
  });
});
