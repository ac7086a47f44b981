import type { Config } from '../../platform/config/index.js';

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every page: same-origin resources only, no framing. */
export const securityHeaders = ({ publicUrl }: Config): Readonly<Record<string, string>> => ({
  'content-security-policy': POLICY,
  // Sends the referrer to this origin only: form checks need it.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  ...(publicUrl?.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
});
