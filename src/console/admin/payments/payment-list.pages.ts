import { Injectable } from '@nestjs/common';
import { Cursors, Page } from '../../web/index.js';
import { type PaymentProblem, PaymentProblems } from '../../../wallet/index.js';
import { listAddress, type ListQuery, pageOf } from '../list-address.js';
import { problemView, TITLE } from './payment-labels.js';

const LIST = 'payment-problems';
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
    const position = this.cursors.placeIn(LIST, query);
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
        settings: { href: '/admin/settings#payment', label: 'Payment settings' },
      },
    });
  }

  private address(side: 'before' | 'after', problem: PaymentProblem | undefined): string | undefined {
    return problem && listAddress(PATH, { [side]: this.cursors.seal(LIST, { id: problem.id }) });
  }
}
