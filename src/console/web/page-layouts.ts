import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Clock, type Nanos } from '../../platform/shared/index.js';
import type { KnownVisit } from './current-visit.js';
import type { BudgetLeft, Notice, PageLayout } from './rendering/page-layout.js';

/** Content that modules add to the layout of signed-in pages. */
export interface LayoutPart {
  readonly balance?: Nanos;
  /** Of a member who may not see the balance. */
  readonly budget?: BudgetLeft | undefined;
  readonly notices?: readonly Notice[];
}

type Contribution = (visitor: Visitor) => Promise<LayoutPart>;

/** Collects the contributions of modules to the layout. */
@Injectable()
export class LayoutParts {
  private readonly contributions: Contribution[] = [];

  /** Called at module start; the function runs for every page. */
  add(contribution: Contribution): void {
    this.contributions.push(contribution);
  }

  /** Notices are sorted by severity. */
  async of(visitor: Visitor): Promise<LayoutPart> {
    const parts = await Promise.all(this.contributions.map((contribution) => contribution(visitor)));
    const notices = parts.flatMap((part) => part.notices ?? []);
    return {
      ...Object.assign({}, ...parts),
      notices: [...notices.filter(({ tone }) => tone === 'bad'), ...notices.filter(({ tone }) => tone !== 'bad')],
    };
  }
}

/** Builds the layout data of a page: user, balance, notice and site settings. */
@Injectable()
export class PageLayouts {
  constructor(
    private readonly settings: Settings,
    private readonly parts: LayoutParts,
    private readonly address: BaseAddress,
    private readonly clock: Clock,
  ) {}

  async around({ visit, flash }: KnownVisit): Promise<PageLayout> {
    const { visitor } = visit;
    const { balance, budget, notices = [] } = visitor?.verified ? await this.parts.of(visitor) : {};
    const { site, signUp } = this.settings.current();
    return {
      visit,
      flash,
      balance,
      budget,
      notice: notices[0],
      site,
      signUp: signUp.mode,
      baseUrl: this.address.current(),
      now: this.clock.date(),
    };
  }
}
