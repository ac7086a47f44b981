/**
 * Variables with secrets of this program or of its connections. They are rejected wherever a variable can be named, so
 * that they are never sent to an upstream.
 */
export const OWN_SECRETS: ReadonlySet<string> = new Set([
  'SECRET_KEY',
  'DATABASE_URL',
  'PGPASSWORD', // used when DATABASE_URL has no password
  'REDIS_URL',
  'SMTP_URL',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'HTTPS_PROXY',
  'https_proxy',
]);
