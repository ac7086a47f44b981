import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hash } from 'node:crypto';
import { Clock, networkOf } from '../../platform/shared/index.js';
import { Throttle } from '../throttle/throttle.js';
import type { Visit } from '../visit.js';

/** What a challenge is for. */
export interface ChallengeUse {
  readonly purpose: 'registration' | 'sign-in' | 'second factor';
  /** Undefined for sign-ins without a password: the passkey names the account. */
  readonly accountId?: string;
}

const INSERT = `
  INSERT INTO passkey_challenges (challenge_hash, visit_hash, purpose, account_id, expires_at)
  VALUES ($1, $2, $3, $4, $5)`;
const TAKE = `
  DELETE FROM passkey_challenges WHERE challenge_hash = $1 AND visit_hash = $2 AND purpose = $3
     AND account_id IS NOT DISTINCT FROM $4 AND expires_at > $5`;
const CLEAR = 'DELETE FROM passkey_challenges WHERE expires_at <= $1';

/** Challenges that browsers are to sign. Each is bound to browser, purpose and account, and is used once. */
@Injectable()
export class PasskeyChallenges {
  constructor(
    private readonly dataSource: DataSource,
    private readonly throttle: Throttle,
    private readonly clock: Clock,
  ) {}

  /** @throws TooManyAttempts */
  async begin(challenge: string, use: ChallengeUse, visit: Visit, lifetimeMs: number): Promise<void> {
    await this.throttle.spend('passkey-from-network', networkOf(visit.ip));
    const now = this.clock.now();
    await this.dataSource.query(CLEAR, [new Date(now)]);
    await this.dataSource.query(INSERT, [...keyOf(challenge, use, visit), new Date(now + lifetimeMs)]);
  }

  /** False if it is unknown, used, expired, or was made for another browser or use. */
  async take(challenge: string, use: ChallengeUse, visit: Visit): Promise<boolean> {
    const values = [...keyOf(challenge, use, visit), this.clock.date()];
    const [, count] = await this.dataSource.query<[unknown[], number]>(TAKE, values);
    return count === 1;
  }

  /** A completed ceremony does not count as an attempt. */
  async succeed({ ip }: Visit): Promise<void> {
    await this.throttle.giveBack('passkey-from-network', networkOf(ip));
  }
}

/** The form token of a visit is known to its browser only. */
const keyOf = (challenge: string, { purpose, accountId }: ChallengeUse, { csrf }: Visit) => [
  hashOf(challenge),
  hashOf(csrf),
  purpose,
  accountId ?? null,
];

const hashOf = (text: string): Buffer => hash('sha256', text, 'buffer');
