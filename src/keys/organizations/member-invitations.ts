import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import {
  AccountMails,
  INVITATION_DAYS,
  InvalidAccount,
  normalizeEmail,
  type OpenedLink,
  Throttle,
  VerificationMailer,
  Verifications,
  type Visitor,
} from '../../auth/index.js';
import { AppError, Clock, newId } from '../../platform/shared/index.js';
import { AlreadyMember, MemberWriter } from './member-writer.js';
import type { AssignableRole } from './members.service.js';
import { type ActingMember, type OrganizationChange, OrganizationChanges } from './organization-changes.js';

const DAY_MS = 24 * 60 * 60_000;

export interface NewInvitation {
  readonly email: string;
  readonly role: AssignableRole;
  /** Undefined: none. */
  readonly teamId: string | undefined;
}

/** An invitation that was not accepted yet. */
export interface MemberInvitation {
  readonly id: string;
  readonly organizationId: string;
  readonly organization: string;
  readonly email: string;
  readonly role: AssignableRole;
  readonly teamId: string | undefined;
  readonly team: string | undefined;
  /** Name or email address; empty: an administrator. */
  readonly inviter: string;
  readonly sentAt: Date;
  readonly expiresAt: Date;
  readonly isExpired: boolean;
}

type InvitationRow = Omit<MemberInvitation, 'team' | 'teamId'> & Readonly<Record<'team' | 'teamId', string | null>>;

/** Who is invited, by their verified address. */
type Invitee = Pick<Visitor, 'accountId' | 'email' | 'verified'>;

/** It was accepted, withdrawn or expired, or is for another address. */
export class InvitationGone extends AppError {
  constructor() {
    super('not_found', 'This invitation was already used or withdrawn, has expired, or is for another email address.');
  }
}

const SELECT = (where: string): string => `
  SELECT i.id, i.organization_id AS "organizationId", o.name AS organization, i.email, i.role, i.team_id AS "teamId",
         t.name AS team,
         coalesce(nullif(b.name, ''), b.email, '') AS inviter, coalesce(v.sent_at, i.created_at) AS "sentAt",
         i.expires_at AS "expiresAt", i.expires_at <= $2 AS "isExpired"
    FROM member_invitations i JOIN accounts o ON o.id = i.organization_id AND o.state = 'enabled'
    LEFT JOIN teams t ON t.id = i.team_id LEFT JOIN accounts b ON b.id = i.invited_by AND b.state <> 'deleted'
    LEFT JOIN verifications v ON v.purpose = 'join' AND v.subject = i.id
   WHERE ${where}`;
const OF_ORGANIZATION = SELECT('i.organization_id = $1 ORDER BY i.id DESC');
const OF_ADDRESS = SELECT('i.email = $1 AND i.expires_at > $2 ORDER BY i.id DESC');
const BY_ID = SELECT('i.id = $1');

/** Inviting again replaces role and team. */
const SAVE = `
  INSERT INTO member_invitations (id, organization_id, email, role, team_id, invited_by, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT ON CONSTRAINT member_invitation_is_unique DO UPDATE
     SET role = excluded.role, team_id = excluded.team_id, invited_by = excluded.invited_by, expires_at = excluded.expires_at
  RETURNING id`;
const RENEW = 'UPDATE member_invitations SET expires_at = $2 WHERE id = $1';
const IS_MEMBER = `
  SELECT 1 FROM members m JOIN accounts a ON a.id = m.account_id
   WHERE m.organization_id = $1 AND a.email = $2 AND m.state = 'active'`;

/** Mails the links of invitations, with limits per organization, address and network. */
@Injectable()
export class InvitationMailer {
  constructor(
    private readonly throttle: Throttle,
    private readonly proofs: VerificationMailer,
    private readonly verifications: Verifications,
    private readonly mails: AccountMails,
  ) {}

  /** Counts a requested mail. @throws TooManyAttempts */
  async spend(organizationId: string, email: string, ip: string): Promise<void> {
    await this.throttle.spend('invitation-of-organization', organizationId);
    await this.proofs.spend(email, ip);
  }

  /** Undefined if the token is unknown. */
  opened(token: string): Promise<OpenedLink | undefined> {
    return this.verifications.byToken(token);
  }

  /** The link replaces earlier ones. @throws ResendTooSoon */
  async send({ id, email, organization, inviter }: MemberInvitation): Promise<void> {
    const proof = await this.verifications.issue({ purpose: 'join', subject: id, email });
    const from = inviter === '' ? 'An administrator' : inviter;
    this.mails.sendJoinInvitation(email, { organization, inviter: from }, proof);
  }
}

/**
 * Invitations to organizations by mail. The link is bound to the address: it is accepted by the account that has this
 * address and has verified it.
 */
