import { Injectable } from '@nestjs/common';
import { CatalogService } from '../../../catalog/index.js';
import { ChannelDirectory } from '../../../catalog/channels/index.js';
import { Notifications } from '../../../platform/database/index.js';
import { CallCounts } from '../../../platform/limits/index.js';
import { Mailer } from '../../../platform/mail/index.js';
import type { ChannelCooldown, Conditions } from './notices.js';
import type { OverviewReading } from './overview-reader.js';

/** Combines database facts with problems known to this process. */
@Injectable()
export class Troubles {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly counts: CallCounts,
    private readonly notifications: Notifications,
    private readonly mailer: Mailer,
  ) {}

  with(
    reading: Pick<OverviewReading, 'troubles' | 'unsettled' | 'paymentProblems' | 'corrections'>,
    rests: readonly ChannelCooldown[],
  ): Conditions {
    return {
      rests,
      troubles: reading.troubles,
      unsettled: reading.unsettled,
      paymentProblems: reading.paymentProblems,
      corrections: reading.corrections,
      hasChannel: this.channels.hasStored,
      unserved: this.unserved(),
      countsAway: this.counts.away,
      hearsOthers: this.notifications.connected,
      lostMails: this.mailer.lost,
    };
  }

  /** Enabled models with groups that no channel serves in any of these groups. */
  private unserved(): readonly string[] {
    return [...this.catalog.current().models.values()]
      .filter(({ enabled, groups }) => enabled && groups.length > 0)
      .filter(({ name, groups }) => groups.every((group) => this.channels.serving(group, name).length === 0))
      .map(({ name }) => name);
  }
}
