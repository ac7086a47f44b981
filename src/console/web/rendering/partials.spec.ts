import { IsNotEmpty, IsOptional, MaxLength } from 'class-validator';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VIEWS } from '../../../platform/config/package-root.js';
import { nanos } from '../../../platform/shared/index.js';
import { clientSnippets } from '../client-snippets.js';
import { Form } from '../form.js';
import { balanceForecast, healthStrip, patchPanel, quotaMeter, shareBar, waterfall } from '../index.js';
import { AssetStore } from './asset-store.js';
import { ViewEngine } from './view-engine.js';

class KeyForm {
  @MaxLength(10, { message: 'Enter a name of at most 10 letters.' })
  readonly name: string = '';
  @IsOptional()
  readonly group?: string;
  @IsOptional()
  readonly models?: string[];
  @IsNotEmpty({ message: 'Enter a password.' })
  readonly password: string = '';
}

/** Hostile input from a user or an upstream. */
const EVIL = `"><script>alert('x')</script>`;
const usd = (dollars: number) => nanos(BigInt(Math.round(dollars * 1e9)));
const options = [
  { value: 'saver', label: EVIL },
  { value: 'standard', label: 'standard' },
];

const snippets = (model: string) =>
  clientSnippets('https://x', [{ name: model, protocols: ['responses', 'messages'], translates: true }]);

const refused = Form.read(KeyForm, { name: EVIL, group: 'standard', models: ['gpt', EVIL], password: '' });
const refusedOddly = Form.read(KeyForm, { name: 'x', password: 'y' });
refusedOddly.refuse('name', EVIL);
const forecast = balanceForecast({
  id: 'forecast',
  finding: EVIL,
  past: [
    { at: new Date('2026-11-10T12:00:00Z'), balance: usd(100) },
    { at: new Date('2026-11-20T12:00:00Z'), balance: usd(60) },
  ],
  emptyAt: new Date('2026-12-01T12:00:00Z'),
  timeZone: 'UTC',
});

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', '#x27': "'", '#x3D': '=', amp: '&' };

/** Every partial with the worst that it can be given. */
const SAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'amount-field': { form: refused, name: 'name', label: EVIL, id: 'amount' },
  badge: { tone: 'ok', label: EVIL },
  button: { href: '/keys', label: EVIL, icon: 'plus' },
  card: { id: 'card', title: EVIL, text: EVIL, link: { href: '/keys', label: EVIL } },
  'card-error': { id: 'failed', text: EVIL, href: '/keys' },
  chart: { ...forecast.chart },
  'chart-table': { ...forecast.table, caption: EVIL },
  check: { form: refused, name: 'models', label: EVIL, value: EVIL, text: EVIL },
  checks: { form: refused, name: 'models', legend: EVIL, options },
  chips: { chips: [{ href: '/?', label: EVIL, value: EVIL }], clear: '/' },
  'client-snippets': { tabs: snippets(EVIL), open: 'curl', group: 'client' },
  code: { label: EVIL, text: EVIL },
  'copy-inline': { id: 'copied', text: EVIL, label: EVIL },
  'copy-key': { id: 'secret', text: EVIL },
  'copy-line': { id: 'line', text: EVIL, label: EVIL, copies: EVIL },
  'cost-formula': {
    lines: [{ label: EVIL, tokens: 1, price: usd(3), amount: { head: '$1.00', tail: '' } }],
    charged: { head: '$1.00', tail: '' },
  },
  empty: { title: EVIL, text: EVIL, action: { href: '/', label: EVIL } },
  field: { form: refused, name: 'name', label: EVIL, hint: EVIL, optional: EVIL, id: 'field', placeholder: EVIL },
  'filter-select': { id: 'filter', name: 'group', label: EVIL, options },
  'filter-text': { id: 'search', name: 'q', label: EVIL, value: EVIL },
  flash: { tone: 'bad', title: EVIL, text: EVIL, dismissible: true },
  'form-summary': { form: refusedOddly },
  notice: { tone: 'warn', title: EVIL, text: EVIL, action: { href: '/', label: EVIL } },
  'page-head': { title: EVIL, text: EVIL, crumbs: [{ href: '/', label: EVIL }, { label: EVIL }] },
  pager: { label: EVIL, text: EVIL, newer: '/?after=x', older: '/?before=x' },
  'patch-panel': patchPanel([{ id: EVIL, name: EVIL, path: EVIL }], [{ name: EVIL, protocols: [EVIL] }]),
  'quota-meter': { meter: quotaMeter(usd(1), usd(2)), used: usd(1), quota: usd(2), period: EVIL },
  savebar: { form: refused, text: EVIL, cancel: '/', label: EVIL },
  select: { form: refused, name: 'group', label: EVIL, options, id: 'select' },
  stats: { stats: [{ label: EVIL, value: EVIL, note: EVIL }] },
  steps: { steps: [{ title: EVIL, text: EVIL, done: true }] },
  strip: { ...healthStrip({ name: EVIL, cellName: EVIL, valueName: EVIL, cells: [{ label: EVIL, share: 1 }] }) },
  switcher: { label: EVIL, items: [{ href: '/', label: EVIL, current: true }] },
  textarea: { form: refused, name: 'name', label: EVIL, hint: EVIL, placeholder: EVIL },
  'token-split': { ...shareBar(EVIL, [{ name: EVIL, value: 1, class: 'f1' }]) },
  waterfall: waterfall([{ name: EVIL, atMs: 1, tookMs: 1, tone: 'ours', outcome: EVIL, reason: EVIL }], 2),
};

