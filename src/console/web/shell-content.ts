import { Injectable } from '@nestjs/common';
import type { Nanos } from '../../platform/shared/index.js';
import type { Notice } from './rendering/chrome.js';
import type { Visitor } from '../../auth/index.js';

/** Content that modules add to the frame of signed-in pages. */
export interface Shell {
  readonly balance?: Nanos;
  readonly notices?: readonly Notice[];
}

type Contribution = (visitor: Visitor) => Promise<Shell>;

/** Where modules say what they have to put into that frame. */
@Injectable()
export class ShellContent {
  private readonly contributions: Contribution[] = [];

  /** Called when the module starts; the function is asked for every page. */
  add(contribution: Contribution): void {
    this.contributions.push(contribution);
  }

  /** Everything that there is to say, the most severe first. */
  async of(visitor: Visitor): Promise<Shell> {
    const parts = await Promise.all(this.contributions.map((contribution) => contribution(visitor)));
    const notices = parts.flatMap((part) => part.notices ?? []);
    return {
      ...Object.assign({}, ...parts),
      notices: [...notices.filter(({ tone }) => tone === 'bad'), ...notices.filter(({ tone }) => tone !== 'bad')],
    };
  }
}
