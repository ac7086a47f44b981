import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { type Observable, of } from 'rxjs';
import { Form, type FormBody, localPath, Page, visitIn } from '../web/index.js';
import { ConfirmedForm, RecentSignIn } from '../../auth/index.js';

/** Where a handler states that it requires a recent sign-in. */
export const RECENT_SIGN_IN = 'recent-sign-in';

/** Whether a submitted form changes nothing, such as one that adds a row or asks for a preview. */
type IsDraft = (body: FormBody) => boolean;

/** The page's own field for the page that the form was on. */
const BACK = '_back';

/**
 * Asks for the password on a page of its own before a form takes effect, if the sign-in is not recent. The page carries
 * the submitted fields, so that nothing is typed twice: not for forms with secrets.
 */
@Injectable()
class RecentSignInInterceptor implements NestInterceptor {
  constructor(
    private readonly recent: RecentSignIn,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { visitor } = visitIn(request);
    if (visitor === undefined) throw new Error('A recent sign-in can only be required of signed-in users.');
    const isDraft = this.reflector.get<IsDraft>(RECENT_SIGN_IN, context.getHandler());
    const { password, ...fields } = (request.body ?? {}) as FormBody;
    if (isDraft(fields)) return next.handle();
    if (this.recent.needed(visitor)) {
      const form = await this.confirmed(() => this.recent.confirm(visitor, textIn(password)), password);
      if (form !== undefined) return of(confirmPage(request, fields, form));
    }
    request.body = fields;
    return next.handle();
  }

  /** Undefined when the password is right; otherwise the form to ask with. */
  private async confirmed(
    confirm: () => Promise<void>,
    password: FormBody[string] | undefined,
  ): Promise<Form<ConfirmedForm> | undefined> {
    if (password === undefined) return Form.empty();
    const form = Form.read(ConfirmedForm, { password });
    const isConfirmed = await form.attempt(async () => {
      await confirm();
      return true;
    });
    return isConfirmed === true ? undefined : form;
  }
}

/** For handlers of forms that may only take effect after a recent sign-in. */
export const RequiresRecentSignIn = (isDraft: IsDraft = () => false): MethodDecorator =>
  applyDecorators(SetMetadata(RECENT_SIGN_IN, isDraft), UseInterceptors(RecentSignInInterceptor));

function confirmPage({ url, headers }: FastifyRequest, fields: FormBody, form: Form<ConfirmedForm>): Page {
  const { _csrf, [BACK]: back = pathIn(headers.referer), ...typed } = fields;
  const hidden = Object.entries({ ...typed, [BACK]: localPath(textIn(back), '/') });
  return new Page('auth/confirm-password', {
    title: 'Confirm your password',
    width: 'narrow',
    data: {
      form,
      action: url,
      back: localPath(textIn(back), '/'),
      fields: hidden.flatMap(([name, values]) => [values].flat().map((value) => ({ name, value }))),
    },
  });
}

const textIn = (value: FormBody[string] = ''): string => (typeof value === 'string' ? value : (value[0] ?? ''));

/** The path of an address, without its host. */
function pathIn(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) return '/';
  const { pathname, search } = new URL(address);
  return `${pathname}${search}`;
}