describe('partials', () => {
  const engine = new ViewEngine(new AssetStore());
  const show = (name: string, data = SAMPLES[name] ?? {}): string => engine.renderBare(name, data);

  it.each(Object.keys(SAMPLES))('escapes text and attributes in %s', (name) => {
    const html = show(name);
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script>');
    expect(html).not.toMatch(/\[object|undefined|NaN/);
  });

  it('have unique ids, and labels that refer to existing ids', () => {
    const html = Object.keys(SAMPLES)
      .map((name) => show(name))
      .join('');
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const named = [...html.matchAll(/ (?:for|aria-labelledby|data-copy)="([^"]+)"/g)].map(([, id]) => id);
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('show the error of a field with the submitted value', () => {
    const html = show('field', { form: refused, name: 'name', label: 'Name', hint: 'Any.' });
    expect(html).toMatch(/aria-invalid="true"\s+aria-describedby="name-error name-hint"/);
    expect(html).toContain('id="name-error"');
    expect(html).toContain('Enter a name of at most 10 letters.');
    expect(html).toContain('value="&quot;&gt;&lt;script');
  });

  it('never repeat a password', () => {
    const form = Form.read(KeyForm, { name: 'x', password: 'correct horse battery' });
    const html = show('field', { form, name: 'password', label: 'Password', type: 'password', value: 'hunter2' });
    expect(html).not.toMatch(/ value=|horse|hunter2/);
  });

  it('keep selected options and checked boxes', () => {
    expect(show('select', { form: refused, name: 'group', label: 'Group', options })).toContain(
      '<option value="standard" selected>',
    );
    expect(show('checks')).not.toMatch(/value="standard"[^>]* checked/);
    const models = { form: refused, name: 'models', legend: 'Models', options: [{ value: 'gpt', label: 'gpt' }] };
    expect(show('checks', models)).toMatch(/value="gpt"[^>]* checked/);
  });

  it('apply the initial state of a checkbox only before submission', () => {
    const box = { name: 'remember', label: 'Keep me signed in', checked: true };
    expect(show('check', { ...box, form: Form.empty() })).toContain(' checked');
    expect(show('check', { ...box, form: refused })).not.toContain(' checked');
  });

  it('list all errors of a form with links to their fields', () => {
    const html = show('form-summary', { form: refused });
    expect(html).toContain('Fix 2 fields');
    expect(html).toContain('<a href="#name">Enter a name of at most 10 letters.</a>');
    expect(show('form-summary', { form: Form.empty() })).toBe('');
  });

  it('preserve the whitespace of snippets, with one expanded', () => {
    const tabs = snippets('gpt-5.5');
    const html = show('client-snippets', { tabs, open: 'curl', group: 'client' });
    const shown = [...html.matchAll(/<pre[^>]*><code>([^]*?)<\/code><\/pre>/g)].map(([, code = '']) =>
      code.replaceAll(/<[^>]+>/g, '').replaceAll(/&(quot|#x27|#x3D|amp);/g, (_, name: string) => ENTITIES[name] ?? ''),
    );
    expect(shown).toEqual(
      tabs.flatMap(({ blocks }) => blocks.map(({ code }) => code.map(({ text }) => text).join(''))),
    );
    expect(shown[0]).toMatch(/^curl https:\/\/x\/v1\/responses \\\n {2}-H "/);
    expect(html.match(/<details name="client" open>/g)).toHaveLength(1);
  });

  it('show the error page when a page is missing', () => {
    const html = show('pager', { label: 'Pages', text: '', older: '/?before=x' });
    expect(html).toMatch(/<a class="btn btn--sm" role="link" aria-disabled="true">[^]*Newer<\/a>/);
    expect(html).toContain('href="/?before&#x3D;x"');
  });
});

describe('templates', () => {
  const pages = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.(hbs|svg)$/.test(file) && !/^(layouts\/mail|mail)/.test(file),
  );

  it('contain no inline styles or scripts', () => {
    const offenders = pages.filter((file) =>
      / style=| on[a-z]+=|<style|<script(?! type="module" src=)|javascript:/i.test(
        readFileSync(join(VIEWS, file), 'utf8'),
      ),
    );
    expect(offenders).toEqual([]);
  });

  it('load nothing from other hosts', () => {
    const offenders = pages.filter((file) =>
      / (?:src|srcset|poster)="https?:|<link[^>]+href="https?:/i.test(readFileSync(join(VIEWS, file), 'utf8')),
    );
    expect(offenders).toEqual([]);
  });
});
