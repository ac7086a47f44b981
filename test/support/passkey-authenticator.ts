import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { PageResponse, PageVisitor } from './page-visitor.js';

/** What a response deviates in from one of an authenticator and browser that work as they should. */
export interface Deviation {
  readonly origin?: string;
  readonly challenge?: string;
  readonly rpId?: string;
  /** Default: one above the last. */
  readonly counter?: number;
  readonly type?: string;
  /** Default: user present and verified. */
  readonly flags?: number;
  /** Default: the user's, as at the registration. */
  readonly userHandle?: string | null;
  /** Signs instead of the passkey's own key. */
  readonly key?: KeyObject;
  readonly attestation?: Buffer;
}

type CreationOptions = Pick<Options, 'challenge' | 'rp' | 'user'>;
type RequestOptions = Pick<Options, 'challenge' | 'rpId'>;

/** Of both kinds of ceremonies. */
interface Options {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly excludeCredentials: readonly object[];
  readonly rpId: string;
  readonly allowCredentials: readonly object[];
}

/** As the script of a page that was just seen requests them. */
export async function optionsAt(browser: PageVisitor, path: string): Promise<Options> {
  const response = await browser.post(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return JSON.parse(response.text) as Options;
}

/** Adds a passkey named Laptop to the account of a recent sign-in. */
export async function addPasskey(
  browser: PageVisitor,
  passkey: PasskeyAuthenticator,
  deviation: Deviation = {},
): Promise<PageResponse> {
  await browser.get('/account/passkeys/new');
  const options = await optionsAt(browser, '/account/passkeys/options');
  return browser.post('/account/passkeys', { name: 'Laptop', passkey: passkey.create(options, deviation) });
}

const USER_PRESENT = 0x01;
export const USER_VERIFIED = 0x04;
const ATTESTED = 0x40;

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const url = (data: Buffer): string => data.toString('base64url');

/** CBOR (RFC 8949) of what registrations have; lengths below 65,536. */
const head = (major: number, length: number): Buffer => {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
};
export const cborText = (text: string): Buffer => Buffer.concat([head(3, text.length), Buffer.from(text)]);
export const cborBytes = (data: Buffer): Buffer => Buffer.concat([head(2, data.length), data]);
export const cborMap = (...items: readonly Buffer[]): Buffer => Buffer.concat([head(5, items.length / 2), ...items]);
export const cborList = (...items: readonly Buffer[]): Buffer => Buffer.concat([head(4, items.length), ...items]);
const cborInt = (value: number): Buffer => (value < 0 ? head(1, -1 - value) : head(0, value));

/** One passkey in software, written from the standard (WebAuthn Level 3), as a browser hands its responses over. */
export class PasskeyAuthenticator {
  readonly id = randomBytes(16);
  counter = 0;
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private userHandle = '';

  constructor(readonly origin: string) {}

  /** For `navigator.credentials.create`. */
  create({ challenge, rp, user }: CreationOptions, deviation: Deviation = {}): string {
    this.userHandle = user.id;
    const { flags = USER_PRESENT | USER_VERIFIED } = deviation;
    const length = Buffer.from([0, this.id.length]);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, this.coseKey()]);
    const authData = this.authData(deviation.rpId ?? rp.id, flags | ATTESTED, deviation.counter ?? 0, attested);
    const none = cborMap(cborText('fmt'), cborText('none'), cborText('attStmt'), cborMap());
    const attestation = deviation.attestation ?? none.subarray(1);
    const attestationObject = Buffer.concat([head(5, 3), attestation, cborText('authData'), cborBytes(authData)]);
    const clientDataJSON = this.clientData({ challenge, type: 'webauthn.create' }, deviation);
    return this.response({ clientDataJSON, attestationObject: url(attestationObject), transports: ['internal', 'x'] });
  }

  /** For `navigator.credentials.get`. */
  get({ challenge, rpId }: RequestOptions, deviation: Deviation = {}): string {
    this.counter = deviation.counter ?? this.counter + 1;
    const { flags = USER_PRESENT | USER_VERIFIED, key = this.keys.privateKey } = deviation;
    const authenticatorData = this.authData(deviation.rpId ?? rpId, flags, this.counter);
    const clientDataJSON = this.clientData({ challenge, type: 'webauthn.get' }, deviation);
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const { userHandle = this.userHandle } = deviation;
    return this.response({
      clientDataJSON,
      authenticatorData: url(authenticatorData),
      signature: url(sign('sha256', signed, key)),
      userHandle,
    });
  }

  private response(response: object): string {
    const id = url(this.id);
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }

  private clientData(made: { readonly challenge: string; readonly type: string }, deviation: Deviation): string {
    const { challenge = made.challenge, type = made.type, origin = this.origin } = deviation;
    return url(json({ type, challenge, origin, crossOrigin: false }));
  }

  private authData(rpId: string, flags: number, counter: number, attested = Buffer.alloc(0)): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested]);
  }

  /** ES256 (RFC 9053). */
  private coseKey(): Buffer {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const [kty, alg, crv] = [1, 3, -1].map(cborInt) as [Buffer, Buffer, Buffer];
    const coordinates = [cborInt(-2), cborBytes(Buffer.from(x, 'base64url')), cborInt(-3)];
    const last = cborBytes(Buffer.from(y, 'base64url'));
    return cborMap(kty, cborInt(2), alg, cborInt(-7), crv, cborInt(1), ...coordinates, last);
  }
}
