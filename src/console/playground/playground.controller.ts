import { Body, Controller, Get, Module, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Owner, ownIn, type Visitor } from '../../auth/index.js';
import { KeysModule, type OwnKey, OwnKeys } from '../../keys/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import { AppError, Clock } from '../../platform/shared/index.js';
import { RelayModule, type SessionCall, SessionCalls, type SessionEstimate } from '../../relay/index.js';
import { CallDetailsReader, CallNotFound } from '../../usage/index.js';
import { AccessModule, Allows, SignedIn } from '../access/index.js';
import { callPage, UsagePagesModule } from '../usage/index.js';
import { CurrentVisitor, Form, type FormBody, Page, type PageOptions, protocolNames } from '../web/index.js';
import { requestCode } from './playground-code.js';
import {
  addressOf,
  DEFAULTS,
  PLAYGROUND_PROTOCOLS,
  PlaygroundForm,
  sentBody,
  textOf,
  turnsIn,
} from './playground-form.js';

const LOG = '/usage-logs/common';
const PROTOCOLS = PLAYGROUND_PROTOCOLS.map((id) => ({
  value: id,
  label: protocolNames(id).fullName,
}));

type Request = FastifyRequest;

/** Result of a call; all undefined before one. */
interface Outcome {
  readonly output?: string;
  /** The response as it came. */
  readonly raw?: string;
  readonly problem?: string;
  readonly call?: ReturnType<typeof callPage> | undefined;
}

/** `/playground`, with the user's own keys, in organizations too. The script streams; without it, the form shows the complete response. */
@SignedIn()
@Allows('use keys')
@Controller('playground')
class PlaygroundController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly calls: SessionCalls,
    private readonly details: CallDetailsReader,
    private readonly address: BaseAddress,
    private readonly clock: Clock,
  ) {}

  /** Links from other pages choose a key or a model. */
  @Get()
  show(
    @CurrentVisitor() visitor: Visitor,
    @Req() request: Request,
    @Query() { key, model }: Readonly<Record<string, unknown>>,
  ): Promise<Page> {
    const chosen = { ...(isText(key) && { key }), ...(isText(model) && { model }) };
    return this.page(visitor, request, Form.empty({ ...DEFAULTS, ...chosen }));
  }

  /** The page with the price and the code of the request. */
  @Post('preview')
  preview(@CurrentVisitor() visitor: Visitor, @Req() request: Request, @Body() body: FormBody): Promise<Page> {
    return this.page(visitor, request, Form.read(PlaygroundForm, body));
  }

  @Post()
  async send(
    @CurrentVisitor() visitor: Visitor,
    @Req() request: Request,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: FormBody,
  ): Promise<Page> {
    const form = sendable(body);
    if (form.value === undefined) return this.page(visitor, request, form);
    const outcome = await this.outcome(visitor, request, reply, form.value);
    return this.page(visitor, request, continued(form, outcome), outcome);
  }

  /** @throws AppError when the form is invalid, or the call failed before its first byte */
  @Post('stream')
  stream(
    @CurrentVisitor() visitor: Visitor,
    @Req() request: Request,
    @Res() reply: FastifyReply,
    @Body() body: FormBody,
  ): Promise<void> {
    const { value, errors } = sendable(body);
    if (value === undefined) throw new AppError('invalid_request', Object.values(errors)[0] ?? 'Check the form.');
    return this.calls.stream(sessionCall(ownIn(visitor), value, true), request, reply);
  }

  /** The charge of a call. */
  @Get('calls/:id')
  async charge(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    const call = await this.callOf(visitor, id);
    return new Page('playground/call', { title: 'Playground call', width: 'narrow', data: { call } });
  }

  private async outcome(
    visitor: Visitor,
    request: Request,
    reply: FastifyReply,
    form: PlaygroundForm,
  ): Promise<Outcome> {
    const call = sessionCall(ownIn(visitor), form, false);
    const outcome = await this.calls.collect(call, request, reply).then(shownResponse, shownError);
    return { ...outcome, call: await this.callOf(visitor, request.id).catch(unlessMissing) };
  }

  private async callOf(visitor: Visitor, id: string) {
    const details = await this.details.find(ownIn(visitor), id);
    return callPage(details, this.clock.date(), { timeZone: visitor.timeZone, isAdmin: false, path: LOG });
  }

  private async page(
    visitor: Visitor,
    request: Request,
    form: Form<PlaygroundForm>,
    outcome: Outcome = {},
  ): Promise<Page> {
    const owner = ownIn(visitor);
    const usable = (await this.keys.page(owner, {})).keys.filter(isUsable);
    // The first one is selected at first.
    const keys = usable.toSorted((a, b) => Number(isLow(a)) - Number(isLow(b)));
    const chosen = keys.find(({ id }) => id === form.values['key']) ?? keys[0];
    if (chosen === undefined) return playgroundPage({ noKey: true, createKey: CREATE_KEY });
    const models = await this.calls.modelsOf({ ...owner, id: chosen.id }, request).catch(refusalOnly);
    return playgroundPage({
      form,
      keys: keys.map(({ id, name, hint }) => ({ value: id, label: `${name}, ${hint}` })),
      models: isRefusal(models) ? [] : models.map((name) => ({ value: name, label: name })),
      turns: turnsIn(form.values['turns']).map((turn) => ({ ...turn, isUser: turn.role === 'user' })),
      noModel: !isRefusal(models) && models.length === 0,
      protocols: PROTOCOLS,
      ...(isRefusal(models)
        ? { estimate: { refusal: models.message } }
        : await this.preparation(owner, request, withDefaults(form, chosen, models))),
      ...outcome,
    });
  }

  /** Price and code of a form, as far as it is filled in. */
  private async preparation(owner: Owner, request: Request, form: PlaygroundForm | undefined) {
    if (form === undefined || form.model === '') return {};
    const code = requestCode(form, this.address.current());
    const call = sessionCall(owner, form, true);
    const estimate = await this.calls.estimate(call, request).catch(refusalOnly);
    return { code, estimate: isRefusal(estimate) ? { refusal: estimate.message } : shownEstimate(estimate) };
  }
}

