import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { linkIn, Mailbox } from '../support/mailbox.js';
import { onceOf, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import { type PageResponse, PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'copper lantern meadow';
const LIST = '/admin/users/invitations';

describe('invitations by email', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;
  let operator: OperatorVisit;
  let made = 0;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    relay = await RelayApp.start({}, { SMTP_URL: mailbox.url, SIGN_UP: 'closed', STARTING_CREDIT: '0' });
  });
  afterAll(async () => {
    await relay.close();
    await mailbox.close();
  });
  beforeEach(async () => {
    operator = await operatorVisit(relay);
  });

  const invite = async (email: string, fields: Readonly<Record<string, string>> = {}): Promise<PageResponse> => {
    const page = await operator.browser.get('/admin/users/new?way=invite');
    const form = { email, name: 'Ann', group: 'default', way: 'invite', credit: '2', allowance: '', ...fields };
    return operator.browser.post('/admin/users/new', { _once: onceOf(page.text), ...form });
  };
  const invited = async (): Promise<{ email: string; id: string }> => {
    const email = `invited${++made}@example.com`;
    const { location } = await invite(email);
    return { email, id: location.replace('/admin/users/', '') };
  };
  const linkTo = async (email: string, count = 1): Promise<string> =>
    linkIn(await mailbox.latestTo(email, count)).replace(/^.*?\/reset/, '/reset');
  const accept = (link: string): Promise<PageResponse> => {
    const browser = new PageVisitor(relay.url);
    return browser.submit(
      link,
      { t: new URLSearchParams(link.split('?')[1]).get('t') ?? '', password: PASSWORD },
      '/reset',
    );
  };
  const list = async (): Promise<string> => (await operator.browser.get(LIST)).text;
  /** In the list of users. */
  const badges = async (email: string): Promise<string[]> => {
    const { text } = await operator.browser.get(`/admin/users?q=${encodeURIComponent(email)}`);
    return [...text.matchAll(/<span class="badge[^>]*>([^<]*)</g)].map(([, label = '']) => label.trim());
  };
  const act = (id: string, action: 'resend' | 'withdraw') =>
    operator.browser.submit(LIST, {}, `${LIST}/${id}/${action}`);
  const outcome = async (response: PageResponse): Promise<string> => (await operator.browser.follow(response)).text;
  /** The last email becomes older than the pause between two. */
  const wait = (id: string) =>
    relay
      .get(DataSource)
      .query(`UPDATE verifications SET sent_at = sent_at - interval '2 minutes' WHERE subject = $1`, [id]);
  const actions = async (id: string): Promise<string[]> => {
    const rows = await relay
      .get(DataSource)
      .query<{ action: string; actor_name: string }[]>(
        'SELECT action, actor_name FROM audit_entries WHERE object_id = $1 ORDER BY id',
        [id],
      );
    expect(rows.every(({ actor_name: actor }) => actor === operator.email)).toBe(true);
    return rows.map(({ action }) => action);
  };

  it('are listed until the user chooses a password, which verifies them although registration is closed', async () => {
    const { email, id } = await invited();
    expect(await list()).toContain(email);
    expect(await badges(email)).toEqual(['Invited']);
    expect(await actions(id)).toEqual(['created', 'credited', 'invited']);
    const accepted = await accept(await linkTo(email));
    expect(accepted).toMatchObject({ status: 303, location: '/sign-in' });
    expect(await list()).not.toContain(email);
    expect(await badges(email)).toEqual(['Enabled']);
    const browser = new PageVisitor(relay.url);
    expect((await browser.signIn(email, PASSWORD)).location).toBe('/');
    expect((await browser.get('/keys')).status).toBe(200);
    await expect(relay.get(AccountService).byId(id)).resolves.toMatchObject({
      verifiedAt: expect.any(Date),
      name: 'Ann',
    });
    expect(await outcome(await act(id, 'withdraw'))).toContain('already accepted or withdrawn');
    expect((await browser.get('/keys')).status).toBe(200);
  });

  it('keep what was typed when it is invalid', async () => {
    const refused = await invite('no address', { credit: '3' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('<h1>Invite user</h1>');
    expect(refused.text).toContain('value="no address"');
    expect(refused.text).toContain('Send invitation</button>');
  });

  it('are sent again with a new link, but not within a minute', async () => {
    const { email, id } = await invited();
    const first = await linkTo(email);
    expect(await outcome(await act(id, 'resend'))).toContain('An email was just sent.');
    await wait(id);
    expect(await outcome(await act(id, 'resend'))).toContain('Invitation sent');
    const second = await linkTo(email, 2);
    expect(second).not.toBe(first);
    expect((await accept(first)).text).toContain('This link is no longer valid');
    expect((await accept(second)).location).toBe('/sign-in');
    expect(await actions(id)).toEqual(['created', 'credited', 'invited', 'invited']);
  });

  it('expire after seven days and stay listed', async () => {
    const { email, id } = await invited();
    const [row] = await relay
      .get(DataSource)
      .query<{ days: number }[]>(
        `SELECT extract(day FROM expires_at - sent_at)::int AS days FROM verifications WHERE subject = $1`,
        [id],
      );
    expect(row).toEqual({ days: 7 });
    await relay.get(DataSource).query(`UPDATE verifications SET expires_at = now() WHERE subject = $1`, [id]);
    expect((await accept(await linkTo(email))).text).toContain('This link has expired');
    expect(await list()).toMatch(new RegExp(`${email}.*?Expired`, 's'));
  });

  it('are withdrawn with the account, whose address is free again', async () => {
    const { email, id } = await invited();
    const link = await linkTo(email);
    expect(await outcome(await act(id, 'withdraw'))).toContain('Invitation withdrawn');
    expect((await accept(link)).text).toContain('This link is no longer valid');
    expect(await list()).not.toContain(email);
    await expect(relay.get(AccountService).byId(id)).resolves.toMatchObject({ state: 'deleted' });
    expect(await actions(id)).toEqual([
      'created',
      'credited',
      'invited',
      'withdrew the invitation of',
      'debited',
      'deleted',
    ]);
    expect(await outcome(await act(id, 'withdraw'))).toContain('already accepted or withdrawn');
    expect((await invite(email)).status).toBe(303);
  });

  it('are not withdrawn when the user has API keys', async () => {
    const { email, id } = await invited();
    await relay.get(ApiKeyService).create({ accountId: id, name: 'imported' });
    expect(await list()).toContain(`href="/admin/users/${id}/delete" aria-label="Delete ${email}"`);
    expect(await outcome(await act(id, 'withdraw'))).toContain('This user already has API keys.');
    await expect(relay.get(AccountService).byId(id)).resolves.toMatchObject({ state: 'enabled' });
  });

  it('say why an email could not be sent, and stay listed', async () => {
    mailbox.refusals.push(550);
    const email = `refused${++made}@example.com`;
    const refused = await outcome(await invite(email));
    expect(refused).toContain('User created, but the invitation wasn’t sent');
    expect(await list()).toContain(email);
  });
});
