import { Body, Controller, Get, Header, HttpCode, Param, Post, Res } from '@nestjs/common';
import { IsString, Length } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  AccountSuspended,
  browserName,
  ConfirmedForm,
  type CreationOptions,
  PasskeyRefused,
  Passkeys,
  PasskeySignIn,
  PasswordSignInIsOff,
  RecentSignIn,
  type RequestOptions,
  TooManyAttempts,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { AppError } from '../../platform/shared/index.js';
import { Public, RequiresRecentSignIn, SecondFactorSetUp, SignedIn } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, localPath, Page, Redirect, Trimmed } from '../web/index.js';
import { layoutOf, recoveryCodesPage } from './second-factor.controller.js';
import { PendingSignIns, SignInSteps, SIGN_IN_TIMED_OUT } from './sign-in-steps.js';

/** For the script: options of a ceremony, or why there are none. */
type OptionsReply<T> = T | { readonly message: string };

/** Sends errors on purpose as JSON. */
async function sendOptions<T>(reply: FastifyReply, work: () => Promise<T>): Promise<OptionsReply<T>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'internal') throw error;
    void reply.status(error instanceof TooManyAttempts ? 429 : 409);
    if (error instanceof TooManyAttempts) void reply.header('retry-after', error.retryAfterSeconds);
    return { message: error.message };
  }
}

/** For handlers whose options a script requests. */
const OPTIONS = 'options';

/** Sign-in with a passkey: alone at `/sign-in`, or as the second factor at `/sign-in/code`. */
@Controller('sign-in')
@Public()
export class PasskeySignInController {
  constructor(
    private readonly passkeys: PasskeySignIn,
    private readonly pending: PendingSignIns,
    private readonly steps: SignInSteps,
  ) {}

