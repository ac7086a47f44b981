import { Controller, Get, Injectable, Query } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { unitFor } from '../../../usage/index.js';
import { Administrator } from '../../access/index.js';
import { CurrentVisitor, Page } from '../../web/index.js';
import { ChannelsCard } from './channels-card.js';
import { notices } from './notices.js';
import { OverviewReader, Troubles } from './overview-reader.js';
import { DAY, OVERVIEW_RANGES, overviewView } from './overview.view.js';
import { SetupReader } from './setup-steps.js';

/** `/admin`: the overview. */
@Injectable()
export class OverviewPages {
  constructor(
    private readonly reader: OverviewReader,
    private readonly channels: ChannelsCard,
    private readonly troubles: Troubles,
    private readonly setup: SetupReader,
    private readonly clock: Clock,
  ) {}

  /** @param range from the query string */
  async show({ timeZone }: Visitor, range: unknown): Promise<Page> {
    const shown = OVERVIEW_RANGES.find(({ name }) => name === range) ?? DAY;
    const now = this.clock.now();
    // Includes calls that arrive while the page is rendered.
    const span = { from: new Date(now - shown.ms), to: new Date(now + 1000) };
    const scale = { unit: unitFor(span.from, new Date(now)), timeZone };
    const [reading, channels, setup] = await Promise.all([
      this.reader.read(`${shown.name} ${timeZone}`, span, scale),
      this.channels.read(),
      this.setup.steps(),
    ]);
    const reported = notices(this.troubles.with(reading, channels.rests));
    const view = overviewView({ range: shown, scale, reading, notices: reported });
    const data = {
      ...view,
      setup,
      setupDone: setup?.filter(({ done }) => done).length,
      channels: channels.rows,
      channelsNote: channels.note,
    };
    return new Page('admin/overview', { title: 'Overview', data });
  }
}

@Administrator()
@Controller('admin')
export class OverviewController {
  constructor(private readonly pages: OverviewPages) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Query('range') range: unknown): Promise<Page> {
    return this.pages.show(visitor, range);
  }
}
