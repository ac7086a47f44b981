import { Controller, Get } from '@nestjs/common';
import { Public } from '../../access/index.js';
import { CurrentVisit, type Page } from '../../web/index.js';
import { type Visit } from '../../../auth/index.js';
import { StatusPages } from './status.pages.js';

/** For everybody where the operator says so, else for whoever is signed in. */
@Controller('status')
@Public()
export class StatusController {
  constructor(private readonly pages: StatusPages) {}

  @Get()
  show(@CurrentVisit() { visitor }: Visit): Promise<Page> {
    return this.pages.show(visitor);
  }
}