  @Post(`passkey/${OPTIONS}`)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  options(
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OptionsReply<RequestOptions>> {
    return sendOptions(reply, () => this.passkeys.options(visit));
  }

  /** The other fields of the form are those of the page: `next` and `remember` apply. */
  @Post('passkey')
  async signIn(
    @Body() { passkey, next, remember }: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Redirect> {
    const path = localPath(next);
    try {
      const { id } = await this.passkeys.check(String(passkey), visit);
      await this.steps.begin({ accountId: id, kept: remember !== undefined, next: path }, visit, reply);
      return new Redirect(path);
    } catch (error) {
      return refusal(error, `/sign-in?next=${encodeURIComponent(path)}`);
    }
  }

  @Post(`code/passkey/${OPTIONS}`)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  secondFactorOptions(
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OptionsReply<RequestOptions>> {
    return sendOptions(reply, async () => {
      const pending = await this.pending.of(visit);
      if (pending === undefined) throw new AppError('permission_denied', 'Your sign-in timed out. Sign in again.');
      return this.passkeys.options(visit, pending.accountId);
    });
  }

  @Post('code/passkey')
  async secondFactor(
    @Body() { passkey }: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Redirect> {
    const pending = await this.pending.of(visit);
    if (pending === undefined) return new Redirect('/sign-in', SIGN_IN_TIMED_OUT);
    try {
      await this.passkeys.check(String(passkey), visit, pending.accountId);
    } catch (error) {
      return refusal(error, '/sign-in/code');
    }
    const isDone = await this.steps.complete(pending, visit, reply);
    return isDone ? new Redirect(pending.next) : new Redirect('/sign-in', SIGN_IN_TIMED_OUT);
  }
}

/** Shown where the passkey was asked for: a response cannot be sent again. */
function refusal(error: unknown, to: string): Redirect {
  const isShown = [PasskeyRefused, AccountSuspended, PasswordSignInIsOff].some((type) => error instanceof type);
  if (!(error instanceof AppError) || !isShown) throw error;
  return new Redirect(to, { tone: 'bad', title: 'Not signed in', text: error.message });
}

const MAX_NAME = 60;

class PasskeyForm {
  @Trimmed()
  @Length(1, MAX_NAME, { message: `Enter a name of 1 to ${MAX_NAME} characters, such as Laptop.` })
  readonly name: string = '';
}

const INCOMPLETE = 'This form is incomplete. Reload the page and try again.';

/** Any name is accepted: a refusal would leave a passkey behind that opens nothing. */
class NewPasskeyForm {
  @Trimmed()
  @IsString({ message: INCOMPLETE })
  readonly name: string = '';

  @IsString({ message: INCOMPLETE })
  readonly passkey: string = '';
}

const CARD = '/account#passkeys';
const NEW_PAGE = '/account/passkeys/new';
const crumbsTo = (label: string) => [{ href: '/account', label: 'Account' }, { label }];

/** `/account/passkeys`: adds, renames and removes passkeys. */
@Controller('account/passkeys')
@SignedIn()
export class PasskeysController {
  constructor(
    private readonly passkeys: Passkeys,
    private readonly recent: RecentSignIn,
  ) {}

  @Get('new')
  @SecondFactorSetUp()
  showNew(@CurrentVisit() visit: Visit, @CurrentVisitor() visitor: Visitor): Page {
    return this.recent.needed(visitor) ? confirmPage(visitor, Form.empty()) : newPage(visit, visitor);
  }

  /** Before the passkey is created: afterwards, a refusal would leave one behind that opens nothing. */
  @Post('new')
  @SecondFactorSetUp()
  async confirm(@Body() body: FormBody, @CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    const form = Form.read(ConfirmedForm, body);
    const isConfirmed = await form.succeeds(({ password }) => this.recent.confirm(visitor, password));
    return isConfirmed ? new Redirect(NEW_PAGE) : confirmPage(visitor, form);
  }

  @Post(OPTIONS)
  @SecondFactorSetUp()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  options(
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() visitor: Visitor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OptionsReply<CreationOptions>> {
    return sendOptions(reply, () => {
      if (this.recent.needed(visitor))
        throw new AppError('permission_denied', 'Your sign-in is no longer recent. Reload this page.');
      return this.passkeys.creationOptions(visitor, visit);
    });
  }

  @Post()
  @SecondFactorSetUp()
  @RequiresRecentSignIn()
  async add(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<Page | Redirect> {
    const form = Form.read(NewPasskeyForm, body);
    const added = await form.attempt(async ({ name, passkey }) => {
      const shortened = name.slice(0, MAX_NAME).trimEnd() || browserName(visit.userAgent);
      return { codes: await this.passkeys.add(visitor, shortened, passkey, visit) };
    });
    if (added === undefined) return newPage(visit, visitor, form);
    if (added.codes !== undefined) return recoveryCodesPage(visitor, added.codes, 'Passkey added');
    return new Redirect(CARD, { tone: 'ok', title: 'Passkey added' });
  }

  @Get(':id')
  async show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    const passkey = await this.passkeys.get(visitor.accountId, id);
    return passkeyPage(passkey, Form.empty({ name: passkey.name }));
  }

  @Post(':id')
  async rename(
    @CurrentVisitor() { accountId }: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const form = Form.read(PasskeyForm, body);
    const isSaved = await form.succeeds(({ name }) => this.passkeys.rename(accountId, id, name));
    if (!isSaved) return passkeyPage(await this.passkeys.get(accountId, id), form);
    return new Redirect(CARD, { tone: 'ok', title: 'Passkey renamed' });
  }

  @Post(':id/delete')
  @RequiresRecentSignIn()
  async remove(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    const name = await this.passkeys.remove(visitor, id);
    const text = `${name} no longer signs you in. Delete it in your browser or password manager as well.`;
    return new Redirect(CARD, { tone: 'ok', title: 'Passkey removed', text });
  }
}

const TITLE = 'Add a passkey';

const confirmPage = (visitor: Visitor, form: Form<object>): Page =>
  new Page('account/passkey-confirm', {
    title: TITLE,
    ...layoutOf(visitor),
    data: { form, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

const newPage = (
  { userAgent }: Visit,
  visitor: Visitor,
  form: Form<object> = Form.empty({ name: browserName(userAgent) }),
): Page =>
  new Page('account/passkey-new', {
    title: TITLE,
    ...layoutOf(visitor),
    data: { form, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

const passkeyPage = (passkey: { readonly id: string; readonly name: string }, form: Form<object>): Page =>
  new Page('account/passkey', {
    title: passkey.name,
    width: 'narrow',
    data: { form, passkey, crumbs: crumbsTo(passkey.name) },
  });