const CREATE_KEY = { href: '/keys/new', label: 'Create key', icon: 'plus' };

const playgroundPage = (data: NonNullable<PageOptions['data']>): Page =>
  new Page('playground/playground', { title: 'Playground', data });

const isText = (value: unknown): value is string => typeof value === 'string';

const isLow = ({ conditions }: OwnKey): boolean =>
  conditions.some((condition) => condition === 'used-up' || condition === 'near-quota');

const isUsable = ({ conditions }: OwnKey): boolean =>
  !conditions.some((condition) => condition === 'deleted' || condition === 'disabled' || condition === 'expired');

function sendable(body: FormBody): Form<PlaygroundForm> {
  const form = Form.read(PlaygroundForm, body);
  const { message } = form.values;
  if (!isText(message) || message.trim() === '') form.refuse('message', 'Enter a message.');
  return form;
}

/** The form for the next message, once this one has a response. */
function continued(form: Form<PlaygroundForm>, { output = '' }: Outcome): Form<PlaygroundForm> {
  if (output === '') return form;
  const { turns, message } = form.values;
  const content = isText(message) ? message : '';
  const all = [...turnsIn(turns), { role: 'user', content }, { role: 'assistant', content: output }];
  return Form.empty({ ...form.values, turns: JSON.stringify(all), message: '' });
}

/** The values that the page shows; undefined if some are invalid. */
function withDefaults(
  form: Form<PlaygroundForm>,
  { id }: OwnKey,
  models: readonly string[],
): PlaygroundForm | undefined {
  const { model, key: _key, ...values } = form.values;
  const shown = isText(model) && models.includes(model) ? model : (models[0] ?? '');
  const { errors, value } = Form.read(PlaygroundForm, { ...values, key: id, model: shown });
  return Object.keys(errors).length > 0 ? undefined : value;
}

const sessionCall = (owner: Owner, form: PlaygroundForm, isStream: boolean): SessionCall => ({
  key: { ...owner, id: form.key },
  protocol: form.protocol,
  ...addressOf(form, isStream),
  body: sentBody(form, isStream),
});

function shownResponse(bytes: Buffer): Outcome {
  const raw = bytes.toString('utf8');
  try {
    const response: unknown = JSON.parse(raw);
    return { output: textOf(response), raw: JSON.stringify(response, null, 2) };
  } catch {
    return { output: '', raw };
  }
}

const shownError = (error: unknown): Outcome => ({ problem: refusalOnly(error).message });

const shownEstimate = ({ hold, refusal }: SessionEstimate) => ({ hold, refusal: refusal?.message });

/** @throws what is no AppError */
function refusalOnly(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}

const isRefusal = (value: unknown): value is AppError => value instanceof AppError;

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof CallNotFound)) throw error;
}

@Module({
  imports: [AccessModule, KeysModule, RelayModule, UsagePagesModule],
  controllers: [PlaygroundController],
})
export class PlaygroundModule {}
