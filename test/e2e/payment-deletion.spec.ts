import { DataSource } from 'typeorm';
import { AccountDeletion } from '../../src/keys/onboarding/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { CheckoutService } from '../../src/wallet/payments/checkout.service.js';
import { Reconciliation } from '../../src/wallet/index.js';
import { eventually } from '../support/eventually.js';
import { anEvent, completed, disputed, refunded, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';
import type { StripeObject } from '../support/scripted-stripe.js';

const DELETED = 'its account was deleted: refund it at the provider';
/** Whoever waits for what another transaction has locked. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;

describe('a payment of an account that is deleted', () => {
  const use = usePayments();
  let ann: TestCaller;
  beforeEach(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
  });
  afterEach(async () => expect(await use.world.ledgerDifferences()).toEqual([]));

  const begin = async (): Promise<StripeObject> => use.world.begin(await use.world.browserOf(ann));
  const remove = (): Promise<void> => use.world.relay.get(AccountDeletion).run(ann.accountId);
  const later = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
  /** What the wallet gained and lost, with the words of the ledger. */
  const entries = async (): Promise<readonly string[]> => {
    const rows = await use.world.relay.get(DataSource).query<{ entry: string }[]>(
      `SELECT split_part(e.reason, ' top_', 1) || ' ' || l.amount / 1000000000 AS entry
         FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
        WHERE l.ledger_account = 'wallet:' || $1 ORDER BY e.created_at, e.id`,
      [ann.accountId],
    );
    return rows.map(({ entry }) => entry);
  };
  const expectRefused = async (session: StripeObject): Promise<void> => {
    expect(await use.world.money(ann)).toEqual(['0', '0']);
    expect((await use.world.order(session)).state).toBe('expired');
    expect((await use.world.problems()).at(-1)).toEqual({ reference: session.id, problem: DELETED });
  };

  it('is closed at Stripe with it; if paid nevertheless, it credits nothing, and administrators are asked to refund it', async () => {
    const session = await begin();
    await remove();
    expect(use.world.stripe.requests.at(-1)!.path).toBe(`/v1/checkout/sessions/${session.id}/expire`);
    const payment = `pi_${session.id}`;
    expect(await use.world.tell(completed(session, payment))).toBe(200);
    await expectRefused(session);
    // What the operator gives back was never here.
    expect(await use.world.tell(refunded(`re_${payment}`, payment, 2500))).toBe(200);
    await expectRefused(session);
  });

  it('is closed at Stripe too when it is started while the deletion waits for it', async () => {
    const sql = use.world.relay.get(DataSource);
    let removed: Promise<void> | undefined;
    await sql.transaction(async (manager) => {
      await manager.query('SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [ann.accountId]);
      removed = remove();
      await eventually(async () => expect(await sql.query(WAITING)).toHaveLength(1), 10_000);
      await manager.query(
        `INSERT INTO top_ups (id, account_id, provider, reference, address, amount, currency, state)
         VALUES ('top_late', $1, 'stripe', 'cs_test_late', 'https://pay.example', 25000000000, 'usd', 'pending')`,
        [ann.accountId],
      );
    });
    await removed;
    expect(use.world.stripe.requests.at(-1)!.path).toBe('/v1/checkout/sessions/cs_test_late/expire');
  });

  it('is closed at Stripe too when the account is deleted while Stripe opens its payment page', async () => {
    use.world.stripe.meanwhile = remove;
    const begun = use.world.relay.get(CheckoutService).begin(ann, parseUsd('25'));
    await expect(begun).rejects.toThrow('has no wallet');
    const { requests, lastSession } = use.world.stripe;
    expect(requests.at(-1)!.path).toBe(`/v1/checkout/sessions/${lastSession.id}/expire`);
  });

  it('is no difference that reconciliation could enter', async () => {
    const session = await begin();
    await remove();
    use.world.stripe.sessions.splice(0, 1, {
      ...session,
      status: 'complete',
      payment_status: 'paid',
      payment_intent: 'pi_unheard',
    });
    const found = [];
    for await (const difference of use.world.relay.get(Reconciliation).run(30, true)) found.push(difference);
    const { id } = await use.world.order(session);
    const text = `${id} of $25 is paid at Stripe, but its account was deleted`;
    expect(found).toEqual([{ text, outcome: 'left' }]);
    await expectRefused(session);
    use.world.stripe.sessions.shift();
  });

  it('credits nothing that stays in the wallet when its event arrives during the deletion', async () => {
    const session = await begin();
    // An order that has ended is not locked by the deletion.
    await use.world.tell(anEvent('checkout.session.expired', { ...session, status: 'expired' }));
    const sql = use.world.relay.get(DataSource);
    const work: Promise<unknown>[] = [];
    await sql.transaction(async (manager) => {
      await manager.query('SELECT 1 FROM wallets WHERE account_id = $1 FOR UPDATE', [ann.accountId]);
      for (const start of [remove, () => use.world.tell(completed(session, `pi_${session.id}`))]) {
        work.push(start());
        await eventually(async () => expect(await sql.query(WAITING)).toHaveLength(work.length), 10_000);
      }
    });
    await Promise.all(work);
    await expectRefused(session);
  });

  it('goes to the house with what is left of it, and so does what a dispute gives back later', async () => {
    const { payment, session } = await use.world.paid(ann);
    await use.world.tell(disputed(`dp_${payment}`, payment, 2000));
    expect(await use.world.money(ann)).toEqual(['5', '0']);
    await remove();
    const won = { type: 'charge.dispute.funds_reinstated', status: 'won', toldAt: later(1) };
    expect(await use.world.tell(disputed(`dp_${payment}`, payment, 2000, won))).toBe(200);
    expect(await use.world.money(ann)).toEqual(['0', '0']);
    expect((await use.world.order(session)).state).toBe('paid');
    expect(await entries()).toEqual([
      'Payment 25',
      'Dispute of payment -20',
      'Account deleted -5',
      'Dispute settled: payment 20',
      'Account deleted -20',
    ]);
  });

  it('stays owed on record when it is taken back later, and is owed no more once that failed', async () => {
    const { payment } = await use.world.paid(ann);
    await remove();
    await use.world.tell(refunded(`re_${payment}`, payment, 2500));
    expect(await use.world.money(ann)).toEqual(['0', '25']);
    const failed = { type: 'refund.failed', status: 'failed', toldAt: later(1) };
    await use.world.tell(refunded(`re_${payment}`, payment, 2500, failed));
    expect(await use.world.money(ann)).toEqual(['0', '0']);
  });
});
