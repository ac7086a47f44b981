import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Calls of a key from one address. */
export interface AddressUse {
  readonly keyId: string;
  readonly address: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** Scan checkpoint. */
interface WatchCheckpoint {
  /** For individual calls. */
  readonly until: Date;
  /** For rollups: from and to where they are new. */
  readonly rollupsFrom: string;
  readonly rollupsTo: string;
}

const CHECKPOINT = `
  SELECT w.watched_until AS until, w.learnt_until::text AS "rollupsFrom", s.summed_until::text AS "rollupsTo"
    FROM key_watch w CROSS JOIN key_use_sums s`;

/**
 * Running calls, calls that finished since a time, and rollups since then: a call missing here will be in one of them
 * in the next scan. Calls rejected before an upstream was asked do not count: the key gained nothing by them.
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

/** At most one write per network and hour. */
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
  /** A snapshot for the following two methods. */
  async checkpoint(manager: EntityManager): Promise<WatchCheckpoint> {
    const [checkpoint] = await manager.query<WatchCheckpoint[]>(CHECKPOINT);
    if (checkpoint === undefined) throw new Error('The tables key_watch and key_use_sums must have one row each.');
    return checkpoint;
  }

  /** Where keys were used since then. @param since for individual calls */
  uses(
    since: Date,
    { rollupsFrom, rollupsTo }: WatchCheckpoint,
    manager: EntityManager,
  ): Promise<readonly AddressUse[]> {
    return manager.query<AddressUse[]>(USES, [since.toISOString(), rollupsFrom, rollupsTo]);
  }

  async saveCheckpoint(time: Date, { rollupsTo }: WatchCheckpoint, manager: EntityManager): Promise<void> {
    await manager.query('UPDATE key_watch SET watched_until = $1, learnt_until = $2', [time.toISOString(), rollupsTo]);
  }

  /** Updates the last use of known networks. Returns the uses of unknown ones. */
  async refresh(uses: readonly NetworkUse[], manager: EntityManager): Promise<readonly NetworkUse[]> {
    const [keys, networks] = [uses.map(({ keyId }) => keyId), uses.map(({ network }) => network)];
    const times = (name: 'firstAt' | 'lastAt') => uses.map((use) => use[name].toISOString());
    await manager.query(REFRESH, [keys, networks, times('firstAt'), times('lastAt')]);
    const rows = await manager.query<{ place: number }[]>(UNKNOWN, [keys, networks]);
    return rows.flatMap(({ place }) => uses[place - 1] ?? []);
  }

  /** By key ID. */
  async known(keyIds: readonly string[], manager: EntityManager): Promise<ReadonlyMap<string, KnownKey>> {
    type KnownKeyRow = Omit<KnownKey, 'since'> & { readonly id: string; readonly since: Date | null };
    const rows = await manager.query<KnownKeyRow[]>(KNOWN, [keyIds]);
    return new Map(rows.map(({ id, since, ...key }) => [id, { ...key, since: since ?? undefined }]));
  }

  async add({ keyId, network, firstAt, lastAt }: NetworkUse, manager: EntityManager): Promise<void> {
    await manager.query(ADD, [keyId, network, firstAt.toISOString(), lastAt.toISOString()]);
  }

  async deleteOld(manager: EntityManager): Promise<void> {
    await manager.query(`DELETE FROM key_networks WHERE last_at < now() - interval '${RETENTION_DAYS} days'`);
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** During this time after its first use, a key's networks are learned without notices. */
export const LEARNING_DAYS = 3;
/** A key with this many networks travels or is shared: further ones are neither remembered nor reported. */
export const MAX_NETWORKS = 20;
/** A network is forgotten after this long without use. */
const RETENTION_DAYS = 90;
/** Older first uses, as found after an upgrade, are learned without notices. */
const NOTICE_INTERVAL_MS = DAY_MS;

/** Calls of a key from one network. */
export interface NetworkUse {
  readonly keyId: string;
  readonly network: string;
  /** Address of the first call. */
  readonly address: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** A key's history before these calls. */
export interface KnownKey {
  readonly accountId: string;
  /** Enabled and without allowed networks: keys with allowed networks are rejected from all others. */
  readonly watched: boolean;
  readonly networks: number;
  /** First use from the remembered networks; undefined: never. */
  readonly since: Date | undefined;
}

interface NewNetwork {
  readonly use: NetworkUse;
  /** Whether its owner is notified. */
  readonly notified: boolean;
}

/**
 * New networks of a key, and which of them are reported: none during the learning period, which restarts when all
 * networks have been forgotten.
 */
export function newNetworks(uses: readonly NetworkUse[], known: KnownKey, now: Date): readonly NewNetwork[] {
  const ordered = uses.toSorted((one, other) => one.firstAt.getTime() - other.firstAt.getTime());
  const begin = Math.min(known.since?.getTime() ?? Infinity, ordered[0]?.firstAt.getTime() ?? Infinity);
  return ordered.slice(0, Math.max(0, MAX_NETWORKS - known.networks)).map((use) => ({
    use,
    notified:
      known.watched &&
      use.firstAt.getTime() - begin >= LEARNING_DAYS * DAY_MS &&
      now.getTime() - use.firstAt.getTime() <= NOTICE_INTERVAL_MS,
  }));
}
