import { jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountStatus, Passwords } from '../../src/auth/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Clock, Secret } from '../../src/platform/shared/index.js';
import { codeIn, Mailbox } from '../support/mailbox.js';
import { PageVisitor, type PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';
const WRONG = 'copper lantern meadow';
let made = 0;
const anAddress = (): string => `user${++made}@example.com`;

describe('unauthenticated clients on account pages', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    relay = await RelayApp.start({}, { SMTP_URL: mailbox.url, TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(async () => {
    await relay.close();
    await mailbox.close();
  });

  const network = (): string => `10.${(++made >> 8) & 255}.${made & 255}.1`;
  const visitor = (ip = network()): PageVisitor => new PageVisitor(relay.url, { 'x-forwarded-for': ip });
  const account = async (disabled = false): Promise<string> => {
    const email = anAddress();
    const { id } = await relay
      .get(Onboarding)
      .createAccount({ email, name: 'Ann', password: new Secret(PASSWORD), verified: true });
    if (disabled) await relay.get(AccountStatus).disable(id);
    return email;
  };
  const forget = (): Promise<unknown> => relay.get(DataSource).query('DELETE FROM throttles');

  /** All that somebody could see of a response, but for what is new on every page. */
  const seen = ({ status, headers, text, location }: PageResponse, email: string): unknown => {
    const NEW = ['date', 'content-length', 'set-cookie', 'request-id', 'x-request-id'];
    const others = [...headers].filter(([name]) => !NEW.includes(name));
    const plain = text
      .replaceAll(email, 'ADDRESS')
      .replaceAll(/value="[\w-]{20,}"/g, 'value="TOKEN"')
      .replaceAll(/<time[^>]*>[^<]*<\/time>/g, 'TIME')
      .replaceAll(/in \d+ s\b/g, 'SOON');
    return { status, location, headers: others, cookies: headers.getSetCookie().length, plain };
  };

  describe('learn nothing from what they are shown', () => {
    it('of who has an account by signing in, whether it is unknown, disabled, or only the password wrong', async () => {
      const emails = [anAddress(), await account(), await account(true)];
      const shown = [];
      for (const email of emails) shown.push(seen(await visitor().signIn(email, WRONG), email));
      expect(shown.map((one) => (one as { status: number }).status)).toEqual([422, 422, 422]);
      for (const one of shown) expect(one).toEqual(shown[0]);
      // Whoever knows the password is told why it is of no use.
      expect((await visitor().signIn(emails[2]!, PASSWORD)).text).toContain('This account is suspended.');
    });

    it('by asking for a new password', async () => {
      const [known, unknown] = [await account(), anAddress()];
      const shown = [];
      for (const email of [known, unknown]) shown.push(seen(await visitor().submit('/forgot', { email }), email));
      expect(shown[0]).toEqual(shown[1]);
      await mailbox.latestTo(known);
      expect(mailbox.mails.filter(({ to }) => to.includes(unknown))).toEqual([]);
    });

    it('by registering, on any page that follows', async () => {
      const steps = async (email: string): Promise<unknown[]> => {
        const browser = visitor();
        const shown = [await browser.submit('/register', { name: 'Ann', email, password: PASSWORD })];
        shown.push(await browser.get('/verify'));
        shown.push(await browser.post('/verify', { code: '000000' }));
        shown.push(await browser.post('/verify/resend'), await browser.get('/verify'), await browser.get('/sign-in'));
        await mailbox.latestTo(email);
        return shown.map((one) => seen(one, email));
      };
      const [known, unknown] = [await steps(await account()), await steps(anAddress())];
      expect(known).toEqual(unknown);
    });

    /** Every response to wrong passwords of one address: as many as are taken, two in each block, and one behind it. */
    const responsesTo = async (email: string, ip: () => string): Promise<PageResponse[]> => {
      await forget();
      const now = jest.spyOn(relay.get(Clock), 'now');
      const responses: PageResponse[] = [];
      let time = Date.now();
      const attempt = async (): Promise<number> => {
        now.mockReturnValue(time);
        responses.push(await visitor(ip()).signIn(email, WRONG));
        return Number(responses.at(-1)!.headers.get('retry-after') ?? 0);
      };
      try {
        for (let count = 0; count < 5; count++) await attempt();
        for (let block = 0; block < 6; block++) {
          const waitSeconds = await attempt();
          time += 1000;
          await attempt();
          time += waitSeconds * 1000;
          await attempt();
        }
        return responses;
      } finally {
        now.mockRestore();
      }
    };

    it.each<[string, () => () => string]>([
      [
        'one network',
        () => {
          const ip = network();
          return () => ip;
        },
      ],
      ['several networks', () => network],
    ])('N4: an unknown address is throttled like a known one when wrong passwords come from %s', async (_, from) => {
      const emails = [await account(), await account(true), anAddress()];
      const all: PageResponse[][] = [];
      for (const email of emails) all.push(await responsesTo(email, from()));
      const waits = all[0]!.map(({ headers }) => headers.get('retry-after'));
      expect(waits.slice(0, 5)).toEqual([null, null, null, null, null]);
      const blocks = [60, 120, 240, 480, 960, 960];
      expect(waits.slice(5)).toEqual(blocks.flatMap((seconds) => [`${seconds}`, `${seconds - 1}`, null]));
      const shown = all.map((responses, index) => responses.map((one) => seen(one, emails[index]!)));
      expect(shown[1]).toEqual(shown[0]);
      expect(shown[2]).toEqual(shown[0]);
    });

    it('when they try too often', async () => {
      const shown = [];
      for (const email of [anAddress(), await account()]) {
        for (let count = 0; count < 5; count++) await visitor().signIn(email, WRONG);
        shown.push(seen(await visitor().signIn(email, WRONG), email));
      }
      expect(shown[0]).toMatchObject({ status: 429 });
      expect(shown[0]).toEqual(shown[1]);
    });
  });

  describe('learn nothing from how long it takes', () => {
    const TRIES = 21;
    const median = (values: readonly number[]): number =>
      values.toSorted((one, other) => one - other)[values.length >> 1]!;

    /** The medians of each way, tried in turn so that whatever else the machine does befalls all of them. */
    const medians = async (...ways: (() => Promise<unknown>)[]): Promise<number[]> => {
      const times: number[][] = ways.map(() => []);
      for (let turn = 0; turn < TRIES; turn++)
        for (const [index, way] of ways.entries()) {
          await forget();
          const start = performance.now();
          await way();
          times[index]!.push(performance.now() - start);
        }
      return times.map(median);
    };
    /** Without its hash a response would take a tenth of the time. */
    const expectAlike = ([one = 0, ...others]: number[]): void => {
      for (const other of others) expect(Math.abs(other - one) / one).toBeLessThan(0.7);
    };

    it('to refuse an unknown address, a wrong password, and an account without a password', async () => {
      const [known, bare] = [await account(), anAddress()];
      await relay.get(Onboarding).createAccount({ email: bare, passwordHash: null });
      const browser = visitor();
      await browser.get('/sign-in');
      const trying = (email: () => string) => () => browser.post('/sign-in', { email: email(), password: WRONG });
      expectAlike(
        await medians(
          trying(anAddress),
          trying(() => known),
          trying(() => bare),
        ),
      );
    });

    it('to register an address', async () => {
      const known = await account();
      const trying = (email: () => string) => async () => {
        const browser = visitor();
        await browser.submit('/register', { name: 'Ann', email: email(), password: PASSWORD });
      };
      expectAlike(
        await medians(
          trying(anAddress),
          trying(() => known),
        ),
      );
    });
  });

  describe('are held off', () => {
    it('from one account after five wrong passwords, from wherever they come, and the right one has to wait too', async () => {
      const email = await account();
      for (let count = 0; count < 5; count++) expect((await visitor().signIn(email, WRONG)).status).toBe(422);
      const refused = await visitor().signIn(email, PASSWORD);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('60');
      expect(refused.text).toContain('Too many attempts. Try again in 1 minute.');
      await relay
        .get(DataSource)
        .query(`UPDATE throttles SET blocked_until = now(), expires_at = expires_at - interval '1 minute'`);
      expect((await visitor().signIn(email, PASSWORD)).location).toBe('/');
    });

    it('with all of their accounts after thirty from one network, of which those that succeed do not count', async () => {
      const [ip, known] = [network(), await account()];
      for (let count = 0; count < 40; count++) expect((await visitor(ip).signIn(known, PASSWORD)).location).toBe('/');
      for (let count = 0; count < 30; count++) expect((await visitor(ip).signIn(anAddress(), WRONG)).status).toBe(422);
      expect((await visitor(ip).signIn(anAddress(), WRONG)).status).toBe(429);
      expect((await visitor().signIn(anAddress(), WRONG)).status).toBe(422);
    });

    it('also when they try at once', async () => {
      const email = await account();
      const browsers = Array.from({ length: 12 }, () => visitor());
      await Promise.all(browsers.map((browser) => browser.get('/sign-in')));
      const responses = await Promise.all(
        browsers.map((browser) => browser.post('/sign-in', { email, password: WRONG })),
      );
      expect(responses.filter(({ status }) => status === 422)).toHaveLength(5);
      expect(responses.filter(({ status }) => status === 429)).toHaveLength(7);
    });

    it('from sending more than five mails an hour to one address, in whatever way and spelling', async () => {
      const email = await account();
      const [name] = email.split('@');
      for (let count = 0; count < 5; count++) {
        const spelling = count === 0 ? email : `${name}+${count}@example.com`;
        await visitor().submit('/register', { name: 'Ann', email: spelling, password: PASSWORD });
      }
      expect((await visitor().submit('/register', { name: 'Ann', email, password: PASSWORD })).status).toBe(429);
      expect((await visitor().submit('/forgot', { email })).status).toBe(429);
    });

    it('from having more registrations kept, and passwords hashed, than mails sent', async () => {
      const hashing = jest.spyOn(relay.get(Passwords), 'hash');
      const email = anAddress();
      const stored = async (): Promise<number> => {
        const sql = 'SELECT count(*)::int AS stored FROM registrations WHERE email = $1';
        return (await relay.get(DataSource).query<{ stored: number }[]>(sql, [email]))[0]!.stored;
      };
      const register = () => visitor().submit('/register', { name: 'Ann', email, password: PASSWORD });
      for (let count = 0; count < 5; count++) expect((await register()).location).toBe('/verify');
      for (let count = 0; count < 3; count++) expect((await register()).status).toBe(429);
      await expect(stored()).resolves.toBe(5);
      expect(hashing).toHaveBeenCalledTimes(5);
      hashing.mockRestore();
    });

    it('from guessing codes: after thirty wrong ones from one network', async () => {
      const ip = network();
      const statuses = new Set<number>();
      const browser = visitor(ip);
      const email = anAddress();
      await browser.submit('/register', { name: 'Ann', email, password: PASSWORD });
      const code = codeIn(await mailbox.latestTo(email));
      const wrong = code === '111111' ? '222222' : '111111';
      for (let count = 0; count < 30; count++) statuses.add((await browser.submit('/verify', { code: wrong })).status);
      expect([...statuses]).toEqual([422]);
      expect((await browser.submit('/verify', { code: wrong })).status).toBe(429);
    });
  });
});
