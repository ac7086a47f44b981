import type { ServerMetadata } from 'openid-client';

/**
 * GitHub and GitHub Enterprise Server, which speak OAuth 2.0 without ID tokens: their API describes the user of the
 * access token. https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */

/** Reads the profile and all email addresses. */
export const GITHUB_SCOPE = 'read:user user:email';

const HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

/** @param address `https://github.com`, or that of a GitHub Enterprise Server */
export function githubMetadata({ origin }: URL): ServerMetadata {
  const issuer = `${origin}/login/oauth`;
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/access_token`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  };
}

/** The base URL of the REST API, without a trailing slash. @param address as of `githubMetadata` */
export function githubApi(address: string): string {
  const { protocol, host, origin } = new URL(address);
  const isCloud = host === 'github.com' || host.endsWith('.ghe.com');
  return isCloud ? `${protocol}//api.${host}` : `${origin}/api/v3`;
}

/** A user in the claims of OpenID Connect. */
export interface GithubClaims {
  /** The numeric ID, which stays when a user is renamed; empty if there is none. */
  readonly sub: string;
  /** The primary address; absent if there is none. */
  readonly email?: string;
  readonly email_verified: boolean;
  readonly name: string;
  /** The login, which users can change. */
  readonly preferred_username: string;
}

/** Requests a URL with the user's access token. */
type Get = (url: URL, headers: Headers) => Promise<Response>;

/** @param address as of `githubMetadata` @throws Error for responses other than 2xx */
export async function githubClaims(address: string, get: Get): Promise<GithubClaims> {
  const { id, name, login } = membersOf(await jsonAt(address, '/user', get));
  const emails = await jsonAt(address, '/user/emails?per_page=100', get);
  const primary = (Array.isArray(emails) ? emails : []).map(membersOf).find((one) => one['primary'] === true);
  return {
    sub: Number.isSafeInteger(id) && Number(id) > 0 ? String(id) : '',
    ...(typeof primary?.['email'] === 'string' && { email: primary['email'] }),
    email_verified: primary?.['verified'] === true,
    name: textOf(name) || textOf(login),
    preferred_username: textOf(login),
  };
}

async function jsonAt(address: string, path: string, get: Get): Promise<unknown> {
  const url = new URL(`${githubApi(address)}${path}`);
  const response = await get(url, new Headers(HEADERS));
  if (!response.ok) throw new Error(`${url.pathname} responded with status ${response.status}`);
  return response.json();
}

interface Members {
  readonly [name: string]: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly login?: unknown;
}

const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? { ...value } : {});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
