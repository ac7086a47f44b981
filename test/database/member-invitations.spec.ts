import { MemberInvitations, Members, Organizations, OrganizationBills } from '../../src/keys/organizations/index.js';
import { type BenchMember, OrganizationBench } from '../support/organization-bench.js';

const IP = '192.0.2.1';
const DAY_SECONDS = 24 * 60 * 60;

describe('MemberInvitations', () => {
  let bench: OrganizationBench;
  let invitations: MemberInvitations;
  let owner: BenchMember;
  let bob: { accountId: string; email: string; verified: boolean };

  beforeEach(async () => {
    bench = await OrganizationBench.start();
    invitations = bench.app.get(MemberInvitations);
    ({ owner } = bench);
    bob = { accountId: await bench.account('bob@example.com'), email: 'bob@example.com', verified: true };
  });
  afterEach(() => bench.stop());

  const invite = async (email = 'bob@example.com', by: BenchMember = owner): Promise<string> => {
    await invitations.invite(by, { email, role: 'member', teamId: undefined }, IP);
    return (await invitations.list(by.id))[0]!.id;
  };
  const tokenOf = async (email: string, count = 1): Promise<string> => {
    const { message } = await bench.mailbox.latestTo(email, count);
    return /\/join\?t=([\w-]{43})/.exec(message.text ?? '')?.[1] ?? '';
  };

  it('mails a link that shows the invitation and is stored only as a hash', async () => {
    const id = await invite(' Bob@Example.com ');
    const { message } = await bench.mailbox.latestTo('bob@example.com');
    expect(message.subject).toBe('Join Acme on Switchboard');
    expect(message.text).toContain('ann@example.com invited you');
    const token = await tokenOf('bob@example.com');
    await expect(invitations.open(token)).resolves.toMatchObject({ id, organization: 'Acme', role: 'member' });
    const stored = await bench.query(`SELECT * FROM verifications v, member_invitations i WHERE i.id = v.subject`);
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  it('makes the invitee a member once, and the link works no longer', async () => {
    const id = await invite();
    const token = await tokenOf('bob@example.com');
    await bench.as({ ...owner, ...bob }, () => invitations.accept(bob, id));
    await expect(bench.app.get(Organizations).of(bob.accountId)).resolves.toMatchObject([
      { name: 'Acme', role: 'member' },
    ]);
    await expect(invitations.accept(bob, id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(invitations.open(token)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(invitations.list(owner.id)).resolves.toEqual([]);
    expect(await bench.audited()).toEqual(['bob@example.com joined member bob@example.com role member']);
  });

  it('lets one of two concurrent acceptances make the member', async () => {
    const id = await invite();
    const results = await Promise.allSettled([invitations.accept(bob, id), invitations.accept(bob, id)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('refuses who has another address, or has not verified it', async () => {
    const id = await invite();
    const eve = { accountId: await bench.account('eve@example.com'), email: 'eve@example.com', verified: true };
    await expect(invitations.accept(eve, id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(invitations.accept({ ...bob, verified: false }, id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(invitations.waitingFor(eve)).resolves.toEqual([]);
    await expect(invitations.waitingFor({ ...bob, verified: false })).resolves.toEqual([]);
    await expect(invitations.waitingFor(bob)).resolves.toMatchObject([{ id }]);
  });

  it('expires after 7 days, and is renewed by sending it again', async () => {
    const id = await invite();
    const first = await tokenOf('bob@example.com');
    bench.clock.pass(7 * DAY_SECONDS + 1);
    await expect(invitations.accept(bob, id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(invitations.list(owner.id)).resolves.toMatchObject([{ isExpired: true }]);
    await invitations.sendAgain(owner, id, IP);
    await expect(invitations.open(first)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(invitations.open(await tokenOf('bob@example.com', 2))).resolves.toMatchObject({ isExpired: false });
    await invitations.accept(bob, id);
  });

  it('ends when it is withdrawn or declined', async () => {
    const id = await invite();
    await invitations.withdraw(owner, id);
    await expect(invitations.accept(bob, id)).rejects.toMatchObject({ kind: 'not_found' });
    bench.clock.pass(61);
    const again = await invite();
    await invitations.decline(bob, again);
    await expect(invitations.list(owner.id)).resolves.toEqual([]);
  });

  it('keeps one invitation per address, with the latest role', async () => {
    await invite();
    bench.clock.pass(61);
    await invitations.invite(owner, { email: 'bob@example.com', role: 'admin', teamId: undefined }, IP);
    await expect(invitations.list(owner.id)).resolves.toMatchObject([{ email: 'bob@example.com', role: 'admin' }]);
  });

  it('refuses members, other teams, roles that may not invite, and invitations of other organizations', async () => {
    const member = await bench.join('cara@example.com');
    await expect(invite('cara@example.com')).rejects.toMatchObject({ details: { param: 'email' } });
    await expect(invite('dan@example.com', member)).rejects.toMatchObject({ kind: 'permission_denied' });
    const stranger = await bench.found('eve@example.com', 'Other');
    const teamId = await bench.team();
    const foreign = invitations.invite(stranger, { email: 'f@example.com', role: 'member', teamId }, IP);
    await expect(foreign).rejects.toMatchObject({ kind: 'not_found' });
    const id = await invite();
    await expect(invitations.withdraw(stranger, id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(invitations.sendAgain(stranger, id, IP)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('changes nothing when the invitee is a member by another address', async () => {
    const member = await bench.join('cara@example.com');
    const other = { ...member, email: 'caroline@example.com', verified: true };
    await invitations.invite(owner, { email: other.email, role: 'admin', teamId: undefined }, IP);
    const [invitation] = await invitations.waitingFor(other);
    await bench.as(member, () => invitations.accept(other, invitation!.id));
    await expect(bench.member(member)).resolves.toMatchObject({ role: 'member' });
    expect(await bench.audited()).toEqual([]);
  });

  it('limits mails to an address', async () => {
    await invite();
    for (let sent = 1; sent < 5; sent += 1) {
      bench.clock.pass(61);
      await invite();
    }
    bench.clock.pass(61);
    await expect(invite()).rejects.toMatchObject({ kind: 'rate_limit_exceeded' });
  });
});

describe('OrganizationBills', () => {
  it('sums to what left the wallet: members, former members, teams, service keys', async () => {
    const bench = await OrganizationBench.start();
    try {
      const teamId = await bench.team();
      const bob = await bench.join('bob@example.com', 'member', teamId);
      const cara = await bench.join('cara@example.com');
      await bench.spend(await bench.key(bob), 70n);
      await bench.spend(await bench.key(cara), 20n);
      await bench.spend(await bench.key(), 5n);
      await bench.spend(await bench.key(undefined, teamId), 3n);
      await bench.app.get(Members).remove(bench.owner, cara.memberId, { kind: 'to-organization' });
      const bills = bench.app.get(OrganizationBills);
      const bill = await bills.of(bench.owner.id, new Date(0), new Date(bench.clock.now() + 1000));
      expect(bill).toEqual({
        total: 98n,
        members: [
          { id: bob.memberId, name: 'bob@example.com', isFormer: false, amount: 70n },
          { id: cara.memberId, name: 'cara@example.com', isFormer: true, amount: 20n },
          { id: undefined, name: 'Service keys', isFormer: false, amount: 8n },
        ],
        teams: [
          { id: teamId, name: 'Research', isFormer: false, amount: 73n },
          { id: undefined, name: 'Without a team', isFormer: false, amount: 25n },
        ],
      });
      const wallet = `SELECT (-sum(amount))::text AS spent FROM ledger_lines l JOIN ledger_entries e ON e.id = l.entry_id
                       WHERE e.kind = 'calls' AND l.ledger_account = 'wallet:' || $1::text`;
      await expect(bench.query(wallet, [bench.owner.id])).resolves.toEqual([{ spent: '98' }]);
      const later = new Date(bench.clock.now() + 1000);
      await expect(bills.of(bench.owner.id, later, new Date(later.getTime() + 1))).resolves.toMatchObject({
        total: 0n,
      });
      await bench.isExact();
    } finally {
      await bench.stop();
    }
  });
});
