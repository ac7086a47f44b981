import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/index.js';
import { Clock } from '../../platform/shared/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import type { KnownVisit } from './current-visit.js';
import type { Chrome } from './rendering/chrome.js';
import { ShellContent } from './shell-content.js';

/** What the frame around a page shows: who is signed in, what they have, what they must be told. */
@Injectable()
export class Frames {
  constructor(
    private readonly settings: Settings,
    private readonly shell: ShellContent,
    private readonly address: BaseAddress,
    private readonly clock: Clock,
  ) {}

  async around({ visit, flash }: KnownVisit): Promise<Chrome> {
    const { visitor } = visit;
    const { balance, notices = [] } = visitor?.verified ? await this.shell.of(visitor) : {};
    const { site, signUp } = this.settings.current();
    return {
      visit,
      flash,
      balance,
      notice: notices[0],
      product: site.name,
      supportContact: site.supportContact,
      hasTerms: site.terms !== undefined,
      statusIsPublic: site.statusIsPublic,
      signUp: signUp.mode,
      baseUrl: this.address.current(),
      now: this.clock.date(),
    };
  }
}
