/**
 * Variables that hold secrets of this program itself, or of what it connects to. Whatever lets somebody name a variable
 * refuses these: an upstream that they are sent to would hold the keys of everything here.
 */
export const OWN_SECRETS: ReadonlySet<string> = new Set([
  'SECRET_KEY',
  'DATABASE_URL',
  'PGPASSWORD', // of a DATABASE_URL without one
  'REDIS_URL',
  'SMTP_URL',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'HTTPS_PROXY',
  'https_proxy',
]);
