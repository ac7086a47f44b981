import { Body, Controller, Get, Post } from '@nestjs/common';
import { CurrentVisitor, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { OwnSecondFactor, SecondFactorIsOff, SecondFactors, type Visitor } from '../../../auth/index.js';
import { SignedIn } from '../../access/index.js';
import { BothFactorsForm } from './both-factors.form.js';
import { bothFactorsPage, OFF_ALREADY, toAccount } from './second-factor.view.js';

const OFF = {
  tone: 'ok',
  title: 'Two-factor authentication turned off',
  text: 'All other sessions are signed out.',
} as const;

/** Back to the password alone. */
@Controller('account/second-factor/off')
@SignedIn()
export class TurnOffController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly own: OwnSecondFactor,
  ) {}

  @Get()
  async ask(@CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    if ((await this.factors.of(visitor.accountId)) === undefined) return toAccount();
    return this.page(visitor, Form.empty());
  }

  @Post()
  async turnOff(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(BothFactorsForm, body);
    try {
      const done = await form.attempt(async (given) => {
        await this.own.turnOff(visitor, given);
        return true;
      });
      return done ? toAccount(OFF) : this.page(visitor, form);
    } catch (error) {
      if (error instanceof SecondFactorIsOff) return toAccount(OFF_ALREADY);
      throw error;
    }
  }

  private page(visitor: Visitor, form: Form<BothFactorsForm>): Page {
    return bothFactorsPage('second-factor-off', 'Turn off two-factor authentication', visitor, form);
  }
}
