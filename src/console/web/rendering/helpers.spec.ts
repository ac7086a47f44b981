import Handlebars from 'handlebars';
import { HELPERS } from './helpers.js';

const handlebars = Handlebars.create();
handlebars.registerHelper({ ...HELPERS });
const layout = { timeZone: 'Europe/Berlin', now: new Date('2026-11-20T13:36:02Z') };
const show = (template: string, data: Readonly<Record<string, unknown>> = {}): string =>
  handlebars.compile(template)({ ...data, layout });

describe('template helpers', () => {
  it('write money with the digits below a cent apart', () => {
    expect(show('{{money cost}}', { cost: 33_528_000n })).toBe('$0.03<span class="tail">3528</span>');
    expect(show('{{moneyExact cost}}', { cost: 0n })).toBe('$0.00<span class="tail">0000</span>');
  });

  it('show “not charged” for a call without cost', () => {
    expect(show('{{money cost}}', { cost: 0n })).toBe('<span class="muted">not charged</span>');
  });

  it.each([
    'money',
    'moneyExact',
    'moneyText',
    'usd',
    'price',
    'count',
    'compact',
    'ms',
    'msText',
    'date',
    'time',
    'ago',
  ])('%s writes a dash for what is not known, never 0', (helper) => {
    for (const value of [null, undefined])
      expect(show(`{{${helper} value}}`, { value }).replaceAll(/<[^>]+>/g, '')).toBe('–');
  });

  it('write milliseconds, never seconds', () => {
    expect(show('{{ms took}}', { took: 30_004 })).toBe('30,004<span class="tail"> ms</span>');
    expect(show('{{msText took}}', { took: 1691 })).toBe('1,691 ms');
  });

  it('write tokens in and out, and say when none were counted', () => {
    const text = (prompt: number | null, completion: number | null): string =>
      show('{{tokens prompt completion}}', { prompt, completion }).replaceAll(/<[^>]+>/g, '');
    expect(text(48_210, 640)).toBe('48,210 in 640 out');
    expect(text(48_210, null)).toBe('48,210 in – out');
    expect(text(null, null)).toBe('not counted');
    expect(text(0, 0)).toBe('not counted');
  });

  it("write times in the reader's zone, with the exact one for machines and pointers", () => {
    expect(show('{{time at}}', { at: new Date('2026-11-20T13:32:07Z') })).toBe(
      '<time datetime="2026-11-20T13:32:07.000Z" title="20 Nov 2026, 14:32:07 CET">14:32:07</time>',
    );
    expect(show('{{dateTime at to="milliseconds"}}', { at: '2026-11-20T13:32:07.318Z' })).toContain(
      '>20 Nov 2026, 14:32:07.318</time>',
    );
    expect(show('{{dayText at}}', { at: '2026-11-20T23:32:07Z' })).toBe('21 Nov');
    expect(show('{{ago at}}', { at: new Date('2026-11-20T13:34:00Z') })).toContain('>2 min ago</time>');
  });

  it('add the plural suffix', () => {
    expect(show('{{n}} call{{s n}}', { n: 1 })).toBe('1 call');
    expect(show('{{n}} call{{s n}}', { n: 0 })).toBe('0 calls');
  });

  it('give every form an unguessable nonce', () => {
    const [one, other] = [show('{{newNonce}}'), show('{{newNonce}}')];
    expect(one).toMatch(/^[\w-]{22}$/);
    expect(one).not.toBe(other);
  });
});
