import { IsNotEmpty } from 'class-validator';
import type { Visit } from '../../../auth/visit.js';
import { Form } from '../form.js';
import { Page, type PageOptions } from '../page.js';
import { AssetStore } from './asset-store.js';
import type { PageLayout } from './page-layout.js';
import { type RenderedPage, ViewEngine } from './view-engine.js';

const aVisit = (overrides: Partial<Visit> = {}): Visit => ({
  visitor: undefined,
  csrf: 'token-of-the-visit',
  theme: undefined,
  ip: '203.0.113.9',
  userAgent: 'test',
  host: 'relay.example',
  requestId: 'req_1',
  url: '/keys?state=on',
  ...overrides,
});

const signedIn = (overrides: Partial<Visit> = {}): Visit =>
  aVisit({
    visitor: {
      accountId: 'acc_1',
      scopeId: 'acc_1',
      organization: undefined,
      organizations: [],
      email: 'owner@example.com',
      name: 'Account <owner>',
      isAdministrator: false,
      verified: true,
      groupName: undefined,
      timeZone: 'Europe/Berlin',
      sessionId: 'ses_1',
      ip: '',
      confirmedAt: new Date(0),
      hasPassword: true,
      confirmsAtProvider: false,
      passwordIsTemporary: false,
      secondFactorNeeded: false,
      secondFactorMissing: false,
    },
    ...overrides,
  });

const aLayout = (visit: Visit, overrides: Partial<PageLayout> = {}): PageLayout => ({
  visit,
  site: { name: 'Switchboard' },
  signUp: 'open',
  baseUrl: 'https://switchboard.example.com',
  now: new Date('2026-11-20T13:36:02Z'),
  ...overrides,
});

class Named {
  @IsNotEmpty({ message: 'Enter a name.' })
  readonly name: string = '';
}

const WORDS = {
  heading: 'Page not found',
  paragraphs: ['It <may> be gone.'],
  errorClass: '404',
  now: new Date(0),
};

describe('ViewEngine', () => {
  const engine = new ViewEngine(new AssetStore());
  const show = (options: Partial<PageOptions>, layout = aLayout(signedIn())): RenderedPage =>
    engine.render(new Page('errors/error', { title: 'Keys', ...options, data: { ...WORDS, ...options.data } }), layout);

  it('renders the layout of the user with the current page marked', () => {
    const { html, status } = show({});
    expect(status).toBe(200);
    expect(html).toContain('<title>Keys · Switchboard</title>');
    expect(html).toMatch(/<a href="\/keys" aria-current="page">/);
    expect(html.match(/aria-current="page"/g)).toHaveLength(2);
  });

  it('uses the public layout without a session', () => {
    const { html } = show({}, aLayout(aVisit()));
    expect(html).toContain('href="/sign-in"');
    expect(html).not.toContain('class="side"');
  });

  it('escapes user input', () => {
    const { html } = show({});
    expect(html).toContain('Account &lt;owner&gt;');
    expect(html).toContain('It &lt;may&gt; be gone.');
  });

  it('returns 422 and marks the title when the form has errors', () => {
    const { html, status } = show({ data: { form: Form.read(Named, { name: '' }) } });
    expect(status).toBe(422);
    expect(html).toContain('<title>Error: Keys · Switchboard</title>');
  });

  it('returns 200 when the form has no errors', () => {
    expect(show({ data: { form: Form.read(Named, { name: 'x' }) } }).status).toBe(200);
  });

  it('renders the chosen theme, and none when it follows the system', () => {
    expect(show({}, aLayout(signedIn({ theme: 'dark' }))).html).toContain('<html lang="en" data-theme="dark">');
    expect(show({}).html).toContain('<html lang="en">');
  });
});
