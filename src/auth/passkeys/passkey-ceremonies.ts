import { Injectable, Logger } from '@nestjs/common';
import type * as WebAuthn from '@simplewebauthn/server';
import type * as Helpers from '@simplewebauthn/server/helpers';
import { Config } from '../../platform/config/index.js';
import { Settings } from '../../platform/settings/index.js';
import { AppError, Clock, reasonOf } from '../../platform/shared/index.js';
import type { Visit, Visitor } from '../visit.js';
import { type ChallengeUse, PasskeyChallenges } from './passkey-challenges.js';
import { type PasskeyCredential, PasskeyRepository } from './passkey.repository.js';

/** Options for `navigator.credentials`, in the JSON form of WebAuthn Level 3. */
export type CreationOptions = WebAuthn.PublicKeyCredentialCreationOptionsJSON;
export type RequestOptions = WebAuthn.PublicKeyCredentialRequestOptionsJSON;

/** The response failed a check, or its passkey is unknown. The reason is logged. */
export class PasskeyRefused extends AppError {
  constructor() {
    super('invalid_request', 'The passkey was not accepted. Try again, or use another method.', { param: 'passkey' });
  }
}

type WebAuthnPackage = typeof WebAuthn & Pick<typeof Helpers, 'decodeAttestationObject'>;

/** Loaded on first use: it brings parsers of certificates along. */
async function webAuthn(): Promise<WebAuthnPackage> {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...server, decodeAttestationObject: helpers.decodeAttestationObject };
}

const TIMEOUT_MS = 5 * 60_000;
/** EdDSA, ES256 and RS256 (COSE). Fixed, because the package's default depends on the version of Node. */
const ALGORITHMS = [-8, -7, -257];
/** In bytes (WebAuthn Level 3, 4). */
const MAX_CREDENTIAL_ID = 1023;

/** A credential as an authenticator has created it. */
export type NewCredential = Pick<PasskeyCredential, 'credentialId' | 'publicKey' | 'counter' | 'transports'>;

/** A response of either kind: the package checks which, with the members of that kind. */
type AnyResponse = WebAuthn.RegistrationResponseJSON & WebAuthn.AuthenticationResponseJSON;

/** What both kinds of responses must match. */
interface Expectations {
  readonly expectedChallenge: string;
  readonly expectedOrigin: string[];
  readonly expectedRPID: string;
  readonly requireUserVerification: true;
}

/** The ceremonies of WebAuthn. User verification is required, so that a passkey is two factors by itself. */
@Injectable()
export class PasskeyCeremonies {
  private readonly logger = new Logger('Accounts');

