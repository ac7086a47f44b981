import { Body, Controller, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type FormBody, localPath, Redirect, VisitCookies } from '../web/index.js';
import { Public } from '../access/index.js';

/** What a browser itself keeps: whether its pages are light or dark, and that a message was read. */
@Controller()
@Public()
export class PreferencesController {
  constructor(private readonly cookies: VisitCookies) {}

  /** `theme`: light, dark, or anything else to follow the system. `back`: the page that it was chosen on. */
  @Post('theme')
  theme(@Body() { theme, back }: FormBody, @Res({ passthrough: true }) reply: FastifyReply): Redirect {
    this.cookies.setTheme(reply, theme === 'light' || theme === 'dark' ? theme : undefined);
    return new Redirect(localPath(String(back)));
  }

  /** A message stands on one page alone, so that to see that page again is to be rid of it. */
  @Post('flash/dismiss')
  dismiss(@Body() { back }: FormBody): Redirect {
    return new Redirect(localPath(String(back)));
  }
}