@Injectable()
export class MemberInvitations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: OrganizationChanges,
    private readonly mailer: InvitationMailer,
    private readonly members: MemberWriter,
    private readonly clock: Clock,
  ) {}

  /**
   * Mails an invitation. It replaces an earlier one for the same address.
   * @param ip client address
   * @returns the invited address
   * @throws InvalidAccount, AlreadyMember, TeamNotFound, NotPermitted, TooManyAttempts, ResendTooSoon
   */
  async invite(by: ActingMember, { email: typed, role, teamId }: NewInvitation, ip: string): Promise<string> {
    const email = normalizeEmail(typed);
    if (email === undefined) throw new InvalidAccount('email', 'Enter an address such as name@example.com.');
    await this.mailer.spend(by.id, email, ip);
    const id = await this.changes.run(by, 'manage organization', async (change) => {
      await this.check(email, teamId, change);
      const now = this.clock.date();
      const values = [newId('minv', now.getTime()), by.id, email, role, teamId ?? null, change.actor?.accountId ?? ''];
      const [saved] = await change.manager.query<{ id: string }[]>(SAVE, [...values, now, this.expiry()]);
      if (saved === undefined) throw new TypeError('Failed to store an invitation.');
      await this.record(saved.id, email, 'invited', change);
      return saved.id;
    });
    await this.mailer.send(await this.find(id));
    return email;
  }

  /** Newest first, including expired ones. */
  async list(organizationId: string): Promise<readonly MemberInvitation[]> {
    return this.read(OF_ORGANIZATION, organizationId);
  }

  /** Those that a user can accept, newest first. */
  async waitingFor({ email, verified }: Pick<Invitee, 'email' | 'verified'>): Promise<readonly MemberInvitation[]> {
    return verified ? this.read(OF_ADDRESS, email) : [];
  }

  /** The invitation of a mailed link, with its state. @throws InvitationGone */
  async open(token: string): Promise<MemberInvitation> {
    const link = await this.mailer.opened(token);
    if (!isOpen(link)) throw new InvitationGone();
    return this.find(link.verification.subject);
  }

  /** Mails a new link, for another 7 days. @throws InvitationGone, NotPermitted, TooManyAttempts, ResendTooSoon */
  async sendAgain(by: ActingMember, id: string, ip: string): Promise<void> {
    const { email } = await this.find(id, by.id);
    await this.mailer.spend(by.id, email, ip);
    await this.changes.run(by, 'manage organization', async (change) => {
      await this.find(id, by.id, change.manager);
      await change.manager.query(RENEW, [id, this.expiry()]);
      await this.record(id, email, 'invited', change);
    });
    await this.mailer.send(await this.find(id));
  }

  /** The link no longer works. @returns the invited address @throws InvitationGone, NotPermitted */
  withdraw(by: ActingMember, id: string): Promise<string> {
    return this.changes.run(by, 'manage organization', async (change) => {
      const invitation = await this.find(id, by.id, change.manager);
      const { email } = invitation;
      await this.end(invitation, change.manager);
      await this.record(id, email, 'withdrew the invitation of', change);
      return email;
    });
  }

  /** The invitee becomes a member. @returns the invitation @throws InvitationGone */
  async accept(invitee: Invitee, id: string): Promise<MemberInvitation> {
    const invitation = await this.own(invitee, id);
    await this.dataSource.transaction(async (manager) => {
      const organization = await this.changes.lock(invitation.organizationId, manager);
      // What was read before the lock may be gone or changed.
      const { role, teamId } = await this.own(invitee, id, manager);
      const place = { organizationId: organization.id, accountId: invitee.accountId };
      const member = await this.members.join({ ...place, role, teamId }, manager);
      await this.end(invitation, manager);
      if (member === undefined) return;
      const object = { kind: 'member', id: member, name: invitee.email } as const;
      await this.changes.record(object, { organization, manager }, 'joined', [`role ${role}`]);
    });
    return invitation;
  }

  /** @returns the invitation @throws InvitationGone */
  async decline(invitee: Invitee, id: string): Promise<MemberInvitation> {
    const invitation = await this.own(invitee, id);
    await this.dataSource.transaction((manager) => this.end(invitation, manager));
    return invitation;
  }

  /** @throws AlreadyMember, TeamNotFound */
  private async check(
    email: string,
    teamId: string | undefined,
    { organization, manager }: OrganizationChange,
  ): Promise<void> {
    if ((await manager.query<unknown[]>(IS_MEMBER, [organization.id, email])).length > 0)
      throw new AlreadyMember(email);
    await this.members.checkTeam(organization.id, teamId, manager);
  }

  /** @throws InvitationGone */
  private async own({ email, verified }: Invitee, id: string, manager?: EntityManager): Promise<MemberInvitation> {
    const invitation = await this.find(id, undefined, manager);
    if (!verified || invitation.email !== email || invitation.isExpired) throw new InvitationGone();
    return invitation;
  }

  /** @param organizationId that it must belong to, if given @throws InvitationGone */
  private async find(id: string, organizationId?: string, manager?: EntityManager): Promise<MemberInvitation> {
    const [invitation] = await this.read(BY_ID, id, manager);
    if (invitation === undefined) throw new InvitationGone();
    if (organizationId !== undefined && invitation.organizationId !== organizationId) throw new InvitationGone();
    return invitation;
  }

  private async read(sql: string, by: string, manager?: EntityManager): Promise<readonly MemberInvitation[]> {
    const source = manager ?? this.dataSource.manager;
    const rows = await source.query<InvitationRow[]>(sql, [by, this.clock.date()]);
    return rows.map((row) => ({ ...row, teamId: row.teamId ?? undefined, team: row.team ?? undefined }));
  }

  private end({ organizationId, email }: MemberInvitation, manager: EntityManager): Promise<void> {
    return this.members.withdrawInvitations(organizationId, email, manager);
  }

  private expiry(): Date {
    return new Date(this.clock.now() + INVITATION_DAYS * DAY_MS);
  }

  private record(id: string, name: string, action: string, change: OrganizationChange): Promise<void> {
    return this.changes.record({ kind: 'invitation', id, name }, change, action);
  }
}

const isOpen = (link: OpenedLink | undefined): link is OpenedLink =>
  link !== undefined && link.verification.purpose === 'join' && link.state === 'open';
