import { Injectable, Module } from '@nestjs/common';
import type { AppError, Nanos } from '../../shared/index.js';
import type { Flash, Page } from '../page.js';
import type { Notice } from '../shell-content.js';
import type { Visit } from '../visit.js';
export interface Chrome {
  visit: Visit | undefined;
  flash: Flash | undefined;
  balance: Nanos | undefined;
  notice: Notice | undefined;
  supportContact: string | undefined;
  signUp: string;
  baseUrl: string;
  now: Date;
}
@Injectable()
export class ViewEngine {
  render(page: Page, chrome: Chrome): { status: number; html: string } {
    return { status: page.options.status ?? 200, html: `${page.view} ${chrome.baseUrl}` };
  }
}
export const errorPage = (error: AppError, _status: number, id: string): Page => ({
  view: 'errors/error',
  options: { title: error.kind + id },
});
@Module({ providers: [ViewEngine], exports: [ViewEngine] })
export class RenderingModule {}
