import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentVisitor, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { BaseAddress } from '../../../platform/config/index.js';
import {
  OwnSecondFactor,
  recoveryCodeHash,
  SecondFactorIsOff,
  SecondFactors,
  type Visitor,
} from '../../../auth/index.js';
import { SecondFactorSetUp, SignedIn } from '../../access/index.js';
import { BothFactorsForm } from './both-factors.form.js';
import { bothFactorsPage, OFF_ALREADY, recoveryCodesPage, toAccount } from './second-factor.view.js';

/** Other recovery codes, and their file. */
@Controller('account/second-factor/recovery-codes')
@SignedIn()
export class RecoveryCodesController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly own: OwnSecondFactor,
    private readonly address: BaseAddress,
  ) {}

  @Get()
  async ask(@CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    if ((await this.factors.of(visitor.accountId)) === undefined) return toAccount();
    return this.page(visitor, Form.empty());
  }

  @Post()
  async renew(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(BothFactorsForm, body);
    try {
      const codes = await form.attempt((given) => this.own.renewCodes(visitor, given));
      return codes ? recoveryCodesPage(visitor, codes, 'New recovery codes') : this.page(visitor, form);
    } catch (error) {
      if (error instanceof SecondFactorIsOff) return toAccount(OFF_ALREADY);
      throw error;
    }
  }

  /** They are stored as hashes alone: the page that shows them sends them back. */
  @Post('file')
  @SecondFactorSetUp()
  file(@Body() { codes }: FormBody, @CurrentVisitor() { email }: Visitor, @Res() reply: FastifyReply): void {
    const lines = String(codes)
      .split(/\r?\n/)
      .filter((line) => recoveryCodeHash(line) !== undefined);
    const head = [`Recovery codes of ${email} at ${this.address.current()}`, 'Each works once.', ''];
    void reply
      .headers({ 'cache-control': 'no-store', 'content-disposition': 'attachment; filename="recovery-codes.txt"' })
      .type('text/plain; charset=utf-8')
      .send([...head, ...lines, ''].join('\n'));
  }

  private page(visitor: Visitor, form: Form<BothFactorsForm>): Page {
    return bothFactorsPage('recovery-codes-new', 'New recovery codes', visitor, form);
  }
}
