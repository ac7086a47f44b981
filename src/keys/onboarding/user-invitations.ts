import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AccountGone, AccountMails, Verifications } from '../../auth/index.js';
import { AuditLog } from '../../platform/audit/index.js';
import { AppError, reasonOf } from '../../platform/shared/index.js';
import { AccountDeletion } from './onboarding.service.js';

/** An account that an administrator created. */
interface InvitedAccount {
  readonly id: string;
  readonly email: string;
}

/** An invitation that could not be sent. */
interface FailedInvitation {
  readonly email: string;
  readonly reason: string;
}

/** An invitation whose recipient has not chosen a password. */
export interface PendingInvitation extends InvitedAccount {
  readonly name: string;
  readonly group: string;
  readonly sentAt: Date;
  readonly expiresAt: Date;
  readonly expired: boolean;
  /** Whether the account has API keys, which may be in use. */
  readonly hasKeys: boolean;
}

/** Position in the list, newest account first. */
interface InvitationPosition {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** It was accepted or withdrawn meanwhile. */
export class InvitationSettled extends AppError {
  constructor() {
    super('conflict', 'This invitation was already accepted or withdrawn.');
  }
}

/** Withdrawing it would delete keys that may be in use. */
export class InvitedAccountInUse extends AppError {
  constructor() {
    super('conflict', 'This user already has API keys. Delete the user instead.');
  }
}

const PENDING = (filter: string): string => `
  SELECT a.id, a.email, a.name, coalesce(a.group_name, 'default') AS "group", v.sent_at AS "sentAt",
         v.expires_at AS "expiresAt", v.expires_at <= now() AS expired,
         EXISTS (SELECT FROM api_keys k WHERE k.account_id = a.id AND k.state <> 'deleted') AS "hasKeys"
    FROM verifications v JOIN accounts a ON a.id = v.subject
   WHERE v.purpose = 'invite' AND v.used_at IS NULL AND a.state <> 'deleted' ${filter}`;
const ONE = PENDING('AND a.id = $1');
const OLDER = PENDING('AND ($1::text IS NULL OR a.id < $1) ORDER BY a.id DESC LIMIT $2');
const NEWER = PENDING('AND a.id > $1 ORDER BY a.id LIMIT $2');

/** Invites users by email: the link leads to a page for choosing a password, which also verifies the address. */
@Injectable()
export class UserInvitations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly verifications: Verifications,
    private readonly mails: AccountMails,
    private readonly deletion: AccountDeletion,
    private readonly audit: AuditLog,
  ) {}

  /** Emails each account a link, one after the other; earlier links no longer work. @throws ResendTooSoon */
  async send(accounts: readonly InvitedAccount[]): Promise<readonly FailedInvitation[]> {
    const failed: FailedInvitation[] = [];
    for (const account of accounts) {
      const { id: subject, email } = account;
      const proof = await this.verifications.issue({ purpose: 'invite', subject, email });
      await this.record('invited', account, this.dataSource.manager);
      await this.mails
        .deliverProof('invite', email, proof)
        .catch((error: unknown) => void failed.push({ email, reason: reasonOf(error) }));
    }
    return failed;
  }

  /** Newest first; of those newer than the position, the ones closest to it. Expired ones are kept for 30 days. */
  async page({ before, after }: InvitationPosition, size: number): Promise<readonly PendingInvitation[]> {
    const values = [after ?? before ?? null, size];
    const found = await this.dataSource.query<PendingInvitation[]>(after === undefined ? OLDER : NEWER, values);
    return found.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** @returns why it could not be sent; undefined: it was @throws InvitationSettled, ResendTooSoon */
  async sendAgain(id: string): Promise<FailedInvitation | undefined> {
    const [failed] = await this.send([await this.find(id)]);
    return failed;
  }

  /**
   * Deletes the account, which frees its email address; the link no longer works.
   * @returns the invitation
   * @throws InvitationSettled, InvitedAccountInUse
   */
  async withdraw(id: string): Promise<PendingInvitation> {
    const invitation = await this.find(id);
    const check = async (manager: EntityManager): Promise<void> => {
      const { hasKeys } = await this.find(id, manager);
      if (hasKeys) throw new InvitedAccountInUse();
      await this.record('withdrew the invitation of', invitation, manager);
    };
    await this.deletion.run(id, 'Invitation withdrawn', check).catch((error: unknown): never => {
      throw error instanceof AccountGone ? new InvitationSettled() : error;
    });
    return invitation;
  }

  private async find(id: string, manager = this.dataSource.manager): Promise<PendingInvitation> {
    const [found] = await manager.query<PendingInvitation[]>(ONE, [id]);
    if (found === undefined) throw new InvitationSettled();
    return found;
  }

  private record(action: string, { id, email }: InvitedAccount, manager: EntityManager): Promise<void> {
    return this.audit.record({ action, object: { kind: 'account', id, name: email } }, manager);
  }
}
