import { Controller, Get, Header, Query } from '@nestjs/common';
import { Public } from '../access/index.js';
import { CurrentVisit, type Page, type Redirect } from '../web/index.js';
import { type Visit } from '../../auth/index.js';
import { HomePages } from './home.pages.js';

/** The address itself, for people: programs that ask there are answered as probes (relay). */
@Controller()
@Public()
export class HomeController {
  constructor(private readonly pages: HomePages) {}

  /** @param days how many days of spending whoever is signed in looks at */
  @Get()
  @Header('vary', 'accept')
  home(@CurrentVisit() { visitor }: Visit, @Query('days') days?: unknown): Promise<Page | Redirect> | Page {
    return visitor === undefined ? this.pages.landing() : this.pages.own(visitor, days);
  }
}
