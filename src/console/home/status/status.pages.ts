import { Injectable } from '@nestjs/common';
import { Offer } from '../../../catalog/index.js';
import { DatabaseHealth } from '../../../platform/database/index.js';
import { RunState } from '../../../relay/index.js';
import { Settings } from '../../../platform/settings/index.js';
import { Detour, Page } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { ResponseCounting } from './counted-responses.js';
import { statusView } from './status.view.js';

/** How the service and its models do, from the calls of all users. */
@Injectable()
export class StatusPages {
  constructor(
    private readonly settings: Settings,
    private readonly offer: Offer,
    private readonly counting: ResponseCounting,
    private readonly database: DatabaseHealth,
    private readonly state: RunState,
  ) {}

  /** @throws Detour where it is not public, and whoever visits is not signed in */
  async show(visitor: Visitor | undefined): Promise<Page> {
    if (!this.settings.current().site.statusIsPublic) {
      if (visitor === undefined) throw new Detour('/sign-in?next=%2Fstatus');
      if (!visitor.verified) throw new Detour('/verify');
    }
    const [counted, answers] = await Promise.all([this.counting.current(), this.database.ping()]);
    const data = statusView({
      models: this.modelsOf(visitor),
      counted,
      takesCalls: answers && !this.state.draining,
      timeZone: visitor?.timeZone ?? 'UTC',
    });
    return new Page('home/status', { title: 'Status', data });
  }

  /** All that the visitor could call, in one group or another. */
  private modelsOf(visitor: Visitor | undefined): readonly string[] {
    const names = this.offer
      .groupsFor(visitor)
      .flatMap((group) => this.offer.modelsOf(group.name).map(({ model }) => model.name));
    return [...new Set(names)].toSorted((one, other) => one.localeCompare(other));
  }
}
