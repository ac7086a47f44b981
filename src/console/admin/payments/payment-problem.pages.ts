import { Injectable } from '@nestjs/common';
import { AppError } from '../../../platform/shared/index.js';
import { Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { PaymentProblems } from '../../../wallet/index.js';
import { problemView, TITLE } from './payment-words.js';
import { ResolveForm } from './resolve.form.js';

const LIST = '/admin/payments';

/** `/admin/payments/:id`: one payment that could not be entered, and what was done about it. */
@Injectable()
export class PaymentProblemPages {
  constructor(private readonly problems: PaymentProblems) {}

  /** @throws AppError when there is no such problem, or none any more */
  async ask(id: string, form: Form<ResolveForm> = Form.empty()): Promise<Page> {
    const problem = await this.problems.find(id);
    if (problem === undefined) throw new AppError('not_found', 'No payment problem at this address waits for anybody.');
    const crumbs = [{ href: LIST, label: TITLE }, { label: problem.reference }];
    const data = { form, problem: problemView(problem), crumbs };
    return new Page('admin/payments-problem', { title: `Resolve ${problem.reference}`, width: 'narrow', data });
  }

  /** Moves no money, so that no password is asked for: it stands on record who has said so. */
  async resolve(id: string, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(ResolveForm, body);
    const { value } = form;
    if (value === undefined) return this.ask(id, form);
    return new Redirect(LIST, (await this.problems.resolve(id, value.reason)) ? RESOLVED : RESOLVED_BEFORE);
  }
}

const RESOLVED = {
  tone: 'ok',
  title: 'The problem is resolved',
  text: 'What you wrote stands in the audit log.',
} as const;

const RESOLVED_BEFORE = {
  tone: 'warn',
  title: 'Nothing was resolved',
  text: 'Somebody has seen to it before, as the audit log says, or there never was such a problem.',
} as const;
