/** A relay with somebody signed in, for specs of the pages on which people make keys and change them. */

import { type OwnKey, OwnKeys } from '../../src/keys/index.js';
import { eventually } from './eventually.js';
import type { PageVisitor, PageResponse } from './page-visitor.js';
import { RelayApp, type TestCaller } from './relay-app.js';
import { signedIn } from './signed-in.js';

/** A call that costs $0.02, whatever it says. */
const CALL = { model: 'fee', messages: [{ role: 'user', content: 'Say hello' }] };
/** How soon the relay must follow a page. */
const FOLLOWS_MS = 1000;

export interface Person {
  readonly accountId: string;
  readonly browser: PageVisitor;
  readonly caller: TestCaller;
}

/** The form of a new key as a browser sends it when nothing is filled in. */
export const EMPTY = {
  name: '',
  group: 'default',
  quota: '',
  daily: '',
  weekly: '',
  monthly: '',
  callsPerMinute: '',
  tokensPerMinute: '',
  concurrency: '',
  expires: '',
  networks: '',
};

/** What a hidden field of a page holds. */
export const hidden = ({ text }: PageResponse, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? '';
export const secretOn = ({ text }: PageResponse): string => /sk-[0-9A-Za-z]{48}/.exec(text)?.[0] ?? '';

/** The fields of the settings form of a page, as a browser would send them. */
export function fieldsOf({ text }: PageResponse): Record<string, string> {
  const form = /<form class="card card--form"[^]*?<\/form>/.exec(text)?.[0] ?? '';
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const [name, value] = [/name="([^"]*)"/.exec(tag)?.[1] ?? '', /value="([^"]*)"/.exec(tag)?.[1] ?? ''];
    if (!tag.includes('type="checkbox"') && !name.startsWith('_')) fields[name] = value;
  }
  fields['networks'] = /<textarea[^>]*>([^<]*)</.exec(form)?.[1] ?? '';
  fields['group'] = /<option value="([^"]*)" selected/.exec(form)?.[1] ?? '';
  return fields;
}

export interface KeyPages {
  readonly relay: RelayApp;
  /** Another one for each test. */
  readonly ann: Person;
  readonly someone: () => Promise<Person>;
  /** Fills in the form of a new key. */
  readonly newKey: (fields: Record<string, string | string[]>) => Promise<PageResponse>;
  readonly keysOf: (person?: Person) => Promise<readonly OwnKey[]>;
  readonly named: (name: string) => Promise<OwnKey>;
  readonly call: (secret: string) => Promise<{ status: number; text: string }>;
  /** A call with this key is answered so before the relay may be late. */
  readonly expectSoon: (secret: string, status: number, text?: string) => Promise<unknown>;
}

/** Starts it for a spec file and stops it at the end. */
export function useKeyPages(): KeyPages {
  let relay: RelayApp;
  let ann: Person;

  const someone = async (options = {}): Promise<Person> => {
    const caller = await relay.caller(options);
    return { accountId: caller.accountId, browser: await signedIn(relay, caller.accountId), caller };
  };
  beforeAll(async () => {
    relay = await RelayApp.start();
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    ann = await someone();
  });

  const newKey = async (fields: Record<string, string | string[]>): Promise<PageResponse> => {
    const page = await ann.browser.get('/keys/new');
    return ann.browser.post('/keys/new', { ...EMPTY, _once: hidden(page, '_once'), ...fields });
  };
  const keysOf = async ({ accountId } = ann): Promise<readonly OwnKey[]> =>
    (await relay.get(OwnKeys).page({ accountId }, {})).keys;
  const named = async (name: string): Promise<OwnKey> => {
    const key = (await keysOf()).find((one) => one.name === name);
    if (key === undefined) throw new Error(`There is no key ${name}.`);
    return key;
  };
  const call = async (secret: string): Promise<{ status: number; text: string }> => {
    const response = await relay.post('/v1/chat/completions', secret, CALL);
    return { status: response.status, text: await response.text() };
  };
  const expectSoon = (secret: string, status: number, text = ''): Promise<unknown> =>
    eventually(async () => {
      const response = await call(secret);
      expect(response.status).toBe(status);
      expect(response.text).toContain(text);
    }, FOLLOWS_MS);

  return {
    get relay() {
      return relay;
    },
    get ann() {
      return ann;
    },
    someone,
    newKey,
    keysOf,
    named,
    call,
    expectSoon,
  };
}