  constructor(
    private readonly passkeys: PasskeyRepository,
    private readonly challenges: PasskeyChallenges,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** @throws TooManyAttempts */
  async creationOptions({ accountId, email, name }: Visitor, visit: Visit): Promise<CreationOptions> {
    const { generateRegistrationOptions } = await webAuthn();
    const options = await generateRegistrationOptions({
      rpName: this.settings.current().site.name,
      rpID: this.relyingPartyId(visit),
      userID: new Uint8Array(Buffer.from(accountId)),
      userName: email,
      userDisplayName: name === '' ? email : name,
      timeout: TIMEOUT_MS,
      excludeCredentials: (await this.passkeys.credentialsOf(accountId)).map(descriptorOf),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
    });
    await this.challenges.begin(options.challenge, { purpose: 'registration', accountId }, visit, TIMEOUT_MS);
    return options;
  }

  /** @param use without an account, any passkey of this site can be used @throws TooManyAttempts */
  async requestOptions(use: ChallengeUse, visit: Visit): Promise<RequestOptions> {
    const { generateAuthenticationOptions } = await webAuthn();
    const known = use.accountId === undefined ? [] : await this.passkeys.credentialsOf(use.accountId);
    const options = await generateAuthenticationOptions({
      rpID: this.relyingPartyId(visit),
      allowCredentials: known.map(descriptorOf),
      timeout: TIMEOUT_MS,
      userVerification: 'required',
    });
    await this.challenges.begin(options.challenge, use, visit, TIMEOUT_MS);
    return options;
  }

  /** @param text response of `navigator.credentials.create`, as JSON @throws PasskeyRefused */
  async verifyCreation(text: string, { accountId }: Visitor, visit: Visit): Promise<NewCredential> {
    const response = this.parsed(text);
    const expected = await this.expectations(response, { purpose: 'registration', accountId }, visit);
    const { registrationInfo } = await this.checked(async (package_) => {
      refuseCertificates(package_.decodeAttestationObject(bytesOf(response.response.attestationObject)));
      return package_.verifyRegistrationResponse({ response, ...expected, supportedAlgorithmIDs: ALGORITHMS });
    });
    if (registrationInfo === undefined) throw this.refusal('its attestation is wrong');
    await this.challenges.succeed(visit);
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    const credentialId = Buffer.from(id, 'base64url');
    if (credentialId.length > MAX_CREDENTIAL_ID) throw this.refusal('its ID is too long');
    const known = TRANSPORTS.filter((transport) => transports.includes(transport));
    return { credentialId, publicKey: Buffer.from(publicKey), counter, transports: known };
  }

  /**
   * The passkey that signed. Its counter is stored.
   * @param text response of `navigator.credentials.get`, as JSON
   * @throws PasskeyRefused
   */
  async verifyUse(text: string, use: ChallengeUse, visit: Visit): Promise<PasskeyCredential> {
    const response = this.parsed(text);
    const expected = await this.expectations(response, use, visit);
    const passkey = await this.passkeys.find(Buffer.from(response.id, 'base64url'));
    if (passkey === undefined) throw this.refusal('it is unknown');
    if (!isOfOwner(passkey, use, response.response.userHandle)) throw this.refusal('it is of another account');
    const { publicKey, counter } = passkey;
    const credential = { id: response.id, publicKey: new Uint8Array(publicKey), counter };
    const { verified, authenticationInfo } = await this.checked((package_) =>
      package_.verifyAuthenticationResponse({ response, ...expected, credential }),
    );
    if (!verified) throw this.refusal('its signature is wrong');
    const isUsed = await this.passkeys.use(passkey.id, authenticationInfo.newCounter, this.clock.date());
    if (!isUsed) throw this.refusal('its counter was used by another sign-in');
    await this.challenges.succeed(visit);
    return passkey;
  }

  /** Takes the challenge, whatever comes of the other checks. @throws PasskeyRefused */
  private async expectations(
    { response }: { readonly response: { readonly clientDataJSON: string } },
    use: ChallengeUse,
    visit: Visit,
  ): Promise<Expectations> {
    const challenge = challengeIn(response.clientDataJSON);
    if (challenge === undefined || !(await this.challenges.take(challenge, use, visit)))
      throw this.refusal('its challenge is unknown, used, expired or of another browser');
    return {
      expectedChallenge: challenge,
      expectedOrigin: this.origins(visit),
      expectedRPID: this.relyingPartyId(visit),
      requireUserVerification: true,
    };
  }

  /** Runs checks of the package, which does no I/O in them. @throws PasskeyRefused for all of its errors */
  private async checked<T>(work: (package_: WebAuthnPackage) => Promise<T>): Promise<T> {
    const package_ = await webAuthn();
    try {
      return await work(package_);
    } catch (error) {
      throw this.refusal(reasonOf(error).slice(0, MAX_REASON));
    }
  }

  /** @throws PasskeyRefused if it is not JSON of the shape that all responses share */
  private parsed(text: string): AnyResponse {
    const value = jsonIn(text) as Partial<AnyResponse> | null | undefined;
    if (typeof value?.id === 'string' && typeof value.response?.clientDataJSON === 'string')
      return value as AnyResponse;
    throw this.refusal('it is not a response of WebAuthn');
  }

  private refusal(reason: string): PasskeyRefused {
    this.logger.warn(`Passkey not accepted: ${reason}`);
    return new PasskeyRefused();
  }

  /** The host of PUBLIC_URL, else the requested one. @throws PasskeyRefused if the request has none */
  private relyingPartyId({ host }: Visit): string {
    const site = this.config.publicUrl ?? `http://${host}`;
    if (!URL.canParse(site)) throw this.refusal('the request has no valid host');
    return new URL(site).hostname;
  }

  /** Browsers only use passkeys over TLS, except on localhost. */
  private origins({ host }: Visit): string[] {
    const { publicUrl } = this.config;
    return publicUrl === undefined ? [`https://${host}`, `http://${host}`] : [new URL(publicUrl).origin];
  }
}

const MAX_REASON = 300;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64url'));

const descriptorOf = ({ credentialId, transports }: PasskeyCredential) => ({
  id: credentialId.toString('base64url'),
  transports: [...transports],
});

/** Without an account, the response must name it; with one, it may. */
function isOfOwner({ accountId }: PasskeyCredential, use: ChallengeUse, userHandle: unknown): boolean {
  const isNamed = userHandle === Buffer.from(accountId).toString('base64url');
  return use.accountId === undefined ? isNamed : use.accountId === accountId && (isNamed || !userHandle);
}

/**
 * No attestation was asked for, so browsers send none, or one that the passkey signed itself. For others, the package
 * would fetch revocation lists from addresses in their certificates.
 * @throws Error
 */
function refuseCertificates(attestation: Helpers.AttestationObject): void {
  const format = attestation.get('fmt');
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw new Error('it has an attestation that was not asked for');
}

function challengeIn(clientData: string): string | undefined {
  const data = jsonIn(Buffer.from(clientData, 'base64url').toString()) as { readonly challenge?: unknown } | null;
  return typeof data?.challenge === 'string' ? data.challenge : undefined;
}

/** Undefined if it is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
