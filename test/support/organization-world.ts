import { DataSource } from 'typeorm';
import { randomBytes } from 'node:crypto';
import type { OrganizationRole } from '../../src/auth/index.js';
import { formatUsd, newId, Secret } from '../../src/platform/shared/index.js';
import { StoredResponses } from '../../src/relay/stored-responses/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { aKeyOf, aMember, anOrganization, leave, type TestMember } from './organizations.js';
import { PageVisitor } from './page-visitor.js';
import type { RelayApp } from './relay-app.js';

/** Who asks: the roles, and those who may see nothing. */
export const READERS = [
  'owner',
  'admin',
  'billing',
  'member',
  'viewer',
  'former member',
  'member of another organization',
  'nobody',
] as const;
export type Reader = (typeof READERS)[number];

/** What belongs to one holder of a key. */
export interface Belongings {
  /** ID of the member; for a service key, of none. */
  readonly member: string;
  readonly isOfMember: boolean;
  readonly key: string;
  readonly secret: string;
  readonly call: string;
  readonly response: string;
  readonly notice: string;
  /** Texts that appear wherever something of theirs does. */
  readonly markers: readonly string[];
}

const WHOLE_DOLLARS = '7341';

/** An organization in which everything has a name that appears nowhere else, with a browser for each reader. */
export class OrganizationWorld {
  readonly browsers = new Map<Reader, PageVisitor>();
  /** The member, a colleague, one who left, and a service key. */
  readonly things = {} as Record<'member' | 'colleague' | 'former' | 'service', Belongings>;
  acme = '';
  payment = '';
  strangersKey = '';

  private constructor(private readonly relay: RelayApp) {}

  static async make(relay: RelayApp): Promise<OrganizationWorld> {
    const world = new OrganizationWorld(relay);
    world.acme = await anOrganization(relay, 'marker-organization', `${WHOLE_DOLLARS}.57`);
    await world.addMembers();
    await world.addPayment();
    return world;
  }

  get walletMarkers(): readonly string[] {
    return [`$7,341`, `"${WHOLE_DOLLARS}.`, 'opening credit of marker', this.payment];
  }

  /** Texts that must not appear in what this reader is sent. */
  hiddenFrom(reader: Reader): readonly string[] {
    const { member, ...others } = this.things;
    const ofOthers = Object.values(others).flatMap(({ markers }) => markers);
    if (reader === 'member') return [...ofOthers, ...this.walletMarkers];
    if (reader === 'owner' || reader === 'admin' || reader === 'viewer' || reader === 'billing') return [];
    const all = [...member.markers, ...ofOthers, ...this.walletMarkers, 'marker-organization'];
    return reader === 'former member' ? all.filter((marker) => marker !== 'marker-name-former') : all;
  }

  browser(reader: Reader): PageVisitor {
    const browser = this.browsers.get(reader);
    if (browser === undefined) throw new Error(`There is no browser of ${reader}.`);
    return browser;
  }

  /** Everything of the organization that a form could change. */
  async state(): Promise<string> {
    const tables = ['api_keys', 'calls', 'top_ups', 'key_notices', 'stored_answers', 'alert_settings'];
    const parts = tables.map((name) => `SELECT '${name}', t::text FROM ${name} t WHERE account_id = $1`);
    const own = ['members', 'teams', 'member_invitations'].map(
      (name) => `SELECT '${name}', t::text FROM ${name} t WHERE organization_id = $1`,
    );
    const whole = [
      `SELECT 'wallets', balance::text || held FROM wallets WHERE account_id = $1`,
      `SELECT 'ledger_lines', t::text FROM ledger_lines t WHERE ledger_account LIKE '%' || $1`,
      `SELECT 'accounts', t::text FROM accounts t WHERE id = $1`,
      `SELECT 'organizations', t::text FROM organizations t WHERE id = $1`,
    ];
    const sql = `${[...parts, ...own, ...whole].join(' UNION ALL ')} ORDER BY 1, 2`;
    return JSON.stringify(await this.relay.get(DataSource).query(sql, [this.acme]));
  }

  async balance(): Promise<string> {
    return formatUsd((await this.relay.get(WalletService).balanceOf(this.acme)).balance);
  }

