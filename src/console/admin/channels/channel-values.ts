import {
  type ChannelRecord,
  DEFAULT_TIMEOUTS,
  type EditedChannel,
  type EditedCredential,
  Numeral,
} from '../../../catalog/channels/index.js';
import { countOf, type FormBody } from '../../web/index.js';
import { count } from '../../../platform/format/index.js';
import { costsIn, costValues } from './channel-costs.js';
import { type ChannelForm, pairsIn } from './channel-form.js';
import { flagsFrom } from './flag-controls.js';
import { modelsIn } from './form-rows.js';

type Texts = Readonly<Record<string, string>>;

/** Initial form values of a new channel. */
export const newValues = (protocol: string): FormBody => ({
  protocol,
  auth: 'usual',
  groups: ['default'],
  tier: '1',
  weight: '100',
  connectMs: count(DEFAULT_TIMEOUTS.connectMs),
  firstEventMs: count(DEFAULT_TIMEOUTS.firstEventMs),
  idleMs: count(DEFAULT_TIMEOUTS.idleMs),
  totalMs: count(DEFAULT_TIMEOUTS.totalMs),
  held: [''],
  public: [''],
  upstream: [''],
});

/** Form values of a stored channel. */
export function valuesOf(channel: ChannelRecord): FormBody {
  const { auth, timeouts } = channel;
  const rows = Object.entries(channel.models).flatMap(([name, upstream]) =>
    upstream.map((one) => [name, one] as const),
  );
  return {
    name: channel.name,
    protocol: channel.protocol,
    baseUrl: channel.baseUrl,
    auth: auth === 'bearer' || auth === 'none' ? auth : 'header',
    authHeader: auth === 'bearer' || auth === 'none' ? '' : auth,
    query: linesOf(channel.query, '='),
    headers: linesOf(channel.headers, ': '),
    held: channel.credentials.map(({ reference }) => reference),
    public: rows.map(([name]) => name),
    upstream: rows.map(([, upstream]) => upstream),
    ...costValues(channel),
    groups: channel.groups,
    tier: String(channel.tier),
    weight: count(channel.weight),
    maxConcurrency: channel.maxConcurrency === null ? '' : count(channel.maxConcurrency),
    connectMs: count(timeouts.connectMs),
    firstEventMs: count(timeouts.firstEventMs),
    idleMs: count(timeouts.idleMs),
    totalMs: count(timeouts.totalMs),
    revision: channel.revision,
  };
}

/**
 * The channel that the form describes. Values that the form does not show are kept.
 * @param stored the channel to change or duplicate
 * @param body including the flags
 */
export function editedFrom(form: ChannelForm, body: FormBody, stored?: ChannelRecord, id?: string): EditedChannel {
  const models = modelsIn(form);
  return {
    id,
    revision: id === undefined ? undefined : form.revision,
    credentials: credentialsIn(form),
    entry: {
      ...stored?.entry,
      name: form.name.trim(),
      protocol: form.protocol,
      base_url: form.baseUrl.trim(),
      auth: form.auth === 'usual' ? undefined : form.auth === 'header' ? form.authHeader.trim() : form.auth,
      query: pairsIn(form.query, '='),
      headers: pairsIn(form.headers, ':'),
      models,
      costs: costsIn(form, Object.keys(models), stored),
      groups: form.groups,
      tier: numeral(form.tier),
      weight: numeral(form.weight),
      max_concurrency: numeral(form.maxConcurrency),
      timeouts: {
        connect_ms: numeral(form.connectMs),
        first_event_ms: numeral(form.firstEventMs),
        idle_ms: numeral(form.idleMs),
        total_ms: numeral(form.totalMs),
      },
      flags: flagsFrom(stored?.flags ?? {}, body),
    },
  };
}

const credentialsIn = ({ held, secret }: ChannelForm): readonly EditedCredential[] =>
  Array.from({ length: Math.max(held.length, secret.length) }, (_, index) => {
    const text = secret[index]?.trim() ?? '';
    const kept = held[index] ?? '';
    return text === '' ? { kept } : { text };
  }).filter((credential) => 'text' in credential || credential.kept !== '');

/** Undefined: the default. */
function numeral(text: string): Numeral | undefined {
  const whole = countOf(text);
  return whole === undefined ? undefined : new Numeral(String(whole));
}

const linesOf = (pairs: Texts, separator: string): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}${separator}${value}`)
    .join('\n');

/** Whether a check sends a stored secret, or one of the environment, to a new destination. */
export function sendsSecretsElsewhere({ credentials, entry }: EditedChannel, stored?: ChannelRecord): boolean {
  if (credentials.some((credential) => 'text' in credential && credential.text.startsWith('env:'))) return true;
  const goesElsewhere = ['protocol', 'base_url', 'auth', 'query', 'headers'].some(
    (field) => JSON.stringify(entry[field] ?? {}) !== JSON.stringify(stored?.entry[field] ?? {}),
  );
  return goesElsewhere && credentials.some((credential) => 'kept' in credential);
}
