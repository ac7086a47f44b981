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

/** What every page tells the browser: only what comes from here is loaded or run, and nobody frames it. */
export const securityHeaders = ({ publicUrl }: Config): Readonly<Record<string, string>> => ({
  'content-security-policy': POLICY,
  // Forms tell where they were sent from, to us and to nobody else.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  ...(publicUrl?.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
});