  /** A key that forms may do anything with. */
  async spareKey(memberId?: string): Promise<{ id: string; secret: string }> {
    const key = await aKeyOf(this.relay, this.acme, `spare ${randomBytes(4).toString('hex')}`, memberId);
    await this.relay.get(DataSource).query('UPDATE api_keys SET quota = 5000000000 WHERE id = $1', [key.id]);
    return key;
  }

  private async addMembers(): Promise<void> {
    for (const role of ['owner', 'admin', 'billing', 'viewer'] as const)
      this.browsers.set(role, (await this.person(role, role)).browser);
    const member = await this.person('member', 'member');
    const colleague = await this.person('member', 'colleague');
    const former = await this.person('member', 'former');
    const team = await this.addTeam(colleague);
    this.things.member = await this.belongings('member', member);
    this.things.colleague = await this.belongings('colleague', colleague, team);
    this.things.former = await this.belongings('former', former);
    this.things.service = await this.belongings('service', undefined);
    this.browsers.set('member', member.browser);
    this.browsers.set('former member', former.browser);
    await leave(this.relay, former.memberId);
    const beta = await anOrganization(this.relay, 'Beta');
    const stranger = await aMember(this.relay, beta, 'owner', 'Stranger');
    this.strangersKey = (await aKeyOf(this.relay, beta, 'strangers', stranger.memberId)).secret;
    this.browsers.set('member of another organization', stranger.browser);
    this.browsers.set('nobody', new PageVisitor(this.relay.url));
  }

  private person(role: OrganizationRole, name: string): Promise<TestMember> {
    return aMember(this.relay, this.acme, role, `marker-name-${name}`);
  }

  /** @returns its ID and name */
  private async addTeam({ memberId }: TestMember): Promise<readonly [string, string]> {
    const sql = this.relay.get(DataSource);
    await sql.query(`INSERT INTO teams (id, organization_id, name) VALUES ('team_1', $1, 'marker-team')`, [this.acme]);
    await sql.query(`UPDATE members SET team_id = 'team_1' WHERE id = $1`, [memberId]);
    return ['team_1', 'marker-team'];
  }

  private async addPayment(): Promise<void> {
    this.payment = newId('top', Date.now());
    await this.relay
      .get(DataSource)
      .query(
        `INSERT INTO top_ups (id, account_id, provider, amount, currency) VALUES ($1, $2, 'stripe', 987e9, 'usd')`,
        [this.payment, this.acme],
      );
  }

  /** A key with a call, a notice and a stored response. */
  private async belongings(
    holder: string,
    member: TestMember | undefined,
    [teamId, ...teamNames]: readonly string[] = [],
  ): Promise<Belongings> {
    const name = `marker-key-${holder}`;
    const { id: keyId, secret } = await aKeyOf(this.relay, this.acme, name, member?.memberId, teamId);
    const body = { model: 'fee', messages: [{ role: 'user', content: 'Hello' }] };
    const answered = await this.relay.post('/v1/chat/completions', secret, body);
    await answered.text();
    const call = answered.headers.get('x-request-id') ?? '';
    const notice = await this.addNotice(keyId, holder);
    const response = `resp_${randomBytes(24).toString('hex')}`;
    const answer = `marker-answer-${holder}`;
    await this.relay.get(StoredResponses).store(
      { accountId: this.acme, keyId, secret: new Secret(secret) },
      {
        id: response,
        callId: call,
        channelId: 'chn_foreign',
        credentialId: null,
        itemIds: ['msg_1'],
        content: { input: JSON.stringify([{ role: 'user', content: answer }]), response: JSON.stringify({ answer }) },
      },
    );
    const own = member === undefined ? [] : [`marker-name-${holder}`];
    const markers = [name, call, answer, `marker-network-${holder}`, ...own, ...teamNames];
    const isOfMember = member !== undefined && holder !== 'former';
    return { member: member?.memberId ?? 'mem_none', isOfMember, key: keyId, secret, call, response, notice, markers };
  }

  private async addNotice(keyId: string, holder: string): Promise<string> {
    const id = newId('ntc', Date.now());
    await this.relay.get(DataSource).query(
      `INSERT INTO key_notices (id, account_id, key_id, kind, occasion, at, address, network)
       VALUES ($1, $2, $3, 'new-network', '', now(), '203.0.113.7', $4)`,
      [id, this.acme, keyId, `marker-network-${holder}`],
    );
    return id;
  }
}
