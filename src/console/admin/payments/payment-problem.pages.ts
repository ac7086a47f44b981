import { Injectable } from '@nestjs/common';
import { AppError } from '../../../platform/shared/index.js';
import { Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { PaymentProblems } from '../../../wallet/index.js';
import { problemView, TITLE } from './payment-labels.js';
import { ResolveForm } from './resolve.form.js';

const LIST = '/admin/payments';

/** `/admin/payments/:id`: one payment problem, and its resolution. */
@Injectable()
export class PaymentProblemPages {
  constructor(private readonly problems: PaymentProblems) {}

  /** @throws AppError if there is no such unresolved problem */
  async ask(id: string, form: Form<ResolveForm> = Form.empty()): Promise<Page> {
    const problem = await this.problems.find(id);
    if (problem === undefined) throw new AppError('not_found', 'There is no unresolved payment problem with this ID.');
    const crumbs = [{ href: LIST, label: TITLE }, { label: problem.reference }];
    const data = { form, problem: problemView(problem), crumbs };
    return new Page('admin/payments-problem', { title: `Resolve ${problem.reference}`, width: 'narrow', data });
  }

  /** Moves no money, so no password is required; the audit log records who resolved it. */
  async resolve(id: string, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(ResolveForm, body);
    const { value } = form;
    if (value === undefined) return this.ask(id, form);
    return new Redirect(LIST, (await this.problems.resolve(id, value.reason)) ? RESOLVED : RESOLVED_BEFORE);
  }
}

const RESOLVED = {
  tone: 'ok',
  title: 'Payment problem resolved',
  text: 'Your resolution was recorded in the audit log.',
} as const;

const RESOLVED_BEFORE = {
  tone: 'warn',
  title: 'Nothing was resolved',
  text: 'The problem was already resolved (see the audit log) or does not exist.',
} as const;
