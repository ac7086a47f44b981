import { Body, Controller, Get, Post } from '@nestjs/common';
import { SignedIn } from '../access/index.js';
import { CurrentVisitor, Form, type FormBody, type Page, Redirect } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { AlertPreferences } from '../../keys/alerts/index.js';
import { AlertPages } from './alert.pages.js';
import { AlertsForm, settingsOf } from './alerts-form.js';

const SAVED = {
  tone: 'ok',
  title: 'Alerts saved',
  text: 'Thresholds that are already crossed are reported immediately.',
} as const;

/** What one is warned of by mail. */
@Controller('account/alerts')
@SignedIn()
export class AlertsController {
  constructor(
    private readonly alerts: AlertPreferences,
    private readonly pages: AlertPages,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.pages.show(visitor);
  }

  @Post()
  async save(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(AlertsForm, body);
    const { value } = form;
    if (value === undefined) return this.pages.show(visitor, form);
    await this.alerts.save(visitor.accountId, settingsOf(value));
    return new Redirect('/account/alerts', SAVED);
  }
}
