import { Controller, Get } from '@nestjs/common';
import { Public } from '../../access/index.js';
import { Settings } from '../../../platform/settings/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { Page } from '../../web/index.js';
import { paragraphsOf } from './paragraphs.js';

/** What people agree to who use this service, in the operator's words. */
@Controller('terms')
@Public()
export class TermsController {
  constructor(private readonly settings: Settings) {}

  /** @throws AppError where the operator has written none */
  @Get()
  show(): Page {
    const { terms } = this.settings.current().site;
    if (terms === undefined) throw new AppError('not_found', 'This service has no terms of use.');
    return new Page('home/terms', { title: 'Terms', width: 'narrow', data: { paragraphs: paragraphsOf(terms) } });
  }
}
