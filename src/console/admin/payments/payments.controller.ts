import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import { Matches } from 'class-validator';
import { AppError } from '../../../platform/shared/index.js';
import { type PaymentProblem, PaymentProblems } from '../../../wallet/index.js';
import { Administrator } from '../../access/index.js';
import { Cursors, Form, type FormBody, Page, Redirect, Trimmed } from '../../web/index.js';
import { listAddress, type ListQuery, pageOf } from '../list-address.js';

const CURSOR = 'payment-problems';
const PATH = '/admin/payments';
const PAGE_PROBLEMS = 50;

/** `/admin/payments`: unresolved payment problems, newest first. */
@Injectable()
export class PaymentListPages {
  constructor(
    private readonly problems: PaymentProblems,
    private readonly cursors: Cursors,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const position = this.cursors.placeIn(CURSOR, query);
    const found = await this.problems.page(position ?? {}, PAGE_PROBLEMS + 1);
    const { shown, newer, older } = pageOf(found, PAGE_PROBLEMS, position ?? {});
    return new Page('admin/payments', {
      title: TITLE,
      data: {
        title: TITLE,
        rows: shown.map((problem) => ({ ...problemView(problem), href: `${PATH}/${problem.id}` })),
        stale: position === undefined,
        newer: newer ? this.address('after', shown[0]) : undefined,
        older: older ? this.address('before', shown.at(-1)) : undefined,
        perPage: PAGE_PROBLEMS,
        settings: { href: '/admin/settings/payment', label: 'Payment settings' },
      },
    });
  }

  private address(side: 'before' | 'after', problem: PaymentProblem | undefined): string | undefined {
    return problem && listAddress(PATH, { [side]: this.cursors.seal(CURSOR, { id: problem.id }) });
  }
}

/** `/admin/payments/:id`: one payment problem, and its resolution. */
@Injectable()
export class PaymentProblemPages {
  constructor(private readonly problems: PaymentProblems) {}

  /** @throws AppError if there is no such unresolved problem */
  async showForm(id: string, form: Form<ResolveForm> = Form.empty()): Promise<Page> {
    const problem = await this.problems.find(id);
    if (problem === undefined) throw new AppError('not_found', 'There is no unresolved payment problem with this ID.');
    const crumbs = [{ href: PATH, label: TITLE }, { label: problem.reference }];
    const data = { form, problem: problemView(problem), crumbs };
    return new Page('admin/payments-problem', { title: `Resolve ${problem.reference}`, width: 'narrow', data });
  }

  /** Moves no money, so no password is required; the audit log records who resolved it. */
  async resolve(id: string, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(ResolveForm, body);
    const { value } = form;
    if (value === undefined) return this.showForm(id, form);
    return new Redirect(PATH, (await this.problems.resolve(id, value.reason)) ? RESOLVED : RESOLVED_BEFORE);
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

/** Payment provider events that could not be applied: list and resolution. */
@Controller('admin/payments')
@Administrator()
export class PaymentProblemsController {
  constructor(
    private readonly lists: PaymentListPages,
    private readonly problems: PaymentProblemPages,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get(':id')
  show(@Param('id') id: string): Promise<Page> {
    return this.problems.showForm(id);
  }

  @Post(':id')
  resolve(@Param('id') id: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.problems.resolve(id, body);
  }
}

class ResolveForm {
  @Trimmed()
  @Matches(/^[^\p{Cc}]{1,200}$/u, { message: 'Enter the resolution (1 to 200 characters).' })
  readonly reason: string = '';
}

const TITLE = 'Payment problems';

/** `what`: the problem, capitalized, without a period. */
const problemView = ({ problem, ...rest }: PaymentProblem) => ({
  ...rest,
  what: problem.charAt(0).toUpperCase() + problem.slice(1),
});
