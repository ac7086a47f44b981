import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Calls of a key from one address. */
export interface AddressUse {
  readonly keyId: string;
  readonly address: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** How far calls have been looked at. */
interface ScannedKey {
  /** One by one. */
  readonly until: Date;
  /** As sums, from where and to where these are new. */
  readonly sumsFrom: string;
  readonly sumsTo: string;
}

const LOOKED = `
  SELECT w.watched_until AS until, w.learnt_until::text AS "sumsFrom", s.summed_until::text AS "sumsTo"
    FROM key_watch w CROSS JOIN key_use_sums s`;

/**
 * What runs, what has finished since a time, and what was summed up since: a call that is in none of these is in one of
 * them when one looks again. What was refused before an upstream was asked is no use: with it nobody has come by anything.
 */
const USES = `
  SELECT key_id AS "keyId", address, min(first_at) AS "firstAt", max(last_at) AS "lastAt"
    FROM (SELECT key_id, ip AS address, created_at AS first_at, created_at AS last_at FROM open_calls
           UNION ALL
          SELECT key_id, ip, created_at, created_at FROM calls WHERE created_at >= $1::timestamptz AND status <> 'refused'
           UNION ALL
          SELECT key_id, address, first_at, last_at FROM key_uses
           WHERE hour >= $2::timestamptz AND hour < $3::timestamptz AND calls > refused AND address <> 'others') u
   WHERE address <> '' GROUP BY 1, 2`;

/** Written once an hour of a network's use at most. */
const REFRESH = `
  UPDATE key_networks n SET last_at = greatest(n.last_at, s.last_at), first_at = least(n.first_at, s.first_at)
    FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[]) AS s (key_id, network, first_at, last_at)
   WHERE n.key_id = s.key_id AND n.network = s.network
     AND (s.last_at > n.last_at + interval '1 hour' OR s.first_at < n.first_at)`;

const UNKNOWN = `
  SELECT s.place::int AS place FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS s (key_id, network, place)
   WHERE NOT EXISTS (SELECT FROM key_networks n WHERE n.key_id = s.key_id AND n.network = s.network)`;

const KNOWN = `
  SELECT k.id, k.account_id AS "accountId", k.state = 'enabled' AND k.networks IS NULL AS watched,
         count(n.network)::int AS networks, min(n.first_at) AS since
    FROM api_keys k LEFT JOIN key_networks n ON n.key_id = k.id WHERE k.id = ANY ($1) GROUP BY k.id`;

const ADD = `
  INSERT INTO key_networks (key_id, network, first_at, last_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`;

/** The networks that keys are used from. */
@Injectable()
export class KeyNetworks {
  /** Of one moment, to be handed on to the two that follow. */
  async looked(manager: EntityManager): Promise<ScannedKey> {
    const [looked] = await manager.query<ScannedKey[]>(LOOKED);
    if (looked === undefined) throw new Error('The tables key_watch and key_use_sums must have one row each.');
    return looked;
  }

  /** From where keys were used since then. @param since of calls that are looked at one by one */
  uses(since: Date, { sumsFrom, sumsTo }: ScannedKey, manager: EntityManager): Promise<readonly AddressUse[]> {
    return manager.query<AddressUse[]>(USES, [since.toISOString(), sumsFrom, sumsTo]);
  }

  async lookedUntil(time: Date, { sumsTo }: ScannedKey, manager: EntityManager): Promise<void> {
    await manager.query('UPDATE key_watch SET watched_until = $1, learnt_until = $2', [time.toISOString(), sumsTo]);
  }

  /** Notes when networks that are known were used. Gives the uses of all others. */
  async refresh(uses: readonly NetworkUse[], manager: EntityManager): Promise<readonly NetworkUse[]> {
    const [keys, networks] = [uses.map(({ keyId }) => keyId), uses.map(({ network }) => network)];
    const times = (name: 'firstAt' | 'lastAt') => uses.map((use) => use[name].toISOString());
    await manager.query(REFRESH, [keys, networks, times('firstAt'), times('lastAt')]);
    const rows = await manager.query<{ place: number }[]>(UNKNOWN, [keys, networks]);
    return rows.flatMap(({ place }) => uses[place - 1] ?? []);
  }

  /** By the ids of the keys. */
  async known(keyIds: readonly string[], manager: EntityManager): Promise<ReadonlyMap<string, KnownKey>> {
    type Row = Omit<KnownKey, 'since'> & { readonly id: string; readonly since: Date | null };
    const rows = await manager.query<Row[]>(KNOWN, [keyIds]);
    return new Map(rows.map(({ id, since, ...key }) => [id, { ...key, since: since ?? undefined }]));
  }

  async add({ keyId, network, firstAt, lastAt }: NetworkUse, manager: EntityManager): Promise<void> {
    await manager.query(ADD, [keyId, network, firstAt.toISOString(), lastAt.toISOString()]);
  }

  async forgetOld(manager: EntityManager): Promise<void> {
    await manager.query(`DELETE FROM key_networks WHERE last_at < now() - interval '${REMEMBERED_DAYS} days'`);
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** So long after its first use a key is used from wherever its owner sets it up. */
export const LEARNING_DAYS = 3;
/** A key of so many networks travels, or serves many people: another one says nothing, and is not remembered. */
export const MAX_NETWORKS = 20;
/** A network is forgotten when the key has not been used from it for so long. */
const REMEMBERED_DAYS = 90;
/** What is found later, as after an upgrade, is learnt without a word. */
const NOTICE_INTERVAL_MS = DAY_MS;

/** Calls of a key from one network. */
export interface NetworkUse {
  readonly keyId: string;
  readonly network: string;
  /** That the first of the calls came from. */
  readonly address: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** What is known of a key before these calls. */
export interface KnownKey {
  readonly accountId: string;
  /** It is enabled, and may be used from anywhere: a key that names its networks is refused from all others. */
  readonly watched: boolean;
  readonly networks: number;
  /** When it was first used from the networks that are remembered; undefined: never. */
  readonly since: Date | undefined;
}

interface Learnt {
  readonly use: NetworkUse;
  /** Its owner is told. */
  readonly told: boolean;
}

/**
 * Which of the networks that a key was not used from before are remembered, and which of them its owner is told of: none
 * while it is learnt where the key lives, which begins anew when all that was known is forgotten.
 */
export function newNetworks(uses: readonly NetworkUse[], known: KnownKey, now: Date): readonly Learnt[] {
  const ordered = uses.toSorted((one, other) => one.firstAt.getTime() - other.firstAt.getTime());
  const begin = Math.min(known.since?.getTime() ?? Infinity, ordered[0]?.firstAt.getTime() ?? Infinity);
  return ordered.slice(0, Math.max(0, MAX_NETWORKS - known.networks)).map((use) => ({
    use,
    told:
      known.watched &&
      use.firstAt.getTime() - begin >= LEARNING_DAYS * DAY_MS &&
      now.getTime() - use.firstAt.getTime() <= NOTICE_INTERVAL_MS,
  }));
}
