import { Injectable } from '@nestjs/common';
import { Matches, ValidateBy } from 'class-validator';
import { ConfirmedForm, RecentSignIn, type Visitor } from '../../../auth/index.js';
import { price } from '../../../platform/format/index.js';
import { addDays, isDay, nanos, startOfDay } from '../../../platform/shared/index.js';
import { RedemptionService } from '../../../wallet/index.js';
import {
  amountOf,
  countOf,
  Form,
  type FormBody,
  IsAmount,
  IsCount,
  IdempotentForms,
  Page,
  Redirect,
  Trimmed,
} from '../../web/index.js';
import { listAddress } from '../list-address.js';

const CRUMBS = [{ href: '/admin/codes', label: 'Redemption codes' }, { label: 'Create codes' }];

interface MadeBatch {
  readonly batchId: string;
  readonly codes: readonly string[];
  readonly form: NewCodesForm;
}

/** `/admin/codes/new`: creates and voids codes. */
@Injectable()
export class CodeBatchPages {
  constructor(
    private readonly codes: RedemptionService,
    private readonly recent: RecentSignIn,
    private readonly once: IdempotentForms,
  ) {}

  showForm(visitor: Visitor, form: Form<NewCodesForm> = Form.empty({ count: '1' })): Page {
    const data = { form, crumbs: CRUMBS, passwordNeeded: this.recent.needed(visitor) };
    return new Page('admin/codes-new', { title: 'Create codes', width: 'narrow', data });
  }

  /** Renders the codes in the response, so that no URL leads to them. A repeated submission redirects to the batch. */
  async create(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(NewCodesForm, body);
    const create = () => form.attempt((value) => this.created(visitor, value));
    const there = ({ batchId }: MadeBatch) => listAddress('/admin/codes', { batch: batchId });
    const result = await this.once.run(visitor.accountId, body, create, there);
    if (result === undefined) return this.showForm(visitor, form);
    const { made, location } = result;
    return made === undefined ? new Redirect(location, SHOWN_BEFORE) : createdPage(made, location);
  }

  /** @param id of a code or of a batch */
  async void(id: string): Promise<Redirect> {
    const voided = await this.codes.void(id);
    const there = id.startsWith('bat_') ? listAddress('/admin/codes', { batch: id }) : '/admin/codes';
    if (voided === 0)
      return new Redirect(there, {
        tone: 'warn',
        title: 'Nothing to void',
        text: 'These codes were already redeemed or voided, or they do not exist.',
      });
    const title = voided === 1 ? 'Code voided' : `${voided} codes voided`;
    return new Redirect(there, { tone: 'ok', title, text: 'Users who enter a voided code see that it was withdrawn.' });
  }

  private async created(visitor: Visitor, form: NewCodesForm): Promise<MadeBatch> {
    await this.recent.confirm(visitor, form.password);
    const expiresAt = form.expires === '' ? undefined : startOfDay(addDays(form.expires, 1), visitor.timeZone);
    const amount = amountOf(form.amount) ?? nanos(0n);
    const made = await this.codes.create({ amount, count: countOf(form.count) ?? 0, expiresAt, note: form.note });
    return { ...made, form };
  }
}

const SHOWN_BEFORE = {
  tone: 'warn',
  title: 'These codes were already created',
  text: 'Codes are shown only once. If you did not store them, void them and create new ones.',
} as const;

const createdPage = ({ codes, form }: MadeBatch, location: string): Page =>
  new Page('admin/codes-created', {
    title: codes.length === 1 ? 'Code created' : `${codes.length} codes created`,
    width: 'narrow',
    hasSecret: true,
    data: {
      text: codes.join('\n'),
      amount: price(amountOf(form.amount) ?? nanos(0n)),
      count: codes.length,
      expires: form.expires,
      note: form.note,
      there: location,
      crumbs: CRUMBS,
    },
  });

/** A batch of codes to create. */
class NewCodesForm extends ConfirmedForm {
  @IsAmount({ message: 'Enter an amount in dollars, such as 25.', min: nanos(1n) })
  readonly amount: string = '';

  @IsCount({ message: 'Enter a number of codes from 1 to 1,000.', min: 1, max: 1000 })
  @Matches(/\S/, { message: 'Enter a number of codes from 1 to 1,000.' })
  readonly count: string = '';

  /** The last day on which they can be redeemed. */
  @ValidateBy(
    {
      name: 'isDayOrNothing',
      validator: { validate: (value) => value === '' || (typeof value === 'string' && isDay(value)) },
    },
    { message: 'Enter a date, or leave empty for codes that never expire.' },
  )
  readonly expires: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{0,200}$/u, { message: 'Enter a note of up to 200 characters.' })
  readonly note: string = '';
}
