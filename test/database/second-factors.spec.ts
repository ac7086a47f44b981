import { AuthModule, AccountService, SecondFactors } from '../../src/auth/index.js';
import { FactorSecrets, SecondFactorCheck } from '../../src/auth/second-factor/second-factor-check.js';
import { newTotpSecret, totpStep } from '../../src/auth/second-factor/totp.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { Authenticator } from '../support/authenticator.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

type App = Awaited<ReturnType<typeof startOn>>;

describe('codes of a second factor, in two processes', () => {
  let database: TestDatabase;
  let apps: readonly [App, App];

  beforeAll(async () => {
    database = await freshDatabase();
    const modules = [AuthModule, OnboardingModule];
    apps = [await startOn(database, modules), await startOn(database, modules)];
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
    await database.drop();
  });

  it('are accepted once, whether of the app or for recovery, however many come at the same moment', async () => {
    const [one] = apps;
    await one.get(Onboarding).createAccount({ email: 'ann@example.com', verified: true });
    const { id } = await one.get(AccountService).get('ann@example.com');
    const secret = newTotpSecret();
    const phone = new Authenticator(secret.reveal());
    const sealedSecret = one.get(FactorSecrets, { strict: false }).sealForAccount(secret, id);
    const step = totpStep(secret, phone.next(), Date.now())!;
    const [recovery = ''] = await one.get(SecondFactors).turnOn(id, { sealedSecret, step }, 'ses_1');
    for (const code of [phone.next(), recovery]) {
      const tries = [0, 1, 2, 3].map((index) =>
        apps[index % 2]!.get(SecondFactorCheck, { strict: false }).signIn(id, code, `10.0.0.${index}`),
      );
      const results = await Promise.allSettled(tries);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
    await expect(one.get(SecondFactors).of(id)).resolves.toMatchObject({ codesLeft: 9 });
  });

  it('are of one set, however many windows ask for others', async () => {
    const [one, other] = apps;
    const { id } = await one.get(AccountService).get('ann@example.com');
    const sets = await Promise.all(
      [one, other, one, other].map((app) => app.get(SecondFactors).renewCodes(id, 'ses_1')),
    );
    await expect(one.get(SecondFactors).of(id)).resolves.toMatchObject({ codesLeft: 10 });
    expect(new Set(sets.flat()).size).toBe(40);
  });
});
